# ---- the checks of --checked ----
ctilec_test(checked/traps "quick;values" checked/run.py c)
ctilec_test(nvcc/checked "nvcc" checked/run.py nvcc)
