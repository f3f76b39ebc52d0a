# ---- placed IR as text ----
file(GLOB files CONFIGURE_DEPENDS ir/*.tir)
foreach(file IN LISTS files)
  get_filename_component(name "${file}" NAME_WE)
  ctilec_test(ir/text-${name} "quick;golden" ir/text.py "${file}")
  ctilec_test(ir/nvcc-${name} "nvcc" ir/nvcc.py "${file}")
endforeach()
ctilec_test(ir/gemm-current "quick;golden" ir/gemm.py --check)
ctilec_test(ir/protocol "quick;golden" ir/protocol.py)
