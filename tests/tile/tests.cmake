# ---- CUDA Tile C++ through the nvcc that has it (tools/get.py nvcc-tile) ----
ctilec_test(tile/samples "tile" tile/nvcc.py samples)
