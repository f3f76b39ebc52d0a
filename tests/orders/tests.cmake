# ---- memory orders between tile blocks that run at once ----
ctilec_test(orders/litmus "quick;values" orders/litmus.py)
