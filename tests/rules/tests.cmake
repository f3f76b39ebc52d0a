ctilec_test(rules/table "quick" rules/table.py)
