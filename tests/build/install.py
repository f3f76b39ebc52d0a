"""A foreign project against an installed ctilec: install.py cmake|make|tiles. `make install` with DESTDIR and PREFIX into an empty
folder, moved afterwards (nothing may depend on where it was), then a CMake project (Make and Ninja generators, multi-config
where there is one) or a plain Makefile with pkg-config. tiles: with tile kernels, by an nvcc that has them and by one that has none."""
import os
import shutil
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "run"))
from common import *

SHARED = """/// Part of two kernels.
fn scaled(v: tile<T, [N]>) -> tile<T, [N]> { return v * 3; }
"""
ONE = """import "shared.tile";
param BLOCK: int = 32;
kernel one(x: tensor<f32, [n]>, y: out tensor<f32, [n]>) grid [cdiv(n, BLOCK)] {
    y.store([bid(0)], scaled(x.load([bid(0)], [BLOCK])));
}
"""
TWO = ONE.replace("kernel one", "kernel two").replace("scaled(x", "1 + scaled(x")
STD = """import "nn.tile";
kernel rectify(x: tensor<f32, [n]>, y: out tensor<f32, [n]>) grid [cdiv(n, 64)] {
    y.store([bid(0)], relu(x.load([bid(0)], [64])));
}
"""
MAIN = """#include <stdio.h>
#include "kern/one.h"
#include "two.h"
#include "std.h"
int main(void)
{
	float x[5] = {1, -2, 3, 4, 5}, y[5];
	if (one(x, y, 5, NULL) || y[4] != 15) return 1;
	if (two(x, y, 5, NULL) || y[4] != 16) return 2;
	if (rectify(x, y, 5, NULL) || y[1] != 0 || y[2] != 3) return 3;
	puts("foreign project: ok");
	return 0;
}
"""
CMAKE = """cmake_minimum_required(VERSION 3.20)
project(foreign C)
find_package(ctilec 0.1 REQUIRED)
ctilec_add_library(kernels SOURCES one.tile TARGET c HEADER_PREFIX kern INCLUDE_DIRS lib DEFINES BLOCK=64
  OUT_SOURCES generated OUT_HEADERS headers)
if(NOT generated MATCHES "one\\\\.c$" OR NOT headers MATCHES "kern/one\\\\.h$")
  message(FATAL_ERROR "OUT_SOURCES ${generated}, OUT_HEADERS ${headers}")
endif()
add_executable(app main.c)
target_link_libraries(app PRIVATE kernels)
ctilec_target_sources(app PRIVATE std.tile TARGET c)
add_subdirectory(sub)
"""
SUB = """ctilec_target_sources(app PRIVATE two.tile TARGET c INCLUDE_DIRS ../lib OPTIONS -O1)
"""
MAKEFILE = """CTILEC := $(shell pkg-config --variable=ctilec_bin ctilec)
CTILEC_FLAGS := -I lib
CTILEC_TARGET := c
include $(shell pkg-config --variable=ctilec_mk ctilec)
CFLAGS := -std=c11 -I.
app: main.o one.o two.o std.o
	$(CC) -o $@ $^ -lm
main.o: one.h two.h std.h
"""


def install(tmp):
    dest = os.path.join(tmp, "dest")
    # the compiler under test is the one that is there: nothing is built again
    must(["make", "-C", ROOT, "-o", "all", "BUILD=" + BUILD, "install", "DESTDIR=" + dest, "PREFIX=/opt/ct"], "make install")
    prefix = os.path.join(tmp, "moved here", "ctilec")
    os.makedirs(os.path.dirname(prefix))
    shutil.move(os.path.join(dest, "opt/ct"), prefix)
    check(not os.listdir(os.path.join(dest, "opt")), "make install left DESTDIR/PREFIX")
    for f in ("bin/ctilec", "share/ctilec/stdlib/nn.tile", "share/man/man1/ctilec.1", "share/pkgconfig/ctilec.pc",
              "lib/cmake/ctilec/ctilecConfig.cmake", "lib/cmake/ctilec/ctilecConfigVersion.cmake"):
        check(os.path.exists(os.path.join(prefix, f)), "make install does not install " + f)
    return prefix


def sources(folder, two_in="sub"):
    os.makedirs(os.path.join(folder, "lib"))
    os.makedirs(os.path.join(folder, "sub"), exist_ok=True)
    write(os.path.join(folder, "lib", "shared.tile"), SHARED)
    write(os.path.join(folder, "one.tile"), ONE)
    write(os.path.join(folder, two_in, "two.tile"), TWO)
    write(os.path.join(folder, "std.tile"), STD)
    write(os.path.join(folder, "main.c"), MAIN)


def idle(text):
    return "Compiling" not in text and "Building" not in text and "Linking" not in text


def cmake_with(generator, prefix, folder, build):
    must(["cmake", "-S", folder, "-B", build, "-G", generator, "-DCMAKE_PREFIX_PATH=" + prefix])
    configs = ["Debug", "Release"] if "Multi" in generator else [None]
    for config in configs:
        line = ["cmake", "--build", build] + (["--config", config] if config else [])
        must(line)
        must([os.path.join(build, config or "", "app")])
        again = must(line).out.decode()
        check(idle(again), "%s: a second build is not idle:\n%s" % (generator, again))
        time.sleep(1.1)
        write(os.path.join(folder, "lib", "shared.tile"), read(os.path.join(folder, "lib", "shared.tile")) + "\n")
        edited = must(line).out.decode()
        check("Compiling one.tile" in edited and "Compiling two.tile" in edited and "Compiling std.tile" not in edited,
              "%s: editing the imported file rebuilds\n%s" % (generator, edited))
        # CMake's rules for make touch every output of a step; Ninja's do not
        check("Ninja" not in generator or "main.c.o" not in edited, "%s: unchanged headers rebuild their users:\n%s" % (generator, edited))
        must([os.path.join(build, config or "", "app")])


def with_cmake(tmp, prefix):
    folder = os.path.join(tmp, "foreign project")
    sources(folder)
    write(os.path.join(folder, "CMakeLists.txt"), CMAKE)
    write(os.path.join(folder, "sub", "CMakeLists.txt"), SUB)
    # a tilde, a number sign or a dollar is legal in a path as well, but not in all of CMake's own generators
    generators = ["Unix Makefiles"] + (["Ninja", "Ninja Multi-Config"] if shutil.which("ninja") else [])
    for g in generators:
        cmake_with(g, prefix, folder, os.path.join(tmp, "build " + g.replace(" ", "-")))
    r = run(["cmake", "-S", folder, "-B", os.path.join(tmp, "v"), "-DCMAKE_PREFIX_PATH=" + prefix, "-Dx=1"])
    check(r.code == 0, r.text)
    write(os.path.join(folder, "CMakeLists.txt"), CMAKE.replace("ctilec 0.1", "ctilec 9.9"))
    r = run(["cmake", "-S", folder, "-B", os.path.join(tmp, "w"), "-DCMAKE_PREFIX_PATH=" + prefix])
    check(r.code != 0 and "9.9" in r.text, "a version that is not there was found")


def with_make(tmp, prefix):
    if not shutil.which("pkg-config"):
        skip("pkg-config is not here")
    folder = os.path.join(tmp, "foreign")
    sources(folder, ".")
    write(os.path.join(folder, "main.c"), MAIN.replace("kern/one.h", "one.h"))
    write(os.path.join(folder, "Makefile"), MAKEFILE)
    # make cannot take an included file with a blank in its name
    plain = os.path.join(tmp, "plain")
    os.symlink(os.path.dirname(prefix), plain)
    env = {"PKG_CONFIG_PATH": os.path.join(plain, "ctilec", "share", "pkgconfig")}
    must(["make", "-C", folder, "app"], env=env)
    must([os.path.join(folder, "app")])
    r = must(["make", "-C", folder, "app"], env=env)
    check("ctilec" not in r.out.decode().replace(folder, ""), "a second build is not idle:\n" + r.out.decode())
    time.sleep(1.1)
    write(os.path.join(folder, "lib", "shared.tile"), SHARED.replace("* 3", "+ v + v"))
    r = must(["make", "-C", folder, "app"], env=env)
    check("one.tile" in r.out.decode(), "editing the imported file does not rebuild:\n" + r.out.decode())
    must([os.path.join(folder, "app")])


TILES_CMAKE = """cmake_minimum_required(VERSION 3.20)
project(tiles CXX C CUDA)
find_package(ctilec 0.1 REQUIRED)
ctilec_add_library(mixed SOURCES one.tile INCLUDE_DIRS lib ARCH sm_80 TILE_ARCH sm_90 sm_100)
set(CMAKE_CUDA_STANDARD 17)
set_target_properties(mixed PROPERTIES CUDA_ARCHITECTURES "80-real;90-real")
ctilec_add_library(tiles SOURCES one.tile INCLUDE_DIRS lib TARGET cuda-tile)
add_library(app STATIC app.cu)
ctilec_target_sources(app PRIVATE std.tile TARGET cuda-tile)
"""
TILES_MAKE = """CTILEC := $(shell pkg-config --variable=ctilec_bin ctilec)
CTILEC_FLAGS := -I lib --tile-arch=sm_90
include $(shell pkg-config --variable=ctilec_mk ctilec)
one.o: one.cu
	$(NVCC) $(CTILEC_NVCCFLAGS) -arch=sm_90 -c -o $@ $<
"""
TOO_OLD = "cuda-tile needs nvcc 13.3 or newer; "


def nvcc_of(name):
    r = run([sys.executable, os.path.join(ROOT, "tools", "get.py"), "--there", name])
    if not check(r.code == 0, r.text.strip() + "\n`sh tools/setup.sh test` gets it"):
        finish()
    return r.out.decode().strip()


def holds_tiles(path):
    return b"__cudaRegisterFatBinary" in open(path, "rb").read() and b"ct_kernels" in open(path, "rb").read()


def with_tiles(tmp, prefix):
    folder = os.path.join(tmp, "tiles project")
    sources(folder, ".")
    write(os.path.join(folder, "app.cu"), '#include "std.h"\nint app(const float *x, float *y) { return rectify(x, y, 5, NULL); }\n')
    write(os.path.join(folder, "CMakeLists.txt"), TILES_CMAKE)
    new, old = nvcc_of("nvcc-tile"), nvcc_of("nvcc")
    build = os.path.join(tmp, "tiles build")
    line = ["cmake", "-S", folder, "-G", "Ninja" if shutil.which("ninja") else "Unix Makefiles", "-DCMAKE_PREFIX_PATH=" + prefix]
    must(line + ["-B", build, "-DCMAKE_CUDA_COMPILER=" + new, "-DCMAKE_CUDA_ARCHITECTURES=90-real"])
    must(["cmake", "--build", build])
    for made in ("libmixed.a", "libtiles.a", "libapp.a"):
        check(holds_tiles(os.path.join(build, made)), made + " holds no tile kernels")
    r = run(line + ["-B", build + " of old", "-DCMAKE_CUDA_COMPILER=" + old, "-DCMAKE_CUDA_ARCHITECTURES=90-real"])
    said = " ".join(r.text.split())
    check(r.code != 0 and "ctilec: mixed: " + TOO_OLD + "found 13.0" in said and "at " + old in said, r.text)

    if not shutil.which("pkg-config"):
        return
    plain = os.path.join(tmp, "plain")
    os.symlink(os.path.dirname(prefix), plain)
    env = {"PKG_CONFIG_PATH": os.path.join(plain, "ctilec", "share", "pkgconfig")}
    write(os.path.join(folder, "Makefile"), TILES_MAKE)
    for nvcc, why in ((old, "%s is 13.0" % old), ("no-nvcc", "no-nvcc is none")):
        r = run(["make", "-C", folder, "NVCC=" + nvcc, "one.o"], env=env)
        check(r.code != 0 and "ctilec: " + TOO_OLD + why in r.text, r.text)
    must(["make", "-C", folder, "NVCC=" + new, "one.o"], env=env)
    check(holds_tiles(os.path.join(folder, "one.o")), "one.o holds no tile kernels")


with tmpdir() as t:
    where = install(t)
    {"cmake": with_cmake, "make": with_make, "tiles": with_tiles}[sys.argv[1]](t, where)
finish()
