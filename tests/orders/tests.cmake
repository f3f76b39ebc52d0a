# ---- memory orders between tile blocks that run at once ----
ctilec_test(orders/litmus "quick;values" orders/litmus.py litmus 20000 1)
ctilec_test(orders/weak "values" orders/litmus.py weak 500 1)
ctilec_test(nvcc/orders "nvcc" orders/machine_code.py)
