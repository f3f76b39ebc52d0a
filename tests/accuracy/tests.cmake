# ---- errors of mathematical functions against docs/operations.md ----
ctilec_test(accuracy/c "values" accuracy/test.py)
