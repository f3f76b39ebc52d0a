# ---- names of the author beside those of the emitters ----
ctilec_test(names/c "quick;emulated" names/names.py c)
ctilec_test(names/cuda "emulated" names/names.py cuda)
ctilec_test(names/header "cli" names/names.py header)
ctilec_test(names/tile "tile" names/names.py tile)
ctilec_test(nvcc/names "nvcc" names/names.py nvcc)
ctilec_test(names/complete "quick;cli" ../tools/library-names.py --check)
