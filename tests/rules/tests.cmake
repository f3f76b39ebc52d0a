ctilec_test(rules/table "quick;rules" rules/table.py)
ctilec_test(rules/cases "quick" rules/cases.py tests/rules/cases.txt)
ctilec_test(rules/clauses "quick" rules/cases.py tests/rules/clauses.txt)
