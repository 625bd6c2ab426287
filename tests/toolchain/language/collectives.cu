// Collectives of a block and of its warps, checked on the device against what they must be; prints the names that fail.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#define CUB_NS_PREFIX namespace own {
#define CUB_NS_POSTFIX }
#include <cub/cub.cuh>
#undef CUB_NS_PREFIX
#undef CUB_NS_POSTFIX
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

namespace cg = cooperative_groups;

constexpr int kThreads = 128;
constexpr int kSum = kThreads * (kThreads - 1) / 2;

__device__ int failures;

#define EXPECT(name, condition) \
    if (!(condition)) atomicAdd(&failures, 1), printf("%s thread %d\n", name, int(threadIdx.x))

struct RunningTotal {
    int total;
    __device__ int operator()(int aggregate) {
        const int before = total;
        total += aggregate;
        return before;
    }
};

__global__ void block_collectives() {
    const int rank = threadIdx.x;
    using Reduce = cub::BlockReduce<int, kThreads>;
    __shared__ typename Reduce::TempStorage reduce;
    const int sum = Reduce(reduce).Sum(rank);
    EXPECT("block sum", rank != 0 || sum == kSum);
    __syncthreads();
    const int top = Reduce(reduce).Reduce(rank, cub::Max(), 100);
    EXPECT("block max of 100", rank != 0 || top == 99);

    using Scan = cub::BlockScan<int, kThreads>;
    __shared__ typename Scan::TempStorage scan;
    int before, total, items[2] = {rank, 1}, out[2];
    Scan(scan).ExclusiveSum(rank, before, total);
    EXPECT("block exclusive sum", before == rank * (rank - 1) / 2 && total == kSum);
    __syncthreads();
    Scan(scan).InclusiveSum(items, out);
    EXPECT("block inclusive sum of two items", out[1] == rank * (rank + 1) / 2 + rank + 1 && out[0] == out[1] - 1);
    __syncthreads();
    RunningTotal running{1000};
    Scan(scan).ExclusiveSum(1, before, running);
    EXPECT("block scan after a prefix", before == 1000 + rank);
    EXPECT("prefix is kept", rank != 0 || running.total == 1000 + kThreads);

    using Sort = cub::BlockRadixSort<float, kThreads, 2, int>;
    __shared__ typename Sort::TempStorage sort;
    float keys[2] = {-float(rank), float(rank)};
    int values[2] = {rank, -rank};
    Sort(sort).Sort(keys, values);
    EXPECT("block radix sort", keys[0] <= keys[1] && fabsf(keys[0]) == abs(values[0]));
    EXPECT("least key first", rank != 0 || (keys[0] == 1 - kThreads && values[0] == kThreads - 1));

    using Exchange = cub::BlockExchange<int, kThreads, 2>;
    __shared__ typename Exchange::TempStorage exchange;
    int striped[2] = {rank, rank + kThreads};
    Exchange(exchange).StripedToBlocked(striped);
    EXPECT("striped to blocked", striped[0] == 2 * rank && striped[1] == 2 * rank + 1);
}

__global__ void warp_collectives() {
    const int rank = threadIdx.x, lane = rank % warpSize;
    using Warp = own::cub::WarpReduce<int>;  // CUB_NS_PREFIX puts CUB into a namespace of the program's
    typename Warp::TempStorage storage;
    const int sum = Warp(storage).Sum(lane);
    EXPECT("warp sum", lane != 0 || sum == warpSize * (warpSize - 1) / 2);
    typename cub::WarpReduce<int, 8>::TempStorage eight;
    const int few = cub::WarpReduce<int, 8>(eight).Sum(1, 5);
    EXPECT("sum of 5 of 8 lanes", lane % 8 != 0 || few == 5);
    const int headed = Warp(storage).HeadSegmentedSum(1, lane % 4 == 0);
    EXPECT("segmented sum", lane % 4 != 0 || headed == 4);
    int scanned, aggregate;
    typename cub::WarpScan<int>::TempStorage scan;
    cub::WarpScan<int>(scan).ExclusiveSum(1, scanned, aggregate);
    EXPECT("warp scan", scanned == lane && aggregate == warpSize);

    const cg::thread_block block = cg::this_thread_block();
    const auto tile = cg::tiled_partition<32>(block);
    EXPECT("tile rank", tile.thread_rank() == rank % 32 && tile.meta_group_rank() == rank / 32);
    EXPECT("tiles of a block", tile.meta_group_size() == kThreads / 32);
    EXPECT("tile reduce", cg::reduce(tile, rank % 32, cg::plus<int>()) == 496);
    EXPECT("tile greatest", cg::reduce(tile, rank, cg::greater<int>()) == rank / 32 * 32 + 31);
    EXPECT("tile scan", cg::exclusive_scan(tile, 2) == rank % 32 * 2 && cg::inclusive_scan(tile, 1) == rank % 32 + 1);
    EXPECT("tile ballot", tile.ballot(rank % 2) == 0xaaaaaaaau);
    EXPECT("tile any and all", tile.any(rank % 32 == 5) && !tile.all(rank % 32 == 5));
    EXPECT("tile shuffles", tile.shfl_down(rank, 1) == (rank % 32 == 31 ? rank : rank + 1) && tile.shfl_xor(rank, 3) == (rank ^ 3));
    const auto quad = cg::tiled_partition<4>(tile);
    EXPECT("tile of a tile", quad.meta_group_rank() == rank % 32 / 4 && quad.shfl(rank, 2) == rank / 4 * 4 + 2);
    const cg::thread_group sixteen = cg::tiled_partition(block, 16);
    EXPECT("group of 16", sixteen.size() == 16 && sixteen.thread_rank() == rank % 16);
    const auto parity = cg::labeled_partition(tile, rank % 2);
    EXPECT("labelled", parity.size() == 16 && parity.thread_rank() == rank % 32 / 2);
    EXPECT("labelled reduce", cg::reduce(parity, 1, cg::plus<int>()) == 16);
    if (rank % 3 == 0) {
        const auto group = cg::coalesced_threads();
        const int first = group.shfl(rank, 0);
        EXPECT("coalesced", first == (rank / warpSize * warpSize + 2) / 3 * 3 && group.thread_rank() == (rank - first) / 3);
    }
    cg::this_grid().sync();

    const unsigned long long everyone = ~0ull;
    EXPECT("shuffle up", __shfl_up_sync(everyone, rank, 1) == (lane == 0 ? rank : rank - 1));
    EXPECT("shuffle within 8", __shfl_sync(everyone, rank, 11, 8) == rank / 8 * 8 + 3);
    EXPECT("ballot", __popcll(__ballot_sync(everyone, lane % 4 == 1)) == warpSize / 4);
    EXPECT("match", __popcll(__match_any_sync(everyone, lane / 16)) == 16);
    EXPECT("reduce", __reduce_max_sync(everyone, lane) == warpSize - 1);
    EXPECT("counting barrier", __syncthreads_count(rank < 10) == 10);
}

__global__ void atomics(float* sums, __half2* pair, unsigned int* ring, unsigned short* small) {
    atomicAdd(&sums[threadIdx.x % 4], 1.0f);
    atomicAdd(pair, __floats2half2_rn(1.0f, 0.5f));
    atomicInc(ring, 9);
    atomicMax((int*)ring + 1, int(threadIdx.x));
    atomicCAS(small, (unsigned short)threadIdx.x, (unsigned short)(threadIdx.x + 1));
    __syncthreads();
    EXPECT("atomicAdd float", sums[threadIdx.x % 4] == kThreads / 4);
    EXPECT("atomicAdd half2", __low2float(*pair) == kThreads && __high2float(*pair) == kThreads / 2);
    EXPECT("atomicInc", ring[0] == kThreads % 10);
    EXPECT("atomicMax", ring[1] == kThreads - 1);
    EXPECT("16-bit atomicCAS", *small == kThreads);
}

__global__ void matrix_product(const __half* a, const __half* b, float* c) {
    using namespace nvcuda;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::load_matrix_sync(left, a, 16);
    wmma::load_matrix_sync(right, b, 16);
    wmma::fill_fragment(sum, 1.0f);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}

__global__ void inline_ptx(float* values) {
    __shared__ float shared[kThreads];
    unsigned int lane, half_bits;
    float doubled, loaded, back;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    EXPECT("laneid", lane == threadIdx.x % warpSize);
    asm("{ .reg .pred p; setp.gt.f32 p, %1, 0f3f800000; selp.f32 %0, %1, 0f00000000, p; }" : "=f"(doubled) : "f"(2.0f));
    EXPECT("predicate", doubled == 2.0f);
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(half_bits) : "f"(2.0f), "f"(1.0f));
    EXPECT("cvt", half_bits == 0x40003c00u);
    const unsigned int address = (unsigned int)__cvta_generic_to_shared(&shared[threadIdx.x]);
    asm volatile("st.shared.f32 [%0], %1;" :: "r"(address), "f"(float(threadIdx.x)) : "memory");
    asm volatile("bar.sync 0;");
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(loaded) : "r"(address));
    EXPECT("shared address", loaded == threadIdx.x && shared[threadIdx.x ^ 1] == (threadIdx.x ^ 1));
    asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(back) : "l"(values + threadIdx.x));
    EXPECT("ld.global.nc", back == 7.0f);
}

int main() {
    float *values, *c;
    __half *a, *b;
    cudaMalloc(&values, kThreads * sizeof(float));
    cudaMalloc(&c, 256 * sizeof(float)), cudaMalloc(&a, 256 * sizeof(__half)), cudaMalloc(&b, 256 * sizeof(__half));
    block_collectives<<<1, kThreads>>>();
    warp_collectives<<<1, kThreads>>>();
    cudaMemset(values, 0, kThreads * sizeof(float));
    atomics<<<1, kThreads>>>(values, (__half2*)(values + 8), (unsigned int*)(values + 16), (unsigned short*)(values + 24));
    std::vector<float> sevens(kThreads, 7.0f), product(256);
    cudaMemcpy(values, sevens.data(), kThreads * sizeof(float), cudaMemcpyHostToDevice);
    inline_ptx<<<1, kThreads>>>(values);

    std::vector<__half> left(256), right(256);
    for (int i = 0; i < 256; ++i) left[i] = __float2half(float(i % 7)), right[i] = __float2half(float(i % 5));
    cudaMemcpy(a, left.data(), 512, cudaMemcpyHostToDevice), cudaMemcpy(b, right.data(), 512, cudaMemcpyHostToDevice);
    matrix_product<<<1, warpSize>>>(a, b, c);
    cudaMemcpy(product.data(), c, 1024, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 256; ++i) {
        float expected = 1.0f;
        for (int k = 0; k < 16; ++k) expected += __half2float(left[i / 16 * 16 + k]) * __half2float(right[i % 16 * 16 + k]);
        if (product[i] != expected) printf("matrix product %d\n", i);
    }
    int failed;
    cudaMemcpyFromSymbol(&failed, failures, sizeof failed);
    printf("%d failures, %s\n", failed, cudaGetErrorString(cudaGetLastError()));
    return 0;
}
