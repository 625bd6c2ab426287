//: Pack
// Neighbours that are moved at once.
template <typename T, int kCount>
struct alignas(sizeof(T) * kCount) Pack {
    T values[kCount];
};

//: each
// How many lanes of an axis a thread has; where lanes are fewer than threads, one that may be beyond the end.
constexpr int each(int extent, int threads) { return extent < threads ? 1 : extent / threads; }

//: whole
// A float as a whole number, as a device converts: NaN is 0, and what is too large the largest there is.
template <typename T>
__device__ __forceinline__ int64_t whole(T x) {
    constexpr T kMost = static_cast<T>(9.2e18);
    return x == x ? static_cast<int64_t>(x < -kMost ? -kMost : x > kMost ? kMost : x) : 0;
}

//: count
// How many lanes of a tile lie inside of what is left.
template <int kExtent>
__device__ __forceinline__ int count(int64_t left) {
    return left < kExtent ? static_cast<int>(left) : kExtent;
}

//: quotient
// The quotient of a block's number, or of a part of it: both have room in 32 bits, where a division takes fewer steps.
__device__ __forceinline__ int64_t quotient(int64_t above, int64_t below) {
    return static_cast<uint32_t>(above) / static_cast<uint32_t>(below);
}

//: rest
// What is left of a block's number in that division.
__device__ __forceinline__ int64_t rest(int64_t above, int64_t below) {
    return static_cast<uint32_t>(above) % static_cast<uint32_t>(below);
}

//: lane
// The lane of a thread's element `i`: kVector neighbours for each of the threads, then the next for each.
template <int kThreads, int kVector>
__device__ __forceinline__ int lane(int thread, int i) {
    return (i / kVector * kThreads + thread) * kVector + i % kVector;
}

//: load Pack lane
// Loads a thread's elements of the `count` at `from`, `other` beyond, with at most 16 bytes at once.
template <int kThreads, int kVector, int kPack, typename T, int kEach, typename Element>
__device__ __forceinline__ void load(T (&x)[kEach], const Element* from, int thread, int count, T other) {
    constexpr int kWidth = kPack * sizeof(Element) > 16 ? 16 / sizeof(Element) : kPack;
#pragma unroll
    for (int i = 0; i < kEach; i += kWidth) {
        const int at = lane<kThreads, kVector>(thread, i);
        if (at + kWidth <= count) {
            const auto pack = *reinterpret_cast<const Pack<Element, kWidth>*>(from + at);
#pragma unroll
            for (int k = 0; k < kWidth; ++k) x[i + k] = static_cast<T>(pack.values[k]);
        } else {
#pragma unroll
            for (int k = 0; k < kWidth; ++k) x[i + k] = at + k < count ? static_cast<T>(from[at + k]) : other;
        }
    }
}

//: store Pack lane
// Stores a thread's elements of the `count` at `to`, with at most 16 bytes at once.
template <int kThreads, int kVector, int kPack, typename T, int kEach, typename Element>
__device__ __forceinline__ void store(Element* to, const T (&x)[kEach], int thread, int count) {
    constexpr int kWidth = kPack * sizeof(Element) > 16 ? 16 / sizeof(Element) : kPack;
#pragma unroll
    for (int i = 0; i < kEach; i += kWidth) {
        const int at = lane<kThreads, kVector>(thread, i);
        if (at + kWidth <= count) {
            Pack<Element, kWidth> pack;
#pragma unroll
            for (int k = 0; k < kWidth; ++k) pack.values[k] = static_cast<Element>(x[i + k]);
            *reinterpret_cast<Pack<Element, kWidth>*>(to + at) = pack;
        } else {
#pragma unroll
            for (int k = 0; k < kWidth; ++k) {
                if (at + k < count) to[at + k] = static_cast<Element>(x[i + k]);
            }
        }
    }
}

//: Sum
struct Sum {
    template <typename T>
    __device__ __forceinline__ T operator()(T a, T b) const { return a + b; }
};

//: Product
struct Product {
    template <typename T>
    __device__ __forceinline__ T operator()(T a, T b) const { return a * b; }
};

//: Maximum
struct Maximum {
    __device__ __forceinline__ float operator()(float a, float b) const { return fmaxf(a, b); }
    __device__ __forceinline__ double operator()(double a, double b) const { return fmax(a, b); }
    __device__ __forceinline__ int operator()(int a, int b) const { return a < b ? b : a; }
    __device__ __forceinline__ int64_t operator()(int64_t a, int64_t b) const { return a < b ? b : a; }
};

//: Minimum
struct Minimum {
    __device__ __forceinline__ float operator()(float a, float b) const { return fminf(a, b); }
    __device__ __forceinline__ double operator()(double a, double b) const { return fmin(a, b); }
    __device__ __forceinline__ int operator()(int a, int b) const { return b < a ? b : a; }
    __device__ __forceinline__ int64_t operator()(int64_t a, int64_t b) const { return b < a ? b : a; }
};

//: Larger
struct Larger {
    template <typename T>
    __device__ __forceinline__ bool operator()(T a, T b) const { return a > b; }
};

//: Smaller
struct Smaller {
    template <typename T>
    __device__ __forceinline__ bool operator()(T a, T b) const { return a < b; }
};

//: wave
constexpr unsigned long long kWave = ~0ull;  // all lanes of a wave, of which no block has a part
constexpr int kNarrowest = 32;               // lanes of a wave, of which some devices have 64

//: fold wave
// Combines what the threads of a block have, for all of them: lanes meet by shuffles, waves in a slot each. Their
// number is a power of two, no larger than that of lanes, so that the slots meet by shuffles, too.
template <int kThreads, typename T, typename Combine>
__device__ __forceinline__ T fold(T x, Combine combine) {
    __shared__ T slots[kThreads / kNarrowest];
    const int waves = kThreads / warpSize;
    for (int offset = warpSize / 2; offset > 0; offset /= 2) {
        x = combine(x, __shfl_xor_sync(kWave, x, offset, warpSize));
    }
    if (threadIdx.x % warpSize == 0) slots[threadIdx.x / warpSize] = x;
    __syncthreads();
    x = slots[threadIdx.x % waves];
    for (int offset = waves / 2; offset > 0; offset /= 2) {
        x = combine(x, __shfl_xor_sync(kWave, x, offset, warpSize));
    }
    __syncthreads();
    return x;
}

//: fold_rows
// Combines what the threads of each row have, for all of them.
template <int kRowThreads, int kColumnThreads, typename T, int kEach, typename Combine>
__device__ __forceinline__ void fold_rows(T (&x)[kEach], int row_thread, int column_thread, Combine combine) {
    __shared__ T slots[kColumnThreads][kEach][kRowThreads];
#pragma unroll
    for (int i = 0; i < kEach; ++i) slots[column_thread][i][row_thread] = x[i];
    __syncthreads();
    for (int step = kColumnThreads / 2; step > 0; step /= 2) {
        if (column_thread < step) {
#pragma unroll
            for (int i = 0; i < kEach; ++i) {
                T& mine = slots[column_thread][i][row_thread];
                mine = combine(mine, slots[column_thread + step][i][row_thread]);
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < kEach; ++i) x[i] = slots[0][i][row_thread];
    __syncthreads();
}

//: place wave
// Returns the first place of the best key that threads of a block have.
template <int kThreads, typename T, typename Better>
__device__ __forceinline__ int place(T key, int at, Better better) {
    __shared__ T keys[kThreads / kNarrowest];
    __shared__ int places[kThreads / kNarrowest];
    const int waves = kThreads / warpSize;
    const auto meet = [&](int offset) {
        const T other = __shfl_xor_sync(kWave, key, offset, warpSize);
        const int there = __shfl_xor_sync(kWave, at, offset, warpSize);
        if (better(other, key) || (other == key && there < at)) {
            key = other;
            at = there;
        }
    };
    for (int offset = warpSize / 2; offset > 0; offset /= 2) meet(offset);
    if (threadIdx.x % warpSize == 0) {
        keys[threadIdx.x / warpSize] = key;
        places[threadIdx.x / warpSize] = at;
    }
    __syncthreads();
    key = keys[threadIdx.x % waves];
    at = places[threadIdx.x % waves];
    for (int offset = waves / 2; offset > 0; offset /= 2) meet(offset);
    __syncthreads();
    return at;
}

//: place_rows
// Finds the first place of the best key that the threads of each row have.
template <int kRowThreads, int kColumnThreads, typename T, int kEach, typename Better>
__device__ __forceinline__ void place_rows(const T (&key)[kEach], int (&at)[kEach], int row_thread, int column_thread,
                                           Better better) {
    __shared__ T keys[kColumnThreads][kEach][kRowThreads];
    __shared__ int places[kColumnThreads][kEach][kRowThreads];
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
        keys[column_thread][i][row_thread] = key[i];
        places[column_thread][i][row_thread] = at[i];
    }
    __syncthreads();
    for (int step = kColumnThreads / 2; step > 0; step /= 2) {
        if (column_thread < step) {
#pragma unroll
            for (int i = 0; i < kEach; ++i) {
                T& mine = keys[column_thread][i][row_thread];
                int& here = places[column_thread][i][row_thread];
                const T other = keys[column_thread + step][i][row_thread];
                const int there = places[column_thread + step][i][row_thread];
                if (better(other, mine) || (other == mine && there < here)) {
                    mine = other;
                    here = there;
                }
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < kEach; ++i) at[i] = places[0][i][row_thread];
    __syncthreads();
}

//: run wave
// Makes each element of a tile the combination of all up to it, or of all before it, within threads, then lanes, waves
// and packs; returns that of all.
template <int kThreads, int kVector, bool kExclusive, typename T, int kEach, typename Combine>
__device__ __forceinline__ T run(T (&x)[kEach], T start, Combine combine) {
    constexpr int kPacks = kEach / kVector;
    __shared__ T slots[kPacks][kThreads / kNarrowest];
    const int lane = threadIdx.x % warpSize, own = threadIdx.x / warpSize;
    T before[kPacks];  // what the wave has before this thread's pack
#pragma unroll
    for (int pack = 0; pack < kPacks; ++pack) {
#pragma unroll
        for (int i = pack * kVector + 1; i < (pack + 1) * kVector; ++i) x[i] = combine(x[i - 1], x[i]);
        T through = x[(pack + 1) * kVector - 1];
        for (int offset = 1; offset < warpSize; offset *= 2) {
            const T other = __shfl_up_sync(kWave, through, offset, warpSize);
            if (lane >= offset) through = combine(other, through);
        }
        const T other = __shfl_up_sync(kWave, through, 1, warpSize);
        before[pack] = lane > 0 ? other : start;
        if (lane == warpSize - 1) slots[pack][own] = through;
    }
    __syncthreads();
    T carried = start;
#pragma unroll
    for (int pack = 0; pack < kPacks; ++pack) {
        for (int wave = 0; wave < kThreads / warpSize; ++wave) {
            if (wave == own) before[pack] = combine(carried, before[pack]);
            carried = combine(carried, slots[pack][wave]);
        }
#pragma unroll
        for (int i = (pack + 1) * kVector - 1; i >= pack * kVector; --i) {
            const int last = i - kExclusive;
            x[i] = last < pack * kVector ? before[pack] : combine(before[pack], x[last]);
        }
    }
    __syncthreads();
    return carried;
}

//: run_back wave
// Makes each element of a tile the combination of all from it on, or of all behind it, as `run` does from the other end.
template <int kThreads, int kVector, bool kExclusive, typename T, int kEach, typename Combine>
__device__ __forceinline__ T run_back(T (&x)[kEach], T start, Combine combine) {
    constexpr int kPacks = kEach / kVector;
    __shared__ T slots[kPacks][kThreads / kNarrowest];
    const int lane = threadIdx.x % warpSize, own = threadIdx.x / warpSize;
    T behind[kPacks];  // what the wave has behind this thread's pack
#pragma unroll
    for (int pack = 0; pack < kPacks; ++pack) {
#pragma unroll
        for (int i = (pack + 1) * kVector - 2; i >= pack * kVector; --i) x[i] = combine(x[i], x[i + 1]);
        T through = x[pack * kVector];
        for (int offset = 1; offset < warpSize; offset *= 2) {
            const T other = __shfl_down_sync(kWave, through, offset, warpSize);
            if (lane + offset < warpSize) through = combine(through, other);
        }
        const T other = __shfl_down_sync(kWave, through, 1, warpSize);
        behind[pack] = lane < warpSize - 1 ? other : start;
        if (lane == 0) slots[pack][own] = through;
    }
    __syncthreads();
    T carried = start;
#pragma unroll
    for (int pack = kPacks - 1; pack >= 0; --pack) {
        for (int wave = kThreads / warpSize - 1; wave >= 0; --wave) {
            if (wave == own) behind[pack] = combine(behind[pack], carried);
            carried = combine(slots[pack][wave], carried);
        }
#pragma unroll
        for (int i = pack * kVector; i < (pack + 1) * kVector; ++i) {
            const int first = i + kExclusive;
            x[i] = first < (pack + 1) * kVector ? combine(x[first], behind[pack]) : behind[pack];
        }
    }
    __syncthreads();
    return carried;
}

//: ceil_divide
inline int64_t ceil_divide(int64_t above, int64_t below) { return (above + below - 1) / below; }

//: pack
// How many elements of a type are moved at once where rows are aligned.
template <typename T>
constexpr int pack() {
    return 16 / sizeof(T);
}

//: require
// Ends a program whose call cannot be answered, where a function has no other way to say so.
inline void require(bool condition, const char* because) {
    if (condition) return;
    std::fprintf(stderr, "%s\n", because);
    std::abort();
}

//: begins_pack
// Whether 16 bytes may be moved at once from a pointer on.
inline bool begins_pack(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer) % 16 == 0; }
