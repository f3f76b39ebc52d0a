"""The names that the headers of C, POSIX and CUDA declare: library-names.py NVCC writes emit/library.def; with --check (and no NVCC)
it says which names that the C headers here declare are missing there. The list is of functions, objects, types, enumerators and
macros as g++ sees them (with _GNU_SOURCE), without names that begin with an underscore and without what rules of emit/names.c cover:
`cuda` and a capital, and forms of functions for types like _Float128. Names that other versions of the headers had stay in the list."""
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIST = os.path.join(ROOT, "emit", "library.def")
C = """assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg stdatomic stdbool stddef stdint
stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype""".split()
POSIX = """aio arpa/inet cpio dirent dlfcn fcntl fmtmsg fnmatch ftw glob grp iconv langinfo libgen monetary mqueue net/if netdb netinet/in
netinet/tcp nl_types poll pthread pwd regex sched search semaphore spawn strings sys/ipc sys/mman sys/msg sys/resource sys/select sys/sem
sys/shm sys/socket sys/stat sys/statvfs sys/time sys/times sys/types sys/uio sys/un sys/utsname sys/wait syslog tar termios ulimit unistd
utime utmpx wordexp""".split()
CUDA = ["cuda_runtime", "cuda_fp16", "cuda_bf16"]
NAMESPACES = {"cuda", "nv", "std"}
# `leaf` is an attribute only
RULES = re.compile(r"cuda[A-Z]|.*f(16|32|64|128)x?$|_|leaf$")


def text_of(command, headers):
    with tempfile.NamedTemporaryFile("w", suffix=".c") as f:
        f.write("".join("#include <%s.h>\n" % h for h in headers))
        f.flush()
        return subprocess.run([*command, "-E", f.name], stdout=subprocess.PIPE, text=True, check=True).stdout


def macros_of(command, headers):
    return set(re.findall(r"^#define (\w+)", text_of(command, headers), re.M))


def declared(text):
    """What declarations at the outermost level name: what an argument list or the end of a declaration follows, and enumerators."""
    text = re.sub(r"^#.*", "", text, flags=re.M)
    text = re.sub(r'"(\\.|[^"\\])*"', '""', text)
    for word in ("__attribute__", "__asm__", "__asm", "asm", "__declspec", "noexcept", "throw", "__nonnull", "alignas", "_Alignas"):
        text = re.sub(r"\b%s *\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)" % word, "", text)
    names, outer, head, body, depth = set(), [], "", "", 0

    def end():
        plain = re.sub(r"\b(typedef|extern|struct|union|enum|__extension__)\b", "", head)
        for m in re.finditer(r"(\w+)\s*\(", plain):
            names.add(m.group(1))
            if m.group(1) not in ("int", "void", "char", "long"):
                break
        names.update(re.findall(r"\(\s*\*\s*(\w+)\s*\)", plain) if "typedef" in head else [])
        while "(" in plain and (less := re.sub(r"\([^()]*\)", "()", plain.replace("()", ""))) != plain:
            plain = less
        if "typedef" in head or "extern" in head or "}" in head:
            names.update(re.findall(r"(\w+)\s*(?:\[[^]]*\]\s*)*(?:,|$)", plain.replace("()", " ()")))

    for piece in re.findall(r"[{};]|[^{};]+", text):
        if piece == "{":
            outside = not depth and re.search(r'extern\s*""\s*$', head)
            if not outside and not depth and "(" in head:
                end()
                head = ""
            outer.append(not outside)
            depth += not outside
            if outside:
                head = ""
            body = ""
        elif piece == "}":
            if outer and outer.pop():
                depth -= 1
                if not depth and re.search(r"\benum\b", head):
                    names.update(re.findall(r"(?:^|,)\s*(\w+)", re.sub(r"\([^()]*\)", "", body)))
            head += "}" if not depth and re.search(r"\b(struct|union|enum)\b", head) else ""
            if not head.endswith("}"):
                head = ""
        elif depth:
            body += piece
        elif piece == ";":
            end()
            head = ""
        else:
            head += piece
    return names


def wanted(names):
    return {n for n in names if n[0].isalpha() and not RULES.match(n)}


def of_c():
    """Those of headers that this system has, by its C compiler."""
    cc = [os.environ.get("CC", "cc"), "-xc", "-std=gnu11", "-D_GNU_SOURCE"]
    have = [h for h in C + POSIX if subprocess.run([*cc, "-E", "-"], input="#include <%s.h>\n" % h, text=True, stdout=subprocess.DEVNULL,
                                                  stderr=subprocess.DEVNULL).returncode == 0]
    return wanted(declared(text_of(cc, have)) | macros_of([*cc, "-dM"], have))


def of_cuda(nvcc):
    command = [nvcc, "-x", "cu", "-arch=sm_90a"]
    return wanted(declared(text_of(command, CUDA)) | macros_of([*command, "-Xcompiler", "-dM"], CUDA))


def kept():
    return set(re.findall(r'"(\w+)"', open(LIST).read())) if os.path.exists(LIST) else set()


def write(names):
    lines, line = [], "\t"
    for n in sorted(names):
        if len(line) + len(n) + 4 > 116:
            lines.append(line.rstrip())
            line = "\t"
        line += '"%s", ' % n
    with open(LIST, "w") as f:
        f.write("/* Names that headers of C, POSIX and CUDA declare, sorted as strcmp does: written by tools/library-names.py. */\n"
                + "\n".join(lines + [line.rstrip()]) + "\n")


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        missing = sorted(of_c() - kept())
        sys.exit("emit/library.def lacks: " + " ".join(missing) if missing else 0)
    write(wanted(kept() | of_c() | of_cuda(sys.argv[1]) | NAMESPACES))
