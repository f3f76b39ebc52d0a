# ---- sizes of what is emitted, and its text, beside the last record ----
ctilec_test(record/counts "quick;golden" record/record.py)
ctilec_test(record/bars "quick;golden" record/bars.py)
ctilec_test(record/emitted "quick;golden" record/emitted.py)
