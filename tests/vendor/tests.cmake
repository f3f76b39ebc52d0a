ctilec_test(vendor/table "quick" vendor/judge.py)
