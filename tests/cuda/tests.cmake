# ---- emitted CUDA run on the host: no GPU, no nvcc ----
foreach(name vecadd saxpy row_sum transpose histogram blur softmax softmax_online layer_norm gemm attention)
  ctilec_test(emulated/${name} "values;emulated" cuda/emulated.py sample/${name})
endforeach()
foreach(name operations language functions)
  ctilec_test(emulated/${name} "values;emulated" cuda/emulated.py ${name})
endforeach()
foreach(name layouts reductions scans moving very products memory)
  ctilec_test(emulated/tiles-${name} "values;emulated" cuda/emulated.py tiles/${name})
endforeach()

ctilec_test(emulated/unroll-budget "quick;emulated" cuda/budget.py)
ctilec_test(emit/hints "quick;golden" cuda/hints.py)
ctilec_test(emulated/clusters "values;emulated" cuda/emulated.py clusters)
ctilec_test(emulated/packed "values;emulated" cuda/emulated.py packed)
ctilec_test(emulated/overlap "values;emulated" cuda/emulated.py overlap)

# ---- emitted CUDA through the compilers of CUDA: no GPU ----
foreach(group samples library pages programs values)
  ctilec_test(nvcc/${group} "nvcc" cuda/nvcc.py ${group})
endforeach()
ctilec_test(nvcc/nvrtc "nvcc" cuda/nvrtc.py device)
ctilec_test(nvcc/cuda-12-headers "nvcc" cuda/nvrtc.py host)
ctilec_test(nvcc/flags "nvcc" cuda/flags.py)
