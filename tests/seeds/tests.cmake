# ---- each statement of the documents in the seeds, or the difference that the reference lists ----
execute_process(COMMAND "${PYTHON}" -c "import numpy, ml_dtypes" RESULT_VARIABLE without ERROR_QUIET)
if(without)
  return()
endif()
ctilec_test(seeds/items "values" seeds/run.py)
ctilec_test(emulated/seeds "values;emulated" seeds/run.py --target emulated)
