ctilec_test(language/rules "quick;rules;values" language/run.py c)
ctilec_test(language/rules-nvcc "nvcc" language/run.py nvcc)
ctilec_test(language/rules-gpu "gpu" language/run.py gpu)
