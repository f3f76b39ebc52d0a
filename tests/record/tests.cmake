# ---- sizes of what is emitted, beside the last record ----
ctilec_test(record/counts "quick;golden" record/record.py)
