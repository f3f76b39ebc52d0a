# ---- operations against numpy and ml_dtypes: the C target, and emitted CUDA emulated on the host ----
foreach(name casts control elementwise memory modes products rand reductions shapes spans)
  ctilec_test(values/${name} "values" values/${name}.py test)
endforeach()
foreach(name products spans)
  ctilec_test(emulated/values-${name} "values;emulated" values/${name}.py test --target emulated)
endforeach()

# ---- random programs; more: values/programs.py test|emulated|nvcc|mutants --count N --seed S ----
ctilec_test(values/random-programs "values" values/programs.py test --count 1000)
ctilec_test(emulated/random-programs "values;emulated" values/programs.py emulated --count 100)
ctilec_test(nvcc/random-programs "nvcc" values/programs.py nvcc --count 100)
ctilec_test(diag/random-mutants "quick;diag" values/programs.py mutants --count 150)
ctilec_test(values/every-operation "quick;values" values/coverage.py)

# ---- what goes to a machine with a GPU ----
ctilec_test(values/prepared "values" gpu/prepared.py)
ctilec_test(values/three "values;tile" gpu/three.py)
