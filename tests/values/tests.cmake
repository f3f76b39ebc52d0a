# ---- operations against numpy and ml_dtypes: the C target, and emitted CUDA emulated on the host ----
foreach(name casts control elementwise memory modes products rand reductions shapes)
  ctilec_test(values/${name} "values" values/${name}.py test)
endforeach()
foreach(name products)
  ctilec_test(emulated/values-${name} "values;emulated" values/${name}.py test --target emulated)
endforeach()
