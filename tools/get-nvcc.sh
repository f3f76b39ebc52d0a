#!/bin/sh
# get-nvcc.sh        prints the path of the pinned nvcc that the tests compile with; tools/get.py downloads it into .deps/ on the first call
# get-nvcc.sh tile   of the one that has CUDA Tile C++ (cuda_tile.h): tests/vendor/ask.py asks it
# Neither needs a GPU. Messages go to standard error.
set -u
case ${1-} in
'') name=nvcc ;;
tile) name=nvcc-tile ;;
*) echo "get-nvcc: it takes nothing or \`tile\`" >&2; exit 1 ;;
esac
exec "${PYTHON:-python3}" "$(dirname "$0")/get.py" "$name"
