# ---- mutants of every program, through the compiler with sanitizers; more: fuzz/mutate.py --count N --seed S ----
ctilec_test(san/mutants "san" fuzz/mutate.py --count 150)
set_tests_properties(san/compiler san/mutants PROPERTIES RESOURCE_LOCK sanitizers)     # both build it where it is missing
