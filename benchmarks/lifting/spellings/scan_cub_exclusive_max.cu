// y[i, 0] = floor; y[i, j] = max(floor, max over k < j of x[i, k])
#include <cub/cub.cuh>

namespace {

struct Larger {
    __device__ float operator()(float a, float b) const { return b > a ? b : a; }
};

__global__ void exclusive_max_rows(const float* x, float* y, float floor, int rows, int cols)
{
    using Scan = cub::BlockScan<float, 256, cub::BLOCK_SCAN_WARP_SCANS>;
    __shared__ Scan::TempStorage storage;

    for (unsigned r = blockIdx.x; r < (unsigned)rows; r += gridDim.x) {
        const float* in = x + (size_t)r * cols;
        float* out = y + (size_t)r * cols;
        float seen = floor;
        for (int j = threadIdx.x; j - (int)threadIdx.x < cols; j += 256) {
            const float v = j < cols ? in[j] : floor;
            float before, whole;
            Scan(storage).ExclusiveScan(v, before, seen, Larger(), whole);
            if (j < cols) out[j] = before;
            seen = Larger()(seen, whole);
            __syncthreads();  // storage is used again
        }
    }
}

}  // namespace

void run_scan_cub_exclusive_max(const float* x, float floor, float* y, int rows, int cols)
{
    exclusive_max_rows<<<rows < 1056 ? rows : 1056, 256>>>(x, y, floor, rows, cols);
}
