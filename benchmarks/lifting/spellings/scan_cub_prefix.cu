// y[i, j] = sum over k <= j of x[i, k]
#include <cub/block/block_load.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>

struct RunningTotal {
    float total;
    __device__ RunningTotal() : total(0.f) {}
    __device__ float operator()(float block_aggregate)
    {
        float old = total;
        total += block_aggregate;
        return old;
    }
};

template <int BLOCK_THREADS, int ITEMS>
__global__ void BlockPrefixSum(const float* d_in, float* d_out, int cols)
{
    typedef cub::BlockLoad<float, BLOCK_THREADS, ITEMS, cub::BLOCK_LOAD_TRANSPOSE> Load;
    typedef cub::BlockStore<float, BLOCK_THREADS, ITEMS, cub::BLOCK_STORE_TRANSPOSE> Store;
    typedef cub::BlockScan<float, BLOCK_THREADS> Scan;
    __shared__ union {
        typename Load::TempStorage load;
        typename Store::TempStorage store;
        typename Scan::TempStorage scan;
    } temp;

    const size_t row = (size_t)blockIdx.x * cols;
    RunningTotal prefix;
    for (int at = 0; at < cols; at += BLOCK_THREADS * ITEMS) {
        const int valid = cols - at;
        float items[ITEMS];
        Load(temp.load).Load(d_in + row + at, items, valid, 0.f);
        __syncthreads();
        Scan(temp.scan).InclusiveSum(items, items, prefix);
        __syncthreads();
        Store(temp.store).Store(d_out + row + at, items, valid);
        __syncthreads();
    }
}

void run_scan_cub_prefix(const float* x, float* y, int rows, int cols)
{
    BlockPrefixSum<128, 4><<<rows, 128>>>(x, y, cols);
}
