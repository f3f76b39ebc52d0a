ctilec_test(operations/values "quick;values" run/checked_by_c.py operations/ops c)
ctilec_test(operations/nvcc "nvcc" run/checked_by_c.py operations/ops nvcc)
ctilec_test(operations/gpu "gpu" run/checked_by_c.py operations/ops gpu)
