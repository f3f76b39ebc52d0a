# ---- emitted text ----
ctilec_test(emit/lines "quick;golden" run/lines.py c)
ctilec_test(emit/debugger "golden" run/lines.py gdb)
ctilec_test(nvcc/lines "nvcc" run/lines.py cuda)
