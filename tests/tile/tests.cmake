# ---- CUDA Tile C++ through the nvcc that has it (tools/get.py nvcc-tile) ----
# Machine code of every sample, library kernel, operation and 200 drawn programs for both generations. forms.tile has every form that is printed,
# and for it the front end makes the same for both.
foreach(arch sm_90 sm_100)
  foreach(group forms samples library operations)
    ctilec_test(tile/${group}-${arch} "tile" tile/nvcc.py ${group})
    set_property(TEST tile/${group}-${arch} APPEND PROPERTY ENVIRONMENT "TILE_ARCH=${arch}")
  endforeach()
endforeach()
ctilec_test(tile/random "tile" tile/nvcc.py random)
set_property(TEST tile/random APPEND PROPERTY ENVIRONMENT "TILE_ARCH=sm_90,sm_100")
# the front end alone, where the next stage takes minutes and shows nothing new
ctilec_test(tile/programs "tile" tile/nvcc.py programs)
set_property(TEST tile/programs APPEND PROPERTY ENVIRONMENT "TILE_STAGE=tilebc")
ctilec_test(tile-13.3/forms "tile" tile/nvcc.py forms 13.3)
ctilec_test(tile-13.3/samples "tile" tile/nvcc.py samples 13.3)
set_property(TEST tile-13.3/samples APPEND PROPERTY ENVIRONMENT "TILE_STAGE=tilebc")
ctilec_test(tile/mixed "tile" tile/mixed.py dispatch)
ctilec_test(tile/mixed-without "nvcc;tile" tile/mixed.py without)
ctilec_test(gpu/mixed "gpu" tile/mixed.py gpu)
ctilec_test(tile/golden "quick;golden;tile" tile/golden.py)
ctilec_test(tile/faults "tile" tile/faults.py)
ctilec_test(tile/operations "quick;tile" tile/operations.py)

# ---- values of what its front end makes of the kernels, interpreted: no GPU ----
foreach(suite memory/8 casts/6 reductions/6 products/6 modes/6 shapes/12 elementwise/24)
  get_filename_component(name ${suite} DIRECTORY)
  get_filename_component(parts ${suite} NAME)
  ctilec_test(tile/values-${name} "tile" tile/values.py ${name} 1/${parts})
endforeach()
# kernels drawn at random against the C target. More: --count N --seed S, and values/programs.py tile --count N
ctilec_test(tile/drawn "tile" cuda/drawn.py test --arch tile --count 8 --seed 24)
ctilec_test(tile/drawn-mixed "tile" cuda/mixed.py test --arch tile --count 8 --seed 24)
