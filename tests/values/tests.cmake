# without them (tools/get-numpy.sh could not get them) the suites are skipped, as the others that compare with them are
execute_process(COMMAND "${PYTHON}" -c "import numpy, ml_dtypes" RESULT_VARIABLE without ERROR_QUIET)
if(without)
  message(STATUS "numpy or ml_dtypes is missing: the value suites are left out")
  return()
endif()
# ---- operations against numpy and ml_dtypes: the C target, and emitted CUDA emulated on the host ----
foreach(name casts control elementwise memory modes products rand reductions shapes)
  ctilec_test(values/${name} "values" values/${name}.py test)
endforeach()
foreach(name products)
  ctilec_test(emulated/values-${name} "values;emulated" values/${name}.py test --target emulated)
endforeach()
