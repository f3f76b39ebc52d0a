# Builds ctilec. `make help` lists what it can do.
#
# Variables: BUILD (folder for everything made, default build), CC, CFLAGS, PREFIX and DESTDIR (for install),
# SAN=1 (address and undefined-behaviour sanitizers), WERROR=1, V=1 (prints whole commands), TESTS (labels for `make test`, a regular expression),
# JOBS (tests at a time), NVCC.

BUILD   ?= build
CC      ?= cc
CFLAGS  ?= -O2 -g1
RE2C    ?= re2c
BISON   ?= bison
CMAKE   ?= cmake
PYTHON  ?= python3
NVCC    ?= nvcc
PREFIX  ?= /usr/local
DESTDIR ?=
# tests at a time: one more than cores, since one that waits for a process leaves its core idle; at most 16, for memory
JOBS    ?= $(shell n=$$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2); echo $$((n < 16 ? n + 1 : 16)))
# as many compilations at a time as there are cores, unless the command line says -j or another make has started
# this one; what is made beside `clean` is made after it
ifeq ($(MAKELEVEL)$(filter -j%,$(MAKEFLAGS))$(filter clean,$(MAKECMDGOALS)),0)
MAKEFLAGS += -j$(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
endif
SEED    ?= $(shell git rev-parse --short HEAD 2>/dev/null)

Q       := $(if $(V),,@)
say      = $(if $(V),,@echo '  $(1)')

FOLDERS := base ast grammar lexer parser layout ir plan placed sema lower emit emit_c emit_cuda emit_tile sim driver
GEN     := $(BUILD)/gen/grammar
OBJ     := $(BUILD)/obj

WARN    := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes
ifdef WERROR
WARN    += -Werror
endif
ifdef SAN
# not optimized: built in half the time, and nothing that sanitizers look for is optimized away; -g1 has the lines of reports, and -g takes
# as long again
# variables are filled with a pattern, so that a read before the first write shows: a bool is then neither true nor false
PATTERN := $(shell $(CC) -ftrivial-auto-var-init=pattern -E -x c /dev/null >/dev/null 2>&1 && echo -ftrivial-auto-var-init=pattern)
# an access through a null pointer stops at the address sanitizer, too: testing each pointer before it is a seventh of the compilation
CFLAGS  := -O0 -g1 -fsanitize=address,undefined -fno-sanitize=null -fno-sanitize-recover=all -fno-omit-frame-pointer -DCT_ARENA_MALLOC $(PATTERN)
LDFLAGS += -fsanitize=address,undefined
endif
ALL_CFLAGS = -std=c11 $(CFLAGS) $(CPPFLAGS) $(WARN) -I. -I$(BUILD)/gen -MMD -MP

SRC     := $(sort $(foreach d,$(FOLDERS),$(wildcard $(d)/*.c)))
NAMES   := emit/status emit_c/prelude emit_cuda/prelude emit_cuda/device emit_tile/prelude
GENSRC  := $(GEN)/tile_lex.c $(GEN)/tile_tab.c $(NAMES:%=$(BUILD)/gen/%_names.c)
GENHDR  := $(GEN)/tokens.inc
LIBOBJS := $(patsubst %.c,$(OBJ)/%.o,$(filter-out driver/main.c,$(SRC))) $(GENSRC:$(BUILD)/gen/%.c=$(OBJ)/gen/%.o)
OBJS    := $(OBJ)/driver/main.o $(LIBOBJS)

.DELETE_ON_ERROR:

.PHONY: all help lib test fuzz bench bench-memory bench-corpus bench-gpu bench-machine bench-tile accuracy meter meter-record demo install clean docs editors bootstrap vendor-table FORCE
all: $(BUILD)/ctilec

help:
	@echo 'make              build the compiler: $(BUILD)/ctilec'
	@echo 'make demo         compile the samples and run them, on the GPU too where there is one'
	@echo 'make test         all tests; TESTS=quick takes those of one label, NVCC=nvcc another nvcc than the pinned one'
	@echo 'make bench        measure the compiler, and the C target against plain loops; compile what bench-gpu runs; no GPU needed'
	@echo 'make bench-gpu    measure kernels on a GPU beside PyTorch, Triton and CUB: bench/results/memory.json and .html'
	@echo 'make bench-machine measure what base/machine.def says of a GPU, on the GPU of this machine'
	@echo 'make bench-tile   measure the targets cuda and cuda-tile side by side on a GPU: bench/results/tile.json and .html'
	@echo 'make bench-corpus measure 143 cases on shapes drawn from SEED beside PyTorch on a GPU: bench/results/corpus.json'
	@echo 'make accuracy     measure the mathematical functions of the C target; ACCURACY="--sample 26 --only exp.*"; tests/accuracy/accuracy.py'
	@echo 'make fuzz         run the fuzz targets, a minute each (clang); FUZZ="sema --seconds 600" takes one for ten; tests/fuzz/README.md'
	@echo 'make install      into PREFIX ($(PREFIX)); DESTDIR is put before it'
	@echo 'make docs         write again the pages that are printed by the compiler'
	@echo 'make editors      write again the word lists for editors'
	@echo 'make bootstrap    write again the scanner and parser for machines without re2c and Bison'
	@echo 'make vendor-table ask the compiler of CUDA Tile C++ again what it accepts (tests/vendor)'
	@echo 'make clean        remove $(BUILD)'
	@echo 'SAN=1 builds with sanitizers, BUILD=folder elsewhere'

# ---- the compiler ----
$(BUILD)/ctilec: $(OBJS)
	$(call say,link $@)
	$(Q)$(CC) $(CFLAGS) $(FIXED) $(LDFLAGS) -o $@ $(OBJS) -lm

# At a fixed address: at any other, 23,000 pointers of tables are written before main begins. Asked when it is linked.
FIXED = $(shell echo 'int main(void) { return 0; }' | $(CC) -no-pie -x c -o $(BUILD)/fixed - 2>/dev/null && echo -no-pie; rm -f $(BUILD)/fixed)

# All but main, for the unit tests.
lib: $(BUILD)/libctilec.a
$(BUILD)/libctilec.a: $(LIBOBJS)
	$(call say,archive $@)
	@rm -f $@
	$(Q)$(AR) rcs $@ $(LIBOBJS)

$(OBJ)/%.o: %.c $(BUILD)/flags
	$(call say,cc $<)
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<

$(OBJ)/gen/%.o: $(BUILD)/gen/%.c $(BUILD)/flags
	$(call say,cc $<)
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<

# Other flags, other objects: the file changes only when they do. The folders of objects are made here, once for all.
$(BUILD)/flags: FORCE
	@mkdir -p $(FOLDERS:%=$(OBJ)/%) $(FOLDERS:%=$(OBJ)/gen/%)
	@echo '$(CC) $(ALL_CFLAGS)' | cmp -s - $@ || echo '$(CC) $(ALL_CFLAGS)' > $@

# The commit that --version prints; changes only when the commit does.
$(BUILD)/gen/git_id.h: FORCE
	@mkdir -p $(@D)
	@id=$$(git rev-parse --short=10 HEAD 2>/dev/null || echo release); \
	echo "#define CTILEC_GIT \"$$id\"" > $@.new; cmp -s $@.new $@ && rm $@.new || mv $@.new $@
$(OBJ)/driver/main.o: $(BUILD)/gen/git_id.h

# ---- generated scanner and parser; the kept ones serve where a tool is missing ----
$(LIBOBJS): | $(GENSRC) $(GENHDR)

RE2C_LINE  = $(RE2C) -W -i --no-generation-date
BISON_LINE = $(BISON) -Wall -Werror -Wcounterexamples -Wno-yacc --no-lines
# re2c 3.0 or newer, Bison 3.8 or newer; else empty
HAVE_RE2C  := $(shell $(RE2C) --vernum 2>/dev/null | awk '$$1 + 0 >= 30000 { print "yes" }')
HAVE_BISON := $(shell $(BISON) --version 2>/dev/null | \
	awk 'NR == 1 { split($$NF, v, "."); if (v[1] * 100 + v[2] >= 308) print "yes" }')

$(GEN)/tile_lex.c: grammar/tile.re
	@mkdir -p $(@D)
ifeq ($(HAVE_RE2C),)
	cp bootstrap/tile_lex.c $@
else
	$(RE2C_LINE) -o $@ $<
endif

$(GEN)/tile_tab.c: grammar/tile.y
	@mkdir -p $(@D)
ifeq ($(HAVE_BISON),)
	cp bootstrap/tile_tab.h $(GEN)/tile_tab.h
	cp bootstrap/tile_tab.c $@
else
	$(BISON_LINE) --header=$(GEN)/tile_tab.h -o $@ $<
endif

$(GEN)/tokens.inc: grammar/tile.y tools/tokens.awk
	@mkdir -p $(@D)
	awk -f tools/tokens.awk grammar/tile.y > $@

# ---- where names of snippets are found ----
$(NAMES:%=$(BUILD)/gen/%_names.c): $(BUILD)/gen/%_names.c: %.c emit/snippet.h tools/snippets.awk $(wildcard emit*/*.def)
	$(call say,names $<)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 $(CPPFLAGS) -I. -I$(BUILD)/gen -D'SNIPPET_ROW(name, text)=@name@' -E -P $< > $@.i
	$(Q)awk -v NAME=$(subst /,_,$*)_names -f tools/snippets.awk $@.i > $@
	@rm -f $@.i

bootstrap:
	RE2C='$(RE2C_LINE)' BISON='$(BISON_LINE)' sh tools/bootstrap.sh

# ---- pages and word lists printed by the compiler; tests check that they are current ----
docs: all
	sh tools/gen-docs.sh $(BUILD)/ctilec docs
editors: all
	$(PYTHON) tools/gen-editors.py $(BUILD)/ctilec editors

# ---- tests, benchmarks, demo ----
# Tests take the pinned nvcc unless NVCC is given; benchmarks and the demo take the one on PATH.
test: all lib
	CC='$(CC)' PYTHON='$(PYTHON)' NVCC='$(if $(filter file,$(origin NVCC)),,$(NVCC))' sh tools/test.sh '$(BUILD)' '$(TESTS)' '$(JOBS)'

fuzz: all
	CC='$(CC)' BUILD='$(abspath $(BUILD))' CTILEC='$(abspath $(BUILD))/ctilec' $(PYTHON) tests/fuzz/run.py $(FUZZ)

# bench/results keeps what these printed, with the machine.
bench: all
	$(PYTHON) bench/compile/growth.py '$(BUILD)/ctilec'
	-$(PYTHON) bench/compile/instances.py '$(BUILD)/ctilec'
	CC='$(CC)' sh bench/c/run.sh '$(BUILD)/ctilec'
	@if command -v '$(NVCC)' >/dev/null; then $(MAKE) --no-print-directory bench-memory; \
	else echo 'no nvcc: kernels for bench-gpu are left out'; fi

# Built anew each time: the compiler may be another one. BENCH_FLAGS: options of `bench/memory/bench.py run`.
bench-memory: all
	$(PYTHON) bench/memory/bench.py build '$(BUILD)/ctilec' '$(BUILD)/bench/memory' --nvcc '$(NVCC)'

# SEED: extents are drawn from it; the default is the commit that is measured.
bench-corpus: all
	$(PYTHON) bench/corpus/measure.py build '$(BUILD)/ctilec' '$(BUILD)/bench/corpus' --nvcc '$(NVCC)'
	$(PYTHON) bench/corpus/measure.py warm '$(BUILD)/bench/corpus' --seed '$(SEED)' --jobs 8
	$(PYTHON) bench/corpus/measure.py run '$(BUILD)/bench/corpus' --seed '$(SEED)' $(BENCH_FLAGS) --json bench/results/corpus.json

# A wrong value is a failure, after the page is written.
bench-gpu: bench-memory
	status=0; $(PYTHON) bench/memory/bench.py run '$(BUILD)/bench/memory' $(BENCH_FLAGS) --json bench/results/memory.json || status=$$?; \
	$(PYTHON) bench/page.py bench/results/memory.json > bench/results/memory.html && exit $$status

# One source through our back end and NVIDIA's. bench.py run --dry says without a GPU whether the libraries are whole.
bench-tile: all
	$(PYTHON) bench/tile/bench.py build '$(BUILD)/ctilec' '$(BUILD)/bench/tile' --nvcc '$(NVCC)'
	status=0; $(PYTHON) bench/tile/bench.py run '$(BUILD)/bench/tile' --seconds 900 $(BENCH_FLAGS) --json bench/results/tile.json || status=$$?; \
	$(PYTHON) bench/page.py bench/results/tile.json > bench/results/tile.html && exit $$status

# Numbers of the GPU of this machine for a row of base/machine.def: bench/machine/README.md.
bench-machine:
	@mkdir -p '$(BUILD)/bench'
	$(NVCC) -O3 -std=c++17 -arch=native -o '$(BUILD)/bench/machine' bench/machine/machine.cu
	'$(BUILD)/bench/machine'

# Greatest errors of mathematical functions beside docs/operations.md: 2^24 inputs of each unless ACCURACY says otherwise (--sample 32: all).
ACCURACY ?= --sample 24
accuracy: all
	CC='$(CC)' CTILEC='$(abspath $(BUILD))/ctilec' $(PYTHON) tests/accuracy/accuracy.py c $(ACCURACY)

# What nvcc makes of each kernel, beside the last record; no GPU. meter-record keeps the new one.
meter: all
	$(PYTHON) bench/compile/meter.py --ctilec '$(BUILD)/ctilec' --nvcc '$(NVCC)'
meter-record: all
	$(PYTHON) bench/compile/meter.py --ctilec '$(BUILD)/ctilec' --nvcc '$(NVCC)' --record bench/results/meter.txt

demo: all
	sh tools/demo.sh '$(BUILD)'

# What NVIDIA's compiler says about types, kept as a table: asked again only when the questions change (some minutes).
vendor-table:
	$(PYTHON) tests/vendor/ask.py "$$(PYTHON='$(PYTHON)' sh tools/get-nvcc.sh tile)"

# ---- install: relocatable, nothing names PREFIX ----
BIN   = $(DESTDIR)$(PREFIX)/bin
SHARE = $(DESTDIR)$(PREFIX)/share
LIB   = $(DESTDIR)$(PREFIX)/lib
VERSION := $(shell sed -n 's/.*CTILEC_VERSION "\(.*\)"/\1/p' base/version.h)

install: all
	install -d $(BIN) $(SHARE)/ctilec/stdlib $(SHARE)/man/man1 $(SHARE)/pkgconfig $(LIB)/cmake/ctilec
	install -m 755 $(BUILD)/ctilec $(BIN)/ctilec
	install -m 644 stdlib/*.tile $(SHARE)/ctilec/stdlib/
	install -m 644 cmake/ctilec.mk $(SHARE)/ctilec/ctilec.mk
	install -m 644 cmake/ctilecConfig.cmake cmake/ctilecHelpers.cmake $(LIB)/cmake/ctilec/
	sed 's/@VERSION@/$(VERSION)/g' cmake/ctilecConfigVersion.cmake.in > $(LIB)/cmake/ctilec/ctilecConfigVersion.cmake
	sed 's/@VERSION@/$(VERSION)/g' cmake/ctilec.pc.in > $(SHARE)/pkgconfig/ctilec.pc
	$(BUILD)/ctilec --help=man > $(SHARE)/man/man1/ctilec.1
	chmod 644 $(LIB)/cmake/ctilec/ctilecConfigVersion.cmake $(SHARE)/pkgconfig/ctilec.pc $(SHARE)/man/man1/ctilec.1

clean:
	rm -rf $(BUILD)

-include $(OBJS:.o=.d)
