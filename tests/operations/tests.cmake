ctilec_test(operations/values "quick;values" operations/run.py c)
ctilec_test(operations/nvcc "nvcc" operations/run.py nvcc)
ctilec_test(operations/gpu "gpu" operations/run.py gpu)
