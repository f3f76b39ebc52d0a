# ---- the checks of --checked ----
ctilec_test(checked/traps "quick;values" checked/run.py c)
ctilec_test(nvcc/checked "nvcc" checked/run.py nvcc)
ctilec_test(checked/pages "quick;values" checked/programs.py pages)
ctilec_test(checked/samples "samples" checked/programs.py samples)
