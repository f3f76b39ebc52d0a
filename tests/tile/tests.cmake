# ---- CUDA Tile C++: skipped where nvcc 13.3 or newer is not there (sh tools/get-nvcc.sh tile) ----
ctilec_test(tile/samples "tile" tile/nvcc.py samples)
