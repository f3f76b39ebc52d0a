# ---- libFuzzer targets (fuzz/run.py), here only compiled ----
file(GLOB targets CONFIGURE_DEPENDS fuzz/*.c)
add_library(fuzz_targets OBJECT ${targets})
target_include_directories(fuzz_targets PRIVATE "${ROOT}" "${CTILEC_BUILD}/gen")
target_compile_options(fuzz_targets PRIVATE -Wall -Wextra)

# ---- mutants of every program, through the compiler with sanitizers; more: fuzz/mutate.py --count N --seed S ----
ctilec_test(san/mutants "san" fuzz/mutate.py --count 150)
set_tests_properties(san/compiler san/mutants PROPERTIES RESOURCE_LOCK sanitizers)     # both build it where it is missing
