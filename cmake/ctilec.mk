# Rules for Makefiles: `include .../ctilec.mk`, list k.o among your objects, and k.tile becomes k.cu and k.h.
# CTILEC is the compiler, CTILEC_FLAGS its options; with CTILEC_TARGET := c before the include k.c is made and not k.cu.
# The program is written on each run, the header only when it changes: therefore the header has a rule of its own, which
# does nothing but make one that was lost.
# With CTILEC_TARGET := cuda-tile, or --tile-arch among CTILEC_FLAGS, NVCC must be one that has tile kernels, and CTILEC_NVCCFLAGS holds the
# options that it needs: give them to it where k.cu is compiled.
CTILEC ?= ctilec
CTILEC_TARGET ?= cuda
ctilec_ending := $(if $(filter c,$(CTILEC_TARGET)),c,cu)
.PRECIOUS: %.$(ctilec_ending)
%.$(ctilec_ending): %.tile
	$(CTILEC) $(CTILEC_FLAGS) --target=$(CTILEC_TARGET) -MD -MP -o $@ $<
%.h: %.$(ctilec_ending)
	@test -f $@ || $(CTILEC) $(CTILEC_FLAGS) --target=$(CTILEC_TARGET) -o $< $*.tile
-include $(wildcard *.tile.d)

CTILEC_NVCCFLAGS :=
ifneq ($(filter cuda-tile,$(CTILEC_TARGET))$(filter --tile-arch%,$(CTILEC_FLAGS)),)
NVCC ?= nvcc
CTILEC_NVCCFLAGS := --enable-tile -std=c++20
ctilec_nvcc := $(shell $(NVCC) --version 2>/dev/null | sed -n 's/.*release \([0-9]*\.[0-9]*\).*/\1/p')
ifeq ($(ctilec_nvcc),)
$(error ctilec: cuda-tile needs nvcc 13.3 or newer; $(NVCC) is none)
endif
ifneq ($(firstword $(sort $(shell printf '%03d%03d ' $(subst ., ,$(ctilec_nvcc))) 013003)),013003)
$(error ctilec: cuda-tile needs nvcc 13.3 or newer; $(NVCC) is $(ctilec_nvcc))
endif
ifeq ($(ctilec_nvcc)$(filter --tile-version%,$(CTILEC_FLAGS)),13.3)
CTILEC_FLAGS += --tile-version=13.3
endif
endif
