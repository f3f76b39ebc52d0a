ctilec_test(language/rules "quick;rules;values" run/checked_by_c.py language/rules c)
ctilec_test(language/rules-nvcc "nvcc" run/checked_by_c.py language/rules nvcc)
ctilec_test(language/rules-gpu "gpu" run/checked_by_c.py language/rules gpu)
