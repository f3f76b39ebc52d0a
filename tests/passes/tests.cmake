# ---- what each pass does, from IR to IR ----
ctilec_test(ir/passes "quick;golden" passes/passes.py)
