// The vendor's device-wide algorithms as peers, one C function each: called first without space to learn how much is
// needed. x is rows by cols.
#include <cub/cub.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

struct row_start {
	int64_t cols;
	__host__ __device__ int64_t operator()(int64_t row) const { return row * cols; }
};

static auto starts_of(int64_t cols)
{
	return thrust::make_transform_iterator(thrust::make_counting_iterator<int64_t>(0), row_start{cols});
}

#define PEER(name, T, R, call) \
	extern "C" int name(void *space, size_t *need, const T *x, R *y, int64_t rows, int64_t cols, cudaStream_t stream) \
	{ \
		return call; \
	}

PEER(sum_f32, float, float, cub::DeviceReduce::Sum(space, *need, x, y, rows * cols, stream))
PEER(max_f32, float, float, cub::DeviceReduce::Max(space, *need, x, y, rows * cols, stream))
PEER(sum_i8, int8_t, int, cub::DeviceReduce::Sum(space, *need, x, y, rows * cols, stream))
PEER(sum_rows_f32, float, float, cub::DeviceSegmentedReduce::Sum(space, *need, x, y, rows,
	starts_of(cols), starts_of(cols) + 1, stream))
PEER(max_rows_f32, float, float, cub::DeviceSegmentedReduce::Max(space, *need, x, y, rows,
	starts_of(cols), starts_of(cols) + 1, stream))

/* One scan after the other: the rows are few. */
extern "C" int scan_f32(void *space, size_t *need, const float *x, float *y, int64_t rows, int64_t cols,
	cudaStream_t stream)
{
	for (int64_t i = 0; i < rows; i++) {
		int status = cub::DeviceScan::InclusiveSum(space, *need, x + i * cols, y + i * cols, cols, stream);
		if (status != 0 || space == NULL) return status;
	}
	return 0;
}
