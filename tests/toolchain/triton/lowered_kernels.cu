// What CUDA kernels are made of, one feature or two a kernel; test_lowered_kernels.py says what each computes.
#include <cub/cub.cuh>
#include <cuda_runtime.h>

__global__ void scale(const float* x, float* y, int n, float factor) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    y[i] = v * factor + 1;
}

__global__ void grid_stride(const float* x, float* y, size_t n) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) y[i] = x[i] * 2;
}

__device__ float warp_sum(float v) {
#pragma unroll
    for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffff, v, o);
    return v;
}

__device__ float block_sum(float v, float* partial) {
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    v = warp_sum(v);
    __syncthreads();
    if (lane == 0) partial[warp] = v;
    __syncthreads();
    v = threadIdx.x < (blockDim.x + 31) / 32 ? partial[lane] : 0.0f;
    if (warp == 0) v = warp_sum(v);
    if (threadIdx.x == 0) partial[0] = v;
    __syncthreads();
    return partial[0];
}

__global__ void row_sums(const float* x, float* out, int cols) {
    __shared__ float partial[32];
    const float* row = x + blockIdx.x * cols;
    float sum = 0;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) sum += row[i];
    sum = block_sum(sum, partial);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

__global__ void row_max_shared(const float* x, float* out, int cols) {
    __shared__ float s[128];
    int tid = threadIdx.x;
    float best = -INFINITY;
    for (int i = tid; i < cols; i += blockDim.x) best = fmaxf(best, x[blockIdx.x * cols + i]);
    s[tid] = best;
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k >>= 1) {
        if (tid < k) s[tid] = fmaxf(s[tid], s[tid + k]);
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = s[0];
}

__global__ void softmax(const float* x, float* y, int cols) {
    __shared__ float partial[32];
    __shared__ float total;
    x += blockIdx.x * cols;
    y += blockIdx.x * cols;
    float sum = 0.f;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        y[i] = expf(x[i]);
        sum += y[i];
    }
    sum = block_sum(sum, partial);
    if (threadIdx.x == 0) total = 1.0 / sum;
    __syncthreads();
    for (int i = threadIdx.x; i < cols; i += blockDim.x) y[i] *= total;
}

__global__ void broken_sums(const int* starts, const float* v, float* out, int rows) {
    int r = threadIdx.x;
    if (r < rows) {
        float sum = 0;
        for (int j = starts[r]; j < starts[r + 1]; j++) {
            if (v[j] < -1) continue;
            if (v[j] > 1.5f) break;
            sum += v[j];
        }
        out[r] = sum;
    }
}

__global__ void spans(const int* starts, const float* v, float* out, int rows) {
    int r = threadIdx.x;
    if (r >= rows) return;
    float sum = 0;
    for (int j = starts[r]; j < starts[r + 1]; j += r + 1) {
        if (v[j] < -1) continue;
        sum += v[j];
    }
    for (int j = starts[r + 1] - 1; j >= starts[r]; --j) sum = sum * 0.5f + v[j];
    out[r] = sum;
}

// Whole quadruples, and a tail that only the last of the threads with work has; the others begin behind the end.
__global__ void tails(const float* x, float* y, float* z, float* w, int n, unsigned m, size_t k) {
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 3 < n) {
        for (int j = 0; j < 4; ++j) y[i + j] = x[i + j] + 1;
    } else {
        for (int j = i; j < n; ++j) y[j] += x[j];
    }
    unsigned u = 4u * (blockIdx.x * blockDim.x + threadIdx.x);
    if (u + 3u >= m) {
        for (unsigned j = u; j <= m - 1u; j += 2) z[j] += x[j];
    }
    size_t l = 4 * (size_t)(blockIdx.x * blockDim.x + threadIdx.x);
    if (l + 3 >= k) {
        for (size_t j = l; j < k; ++j) w[j] += x[j];
    }
}

__global__ void from_below_zero(const float* x, float* y, unsigned n) {
    for (unsigned i = threadIdx.x - 5u; i < n; i += blockDim.x) y[i] += x[i];
}

__global__ void strided(const float* x, float* sums, int* ends, size_t n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, first = i;
    float sum = 0;
    while (i < n) {
        sum += x[i];
        i += blockDim.x * gridDim.x;
    }
    sums[first] = sum;
    ends[first] = i;
}

__global__ void wide_index(const float* x, float* y, size_t n) {
    size_t first = blockIdx.x * blockDim.x + threadIdx.x;
    for (size_t i = first; i < n; i += (size_t)blockDim.x * gridDim.x) y[i] = x[i] * 2;
}

__global__ void widened(long long* y, long long offset) {
    y[threadIdx.x] = threadIdx.x - 7u + offset;
}

__global__ void collatz(const int* x, int* steps, int n) {
    int i = threadIdx.x;
    int value = x[i], count = 0;
    do {
        if (value == 1) break;
        value = value % 2 == 0 ? value / 2 : 3 * value + 1;
    } while (++count < 100);
    steps[i] = count;
}

__device__ int first_below(const float* row, int n, float limit) {
    for (int i = 0; i < n; ++i) {
        if (row[i] < limit) return i;
    }
    return -1;
}

__global__ void first_negative(const float* x, int* out, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows) out[r] = first_below(x + r * cols, cols, 0.f);
}

__global__ void division(const int* x, int* y) { y[threadIdx.x] = x[threadIdx.x] / 7 * 100 + x[threadIdx.x] % 7; }

__global__ void unsigned_wrap(const int* x, int* y) {
    unsigned v = x[threadIdx.x];
    v -= 3;
    y[threadIdx.x] = v / 2 % 1000u;
}

__global__ void choices(const int* x, int* y, int mode) {
    int i = threadIdx.x, r = 0;
    switch (abs(x[i]) % 4) {
        case 0: r += 1; break;
        case 1: r += 10;
        case 2: r += 100; break;
        default: r = 7;
    }
    switch (mode) {
        case 1: r = 0; break;
        case 2: r += 1000; break;
    }
    y[i] = r;
}

__device__ void swap_if(float& a, float& b) {
    if (a > b) {
        float t = a;
        a = b;
        b = t;
    }
}

__global__ void sorted_four(const float* x, float* y, int n) {
    int i = threadIdx.x;
    if (i >= n) return;
    float v[4];
#pragma unroll
    for (int k = 0; k < 4; k++) v[k] = x[i * 4 + k];
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3 - a; b++) swap_if(v[b], v[b + 1]);
    for (int k = 0; k < 4; k++) y[i * 4 + k] = v[k];
}

__global__ void picked(const float* x, const int* which, float* y) {
    int i = threadIdx.x;
    float window[5];
    for (int k = 0; k < 5; k++) window[k] = x[i + k];
    y[i] = window[which[i] % 5];
}

__global__ void first_of_a_warp(const float* x, float* y) {
    __shared__ float s[64];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    float v = s[63 - threadIdx.x];
    __syncthreads();
    if (threadIdx.x < 32) {
        v += 1.f;
        if (threadIdx.x == 0) s[0] = v;
    }
    __syncthreads();
    y[threadIdx.x] = s[threadIdx.x];
}
__global__ void transpose(const float* in, float* out, int width, int height) {
    __shared__ float tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < width && y < height) tile[threadIdx.y][threadIdx.x] = in[y * width + x];
    __syncthreads();
    x = blockIdx.y * 16 + threadIdx.x;
    y = blockIdx.x * 16 + threadIdx.y;
    if (x < height && y < width) out[y * height + x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void histogram(const int* x, int* bins, int n) {
    __shared__ int local[40];
    for (int b = threadIdx.x; b < 40; b += blockDim.x) local[b] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&local[x[i]], 1);
    __syncthreads();
    if (threadIdx.x < 40) atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

__global__ void scan(const float* x, float* y) {
    __shared__ float buffer[2 * 64];
    int tid = threadIdx.x, out = 0, in = 1;
    buffer[tid] = x[tid];
    __syncthreads();
    for (int offset = 1; offset < 64; offset *= 2) {
        out = 1 - out;
        in = 1 - out;
        if (tid >= offset)
            buffer[out * 64 + tid] = buffer[in * 64 + tid] + buffer[in * 64 + tid - offset];
        else
            buffer[out * 64 + tid] = buffer[in * 64 + tid];
        __syncthreads();
    }
    y[tid] = buffer[out * 64 + tid];
}

__global__ void votes(const int* x, int* y) {
    unsigned ballot = __ballot_sync(0xffffffff, x[threadIdx.x] > 0);
    y[threadIdx.x] = __popc(ballot) + (__any_sync(0xffffffff, x[threadIdx.x] > 0) ? 100 : 0);
}

__global__ void tickets(int* counter, int* seen) {
    int mine = atomicAdd(counter, 1);
    seen[mine] = 1;
}

__global__ void vectors(const float* x, float* y, int n) {
    int i = threadIdx.x;
    if (i < n) {
        float4 v = reinterpret_cast<const float4*>(x)[i];
        const float* parts = reinterpret_cast<const float*>(&v);
        float best = 0.f;
        for (int k = 0; k < 4; k++) best = fmaxf(best, fabsf(parts[k]));
        y[i] = best;
    }
}

__global__ void rows_of_vectors(const float4* x, const float* s, float4* y, float* sums, int n) {
    int first = threadIdx.x * 4;
    float sum = 0.f, most = 0.f;
    for (int k = 0; k < 4; k++) {
        int i = first + k;
        if (i < n) {
            float4 v = x[i], w = v;
            float by = s[i];
            v.x = v.x > 0 ? v.x * by : 0.1f * w.x;
            v.y = v.y > 0 ? v.y * by : 0.1f * w.y;
            v.z = v.z > 0 ? v.z * by : 0.1f * w.z;
            v.w = v.w > 0 ? v.w * by : 0.1f * w.w;
            sum += fabsf(v.x) + fabsf(v.y) + fabsf(v.z) + fabsf(v.w);
            most = fmaxf(most, w.x);
            most = fmaxf(most, w.y);
            most = fmaxf(most, w.z);
            most = fmaxf(most, w.w);
            y[i] = v;
        }
    }
    sums[2 * threadIdx.x] = sum;
    sums[2 * threadIdx.x + 1] = most;
}

__global__ void compacted(const float* x, float* y, int* count, int n) {
    __shared__ int kept;
    if (threadIdx.x == 0) kept = 0;
    __syncthreads();
    if (x[threadIdx.x] > 0) atomicAdd(&kept, 1);
    __syncthreads();
    if (threadIdx.x == 0) *count = kept;
}

__global__ void reversed(const float* x, float* y) {
    extern __shared__ float s[];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}

__global__ void search(const float* sorted, const float* x, int* at, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int low = 0, high = n;
    while (low < high) {
        int middle = (low + high) >> 1;
        if (sorted[middle] < x[i])
            low = middle + 1;
        else
            high = middle;
    }
    at[i] = low;
}

struct Seen {
    float sum;
    float best;
    __device__ void add(float v) {
        sum += v;
        best = v > best ? v : best;
    }
};

__device__ Seen joined(const Seen& a, const Seen& b) { return {a.sum + b.sum, fmaxf(a.best, b.best)}; }

template <typename T>
__device__ T exchanged(T v, int lanes) {
    return T{__shfl_xor_sync(0xffffffffu, v.sum, lanes), __shfl_xor_sync(0xffffffffu, v.best, lanes)};
}

__global__ void struct_sums(const float* x, float* means, float* bests, int cols) {
    Seen seen = {0.f, -1e30f};
    for (int i = threadIdx.x; i < cols; i += 32) seen.add(x[blockIdx.x * cols + i]);
    for (int lanes = 16; lanes > 0; lanes /= 2) seen = joined(seen, exchanged(seen, lanes));
    if (threadIdx.x == 0) {
        means[blockIdx.x] = seen.sum / cols;
        bests[blockIdx.x] = seen.best;
    }
}

__global__ void guarded(const float* x, float* y, int n) {
    int i = threadIdx.x;
    const bool inside = i < n && x[i] == x[i];
    float next = inside ? x[i + 1] : 0.f;
    if (inside || false) y[i] = next - x[i];
}

__global__ void powers(long long* y) {
    unsigned long long base = 3, result = 1;
    for (unsigned int e = threadIdx.x; e; e >>= 1) {
        if (e & 1) result *= base;
        base *= base;
    }
    y[threadIdx.x] = (long long)result;
}

__global__ void swapped(float2* x, int n) {
    float2 v = x[threadIdx.x];
    v = make_float2(v.y, v.x);
    for (int i = 0; i < n; i++) v = {v.y + 1, v.x};
    x[threadIdx.x] = v;
}

__global__ void relaxed(float* x, int rounds) {
    int i = threadIdx.x;
    for (int r = 0; r < rounds; r++) {
        float left = i > 0 ? x[i - 1] : 0.f, right = i < 63 ? x[i + 1] : 0.f;
        __syncthreads();
        x[i] = (left + right) / 2;
        __syncthreads();
    }
}

__global__ void unzipped(const int* keys, int* out, int* total) {
    __shared__ int next, last;
    if (threadIdx.x == 0) {
        next = 0;
        last = 63;
    }
    __syncthreads();
    int at = keys[threadIdx.x] % 2 == 0 ? atomicAdd(&next, 1) : atomicSub(&last, 1);
    out[at] = keys[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) total[0] = next;
}

__global__ void scattered(const int* to, const int* x, int* y) {
    __shared__ int held[8192];
    held[to[threadIdx.x] * 128] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = held[threadIdx.x * 128];
}

__device__ float max_of(float* address, float val) {
    int* address_as_i = (int*)address;
    int old = *address_as_i, assumed;
    do {
        assumed = old;
        old = ::atomicCAS(address_as_i, assumed, __float_as_int(::fmaxf(val, __int_as_float(assumed))));
    } while (assumed != old);
    return __int_as_float(old);
}
__global__ void swapped_in(const float* x, float* best, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) max_of(best + (i & 1), x[i]);
}
struct Nearest {
    template <class T> __device__ T operator()(const T& a, const T& b) const { return min(a, b); }
};
__global__ void own_operations(const float* x, float* y, int n) {
    typedef cub::BlockReduce<float, 64> Reduce;
    __shared__ typename Reduce::TempStorage temp;
    float v = threadIdx.x < n ? x[threadIdx.x] : 2.0f;
    float least = Reduce(temp).Reduce(v, Nearest());
    __syncthreads();
    float most = Reduce(temp).Reduce(v, [] __device__(float a, float b) { return fmaxf(b, a); });
    if (threadIdx.x == 0) y[0] = least, y[1] = most;
}
__global__ void collectives(const float* x, float* y, int* z, int n) {
    typedef cub::BlockReduce<float, 64> BlockReduce;
    using Scan = cub::BlockScan<int, 64>;
    __shared__ typename BlockReduce::TempStorage temp;
    __shared__ Scan::TempStorage scan_temp;
    __shared__ float total;
    float v = threadIdx.x < n ? x[threadIdx.x] : 0.f;
    float s = BlockReduce(temp).Sum(v);
    __syncthreads();
    float m = BlockReduce(temp).Reduce(v, cub::Max());
    if (threadIdx.x == 0) total = s + m;
    __syncthreads();
    int at;
    Scan(scan_temp).ExclusiveSum(v > 0 ? 1 : 0, at);
    y[threadIdx.x] = v / total;
    z[threadIdx.x] = at;
}

__global__ void column_sums(const float* x, float* sums, int rows, int cols) {
    extern __shared__ float held[];
    float* totals = held + cols;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) totals[c] = 0;
    __syncthreads();
    for (int r = warp; r < rows; r += blockDim.x / 32)
        for (int c = lane; c < cols; c += 32) atomicAdd(&totals[c], x[r * cols + c]);
    __syncthreads();
    for (int c = threadIdx.x; c < cols; c += blockDim.x) sums[c] = totals[c];
}

__global__ void folded(const float* x, float* y) {
    __shared__ float buffer[128];
    float sum = x[threadIdx.y * blockDim.x + threadIdx.x];
    for (int offset = blockDim.y / 2; offset >= 1; offset /= 2) {
        if (threadIdx.y >= offset && threadIdx.y < 2 * offset) {
            const int at = (threadIdx.y - offset) * blockDim.x + threadIdx.x;
            buffer[at] = sum;
        }
        __syncthreads();
        if (threadIdx.y < offset) sum += buffer[threadIdx.y * blockDim.x + threadIdx.x];
        __syncthreads();
    }
    if (threadIdx.y == 0) y[threadIdx.x] = sum;
}

__global__ void sent(const int* x, const int* to, int* y) {
    extern __shared__ int s[];
    s[to[threadIdx.x]] = x[threadIdx.x];
    __syncthreads();
    y[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x];
}

__global__ void led(const float* x, float* y) {
    __shared__ float first[32], last[32];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    if (lane == 0) first[warp] = x[threadIdx.x];
    if (lane == 31) last[warp] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = x[threadIdx.x] - first[warp] + (threadIdx.x < 32 ? last[0] : 0.0f);
}

__global__ void masked_by_bytes(float* out, const float* x, const uint8_t* keep, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint32_t four = reinterpret_cast<const uint32_t*>(keep)[i];
  uint8_t* each = reinterpret_cast<uint8_t*>(&four);
  float4 v = ((const float4*)x)[i];
  v.x *= each[0]; v.y *= each[1]; v.z *= each[2]; v.w *= each[3];
  ((float4*)out)[i] = v;
}

__global__ void packed_bytes(const int* x, int* out) {
  int word = -1;
  int8_t* bytes = reinterpret_cast<int8_t*>(&word);
  for (int j = 0; j < 3; j++) bytes[j] = (int8_t)(x[threadIdx.x] + j);
  out[threadIdx.x] = word;
}

__global__ void either(const float* a, const float* b, float* out, int n) {
  int i = threadIdx.x;
  const float4* from = nullptr;
  if (i < n) {
    from = (const float4*)a;
  } else {
    i -= n;
    from = (const float4*)b;
  }
  from += i;
  ((float4*)out)[threadIdx.x] = from[0];
}

__global__ void in_pairs_where_aligned(const float* x, float* out, int n) {
  const float* row = x + blockIdx.x * n;
  float* to = out + blockIdx.x * n;
  bool aligned = (reinterpret_cast<uintptr_t>(row) & 7) == 0 && reinterpret_cast<uintptr_t>(to) % 8 == 0;
  const float2* pairs = aligned ? reinterpret_cast<const float2*>(row) : nullptr;
  float2* pairs_to = aligned ? reinterpret_cast<float2*>(to) : NULL;
  int whole = aligned ? n / 2 : 0;
  for (int i = threadIdx.x; i < whole; i += blockDim.x) pairs_to[i] = make_float2(pairs[i].x + 1.0f, pairs[i].y + 1.0f);
  for (int i = whole * 2 + threadIdx.x; i < n; i += blockDim.x) to[i] = row[i] - 1.0f;
}

__global__ void clipped_halves(const __half* x, __half* out) {
  float4 v;
  __half2* pairs;
  v = ((const float4*)x)[threadIdx.x];
  pairs = reinterpret_cast<__half2*>(&v);
  for (int j = 0; j < 4; j++) {
    if (__half2float(pairs[j].x) < 0.0f) pairs[j].x = __float2half(0.0f);
    pairs[j].y = __float2half(2.0f * __half2float(pairs[j].y));
  }
  ((float4*)out)[threadIdx.x] = v;
}

template <typename T> __device__ T rsqrt(T v) { return T(1) / sqrt(v); }
template <> __device__ float rsqrt(float v) { return rsqrt(v); }

__global__ void stored(const float* x, float* out) {
  typedef typename std::aligned_storage<4 * sizeof(float), 4 * alignof(float)>::type Four;
  float v[4];
  *reinterpret_cast<Four*>(&v) = reinterpret_cast<const Four*>(x)[threadIdx.x];
  float sum = 0;
  for (int j = 0; j < 4; j++) sum += v[j] * v[j];
  out[threadIdx.x] = rsqrt(sum);
}

__global__ void moved_by_blocks(const float* x, float* out, int n) {
  typedef cub::BlockLoad<float, 64, 3, cub::BLOCK_LOAD_VECTORIZE> Load;
  typedef cub::BlockStore<float, 64, 3, cub::BLOCK_STORE_STRIPED> Store;
  __shared__ typename Load::TempStorage load_storage;
  __shared__ typename Store::TempStorage store_storage;
  float items[3];
  Load(load_storage).Load(x, items, n, -1.0f);
  for (int i = 0; i < 3; i++) items[i] *= 2;
  Store(store_storage).Store(out, items, n);
}

__global__ void strided_2d(const float* x, float* y, int rows, int columns) {
    float sum = 0;
    for (int row = threadIdx.y; row < rows; row += blockDim.y)
        for (int column = threadIdx.x; column < columns; column += blockDim.x) sum += x[row * columns + column];
    y[threadIdx.y * blockDim.x + threadIdx.x] = sum;
}

__global__ void from_bytes(const __nv_fp8_storage_t* x, __half* small, __half* wide) {
  small[threadIdx.x] = __nv_cvt_fp8_to_halfraw(x[threadIdx.x], __NV_E4M3);
  wide[threadIdx.x] = __nv_cvt_fp8_to_halfraw(x[threadIdx.x], __NV_E5M2);
}

__global__ void to_bytes(const float* x, __nv_fp8_storage_t* small, __nv_fp8_storage_t* wide) {
  int i = threadIdx.x;
  small[i] = __nv_cvt_float_to_fp8(x[i], __NV_NOSAT, __NV_E4M3);
  wide[i] = __nv_cvt_float_to_fp8(x[i], __NV_NOSAT, __NV_E5M2);
  small[256 + i] = __nv_cvt_float_to_fp8(x[i], __NV_SATFINITE, __NV_E4M3);
  wide[256 + i] = __nv_cvt_float_to_fp8(x[i], __NV_SATFINITE, __NV_E5M2);
}

// The classes: from float, half and double, four at a time, to wider ones, and by the bits.
__global__ void coded(const float* x, const double* exact, __nv_fp8_e4m3* small, __nv_fp8_e5m2* wide, float* back,
                      unsigned char* bits) {
  int i = threadIdx.x;
  __nv_fp8_e4m3 one(x[i]);
  small[i] = one;
  wide[i] = static_cast<__nv_fp8_e5m2>(x[i]);
  wide[256 + i] = __nv_fp8_e5m2(exact[i]);
  back[i] = float(one) + static_cast<float>(wide[i]);
  bits[i] = one.__x ^ 0x80;
  if (i < 64) {
    __nv_fp8x4_e4m3 four(reinterpret_cast<const float4*>(x)[i]);
    reinterpret_cast<__nv_fp8x4_e4m3*>(small + 256)[i] = four;
    float4 v = static_cast<float4>(four);
    back[256 + i] = v.x + v.w;
  }
}

template <typename T>
__device__ T added(T* s, T value) {
    s[threadIdx.x] = value;
    __syncthreads();
    return s[threadIdx.x] + s[0];
}

__global__ void recast(const float* x, float* y) {
    __shared__ int s[64];
    y[threadIdx.x] = added((float*)s, x[threadIdx.x]);
}

__global__ void assembled(const float* x, float* out, int* below, int n) {
  int i = threadIdx.x;
  float v;
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %2, 0; mov.b32 %0, 0f00000000; @p ld.global.f32 %0, [%1]; }"
               : "=f"(v) : "l"(x + i), "r"((int)(i < n)));
  asm volatile("tanh.approx.f32 %0, %1;" : "=f"(v) : "f"(v));
  asm volatile("st.global.f32 [%0], %1;" ::"l"(out + i), "f"(v));
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below[i]));
}

__global__ void united(const __half* x, float4* out, int* words, const float* y) {
  int i = threadIdx.x;
  union { float4 whole; __half part[8]; } u;
  for (int j = 0; j < 8; j++) u.part[j] = __float2half(__half2float(x[8 * i + j]) * 2.0f);
  out[i] = u.whole;
  union Word { int word; int8_t byte[4]; };
  Word w;
  w.word = 0x01020304;
  w.byte[2] = (int8_t)y[i];
  words[i] = w.word;
}

union Halves {
  uint32_t word;
  __half2 pair;
  __device__ Halves(uint32_t v) : word(v) {}
  __device__ Halves(__half2 v) : pair(v) {}
};
union Sign { float value; uint32_t word; };
__device__ float negated(Sign s) { s.word ^= 0x80000000u; return s.value; }
__global__ void made_unions(const __half2* x, __half2* swapped, float* minus) {
  Halves p = Halves(x[threadIdx.x]);
  Halves q((p.word << 16) | (p.word >> 16));
  swapped[threadIdx.x] = q.pair;
  Sign s{__low2float(q.pair)};
  minus[threadIdx.x] = negated(s);
}

__device__ int16_t packed_pair(int8_t low, int8_t high) {
  union { int8_t bytes[2]; int16_t both; };
  bytes[0] = low;
  bytes[1] = high;
  return both;
}

template <typename T> struct Scale {
  static constexpr float factor = 2.0f;
  __device__ T operator()(T x) const { return x * factor; }
};
template <> struct Scale<double> {
  static constexpr float factor = 3.0f;
  Scale<float> inner;
  __device__ Scale() {}
  __device__ double operator()(double x) const { return inner((float)x) * factor; }
};

__global__ void pairs(const int* x, short* out, float* scaled) {
  Scale<double> scale;
  out[threadIdx.x] = packed_pair((int8_t)x[threadIdx.x], (int8_t)-3);
  scaled[threadIdx.x] = (float)scale((double)x[threadIdx.x]);
}

// Loops that index registers and are left early, by some lanes or for good.
__global__ void left_early(const float* x, float* tail, float* roots, int n) {
  float held[8];
  int base = threadIdx.x * 4;
  for (int i = 0; i < 8; i++) held[i] = x[(base + i) % 200];
  for (int i = 0; i < 8; i += 4) {
    if (base + i * 64 < n) {
      for (int k = 0; k < 4; k++) tail[base + i * 64 + k] = held[i + k] + i;
    } else {
      break;
    }
  }
  for (int i = 0; i < 4; i++) {
    if (held[i] < -1.0f) return;
    roots[base + i] = held[i] + 2.0f;
  }
  roots[base] += 100.0f;
}

template <typename T, int N> struct Packed {
  union { T elem[N]; };
  __device__ Packed(T value) {
    for (int i = 0; i < N; i++) elem[i] = value;
  }
  __device__ void operator+=(Packed<T, N> other) {
    for (int i = 0; i < N; i++) elem[i] += other.elem[i];
  }
};
template <typename T> struct Spread {
  struct { T low; T high; };
};
template <typename T> __device__ Spread<T>& operator|=(Spread<T>& self, T value) {
  self.low = min(self.low, value);
  self.high = max(self.high, value);
  return self;
}

__global__ void packed(const float* x, float* sums, float* spread) {
  Packed<float, 4> sum(1.0f);
  Spread<float> range = {0.0f, 0.0f};
  for (int k = 0; k < 2; k++) {
    sum += reinterpret_cast<const Packed<float, 4>*>(x)[threadIdx.x + 64 * k];
    range |= x[threadIdx.x + 64 * k];
  }
  sums[threadIdx.x] = sum.elem[0] + sum.elem[1] + sum.elem[2] + sum.elem[3];
  spread[threadIdx.x] = range.high - range.low;
}

// Counters that begin again, and two numbers added at once where a pointer's low bits say.
__global__ void counted(unsigned* up, unsigned* down, unsigned* ticket, unsigned* seen) {
  __shared__ unsigned mine;
  if (threadIdx.x % 2 == 0) atomicInc(&up[threadIdx.x % 4], 5);
  atomicDec(down, 6u);
  if (threadIdx.x == 0) mine = atomicInc(ticket, gridDim.x);
  __syncthreads();
  if (threadIdx.x == 1) seen[blockIdx.x] = mine;
}

__global__ void added_in_pairs(__half* sums, const __half* x, float2* whole) {
  __half* target = sums + threadIdx.x % 6;
  size_t bits = reinterpret_cast<size_t>(target);
  __half2* pair = reinterpret_cast<__half2*>(bits & ~size_t(3));
  __half zero = __float2half(0.0f);
  atomicAdd(pair, bits & 3 ? __halves2half2(zero, x[threadIdx.x]) : __halves2half2(x[threadIdx.x], zero));
  atomicAdd(whole, make_float2(1.0f, __half2float(x[threadIdx.x])));
}

// CUB's reduction of a block by operations of the source's own; the second is not commutative.
struct Best {
  float value;
  int at;
};
struct Better {
  __device__ Best operator()(const Best& a, const Best& b) const { return b.value > a.value ? b : a; }
};
struct Line {
  float slope, start;
};

__global__ void own_folds(const float* x, float* highest, int* at, float* line, int n) {
  typedef cub::BlockReduce<Best, 96> Reduce;
  __shared__ typename Reduce::TempStorage storage;
  Best mine = {x[threadIdx.x], (int)threadIdx.x};
  Best best = Reduce(storage).Reduce(mine, Better());
  __shared__ typename cub::BlockReduce<Line, 96>::TempStorage lines;
  Line step = {1.0f + 0.01f * x[threadIdx.x], x[threadIdx.x]};
  auto after = [] __device__(Line f, Line g) { return Line{f.slope * g.slope, g.slope * f.start + g.start}; };
  Line all = cub::BlockReduce<Line, 96>(lines).Reduce(step, after, n);
  if (threadIdx.x == 0) {
    *highest = best.value;
    *at = best.at;
    line[0] = all.slope;
    line[1] = all.start;
  }
}

// Both sides of each condition store to one place: one store a place, of a choice.
__global__ void joined(const float* x, float* y, int* signs, int n) {
  int i = threadIdx.x;
  float v = x[i];
  if (v > 1.0f) {
    signs[i] = 2;
  } else if (v < 0.0f) {
    v = -v;
    signs[i] = v;
  } else {
    signs[i] = n;
  }
  if (i >= n) return;
  if (v > 0.5f) {
    y[i] = v;
    v = 0.0f;
  } else {
    float w = x[i + 64] * v;
    y[i] = w;
  }
  if (v > 0.0f) {
    y[i + 64] = v;
    return;
  }
  y[i + 64] = x[i] - v;
}

// Windows that borders cut off, of as many elements as the text says, and of fewer.
__global__ void windows(const float* x, float* y, int n, int size) {
  const int i = threadIdx.x;
  const int low = i * 2 - 3;
  const int from = max(low, 0), to = min(low + size, n);
  float sum = 0.0f;
  for (int w = from; w < to; ++w) {
    for (int v = max(w - 1, 0); v < min(w - 1 + 3, n); ++v) sum += x[v];
  }
  y[i] = sum;
}

__global__ void turned(const float* x, float* y) {
  __shared__ float sines[64], cosines[64];
  float own[2];
  int i = threadIdx.x;
  sincosf(x[i], &sines[i], cosines + i);
  sincosf(x[i] * 2.0f, own, own + 1);
  __syncthreads();
  y[i] = sines[63 - i] + 3.0f * cosines[63 - i] + 5.0f * own[0] + 7.0f * own[1];
}
