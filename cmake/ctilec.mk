# Rules for Makefiles: `include .../ctilec.mk`, list k.o among your objects, and k.tile becomes k.cu and k.h.
# CTILEC is the compiler, CTILEC_FLAGS its options; with CTILEC_TARGET := c before the include k.c is made and not k.cu.
# The program is written on each run, the header only when it changes: therefore the header has a rule of its own, which
# does nothing but make one that was lost.
CTILEC ?= ctilec
CTILEC_TARGET ?= cuda
ctilec_ending := $(if $(filter c,$(CTILEC_TARGET)),c,cu)
.PRECIOUS: %.$(ctilec_ending)
%.$(ctilec_ending): %.tile
	$(CTILEC) $(CTILEC_FLAGS) --target=$(CTILEC_TARGET) -MD -MP -o $@ $<
%.h: %.$(ctilec_ending)
	@test -f $@ || $(CTILEC) $(CTILEC_FLAGS) --target=$(CTILEC_TARGET) -o $< $*.tile
-include $(wildcard *.tile.d)
