# ---- fuzz targets (fuzz/run.py; `make fuzz`): compiled with warnings, and given the kept texts ----
file(GLOB targets CONFIGURE_DEPENDS fuzz/*.c)
add_library(fuzz_targets OBJECT ${targets})
target_include_directories(fuzz_targets PRIVATE "${ROOT}" "${CTILEC_BUILD}/gen")
target_compile_options(fuzz_targets PRIVATE -Wall -Wextra)

ctilec_test(fuzz/corpus "quick;build" fuzz/run.py replay --plain)
ctilec_test(san/corpus "san" fuzz/run.py replay)

# ---- mutants of every program, through the compiler with sanitizers; more: fuzz/mutate.py --count N --seed S ----
ctilec_test(san/mutants "san" fuzz/mutate.py --count 150)
set_tests_properties(san/compiler san/mutants san/corpus tree/bootstrap PROPERTIES RESOURCE_LOCK sanitizers)    # each builds it where it is missing
