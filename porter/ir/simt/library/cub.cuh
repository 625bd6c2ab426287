// CUB's collectives of a block and a warp, as a kernel would write them itself: the order of operations is that of
// porter's executor, so that both round alike.
namespace cub {

struct Sum {
    template <typename T>
    __device__ T operator()(const T& a, const T& b) const { return a + b; }
};
struct Max {
    template <typename T>
    __device__ T operator()(const T& a, const T& b) const { return b > a ? b : a; }
};
struct Min {
    template <typename T>
    __device__ T operator()(const T& a, const T& b) const { return b < a ? b : a; }
};

enum BlockReduceAlgorithm { BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, BLOCK_REDUCE_RAKING, BLOCK_REDUCE_WARP_REDUCTIONS };
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };

enum BlockLoadAlgorithm {
    BLOCK_LOAD_DIRECT, BLOCK_LOAD_STRIPED, BLOCK_LOAD_VECTORIZE, BLOCK_LOAD_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE, BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED
};
enum BlockStoreAlgorithm {
    BLOCK_STORE_DIRECT, BLOCK_STORE_STRIPED, BLOCK_STORE_VECTORIZE, BLOCK_STORE_TRANSPOSE,
    BLOCK_STORE_WARP_TRANSPOSE, BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED
};

template <typename T, int Count>
struct Room {
    T values[Count];
};
struct Nothing {
    unsigned char none;
};

template <typename T, int DimX, int Algorithm = 2, int DimY = 1, int DimZ = 1>
struct BlockReduce {
    static constexpr int kThreads = DimX * DimY * DimZ;
    using TempStorage = Room<T, DimX * DimY * DimZ>;
    T* storage_;

    __device__ BlockReduce(Room<T, DimX * DimY * DimZ>& storage) { storage_ = storage.values; }

    // A tree of neighbours. The result is thread 0's, the others keep their value.
    template <typename Op>
    __device__ T Reduce(T value, Op op, int valid) {
        const int rank = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
        storage_[rank] = value;
        __syncthreads();
        for (int step = 1; step < kThreads; step *= 2) {
            if (rank % (2 * step) == 0 && rank + step < valid) {
                storage_[rank] = op(storage_[rank], storage_[rank + step]);
            }
            __syncthreads();
        }
        T result = value;
        if (rank == 0 && valid > 0) result = storage_[0];
        return result;
    }
    template <typename Op>
    __device__ T Reduce(T value, Op op) { return Reduce(value, op, kThreads); }
    __device__ T Sum(T value) { return Reduce(value, cub::Sum(), kThreads); }
    __device__ T Sum(T value, int valid) { return Reduce(value, cub::Sum(), valid); }
};

template <typename T, int DimX, int Algorithm = 0, int DimY = 1, int DimZ = 1>
struct BlockScan {
    static constexpr int kThreads = DimX * DimY * DimZ;
    using TempStorage = Room<T, DimX * DimY * DimZ + 1>;
    T* storage_;

    __device__ BlockScan(Room<T, DimX * DimY * DimZ + 1>& storage) { storage_ = storage.values; }

    // What stands before each thread, scanned by thread 0; the total behind.
    template <typename Op>
    __device__ T prefix_of(T value, Op op, T& aggregate) {
        const int rank = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
        storage_[rank] = value;
        __syncthreads();
        if (rank == 0) {
            T running = storage_[0];
            for (int i = 1; i < kThreads; ++i) {
                const T next = storage_[i];
                storage_[i] = running;
                running = op(running, next);
            }
            storage_[kThreads] = running;
        }
        __syncthreads();
        aggregate = storage_[kThreads];
        T prefix = T();
        if (rank != 0) prefix = storage_[rank];
        return prefix;
    }
    template <typename Op>
    __device__ void InclusiveScan(T in, T& out, Op op, T& aggregate) {
        const int rank = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
        const T prefix = prefix_of(in, op, aggregate);
        T result = in;
        if (rank != 0) result = op(prefix, in);
        out = result;
    }
    template <typename Op>
    __device__ void InclusiveScan(T in, T& out, Op op) {
        T aggregate;
        InclusiveScan(in, out, op, aggregate);
    }
    template <typename Op>
    __device__ void ExclusiveScan(T in, T& out, T initial, Op op, T& aggregate) {
        const int rank = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
        const T prefix = prefix_of(in, op, aggregate);
        T result = initial;
        if (rank != 0) result = op(initial, prefix);
        out = result;
    }
    template <typename Op>
    __device__ void ExclusiveScan(T in, T& out, T initial, Op op) {
        T aggregate;
        ExclusiveScan(in, out, initial, op, aggregate);
    }
    // Several items of a thread stand next to each other. The callback turns the block's total into what stands
    // before the block; the first warp calls it.
    template <int Items, typename Op>
    __device__ T serial(T (&in)[Items], Op op) {
        T total = in[0];
        for (int i = 1; i < Items; ++i) total = op(total, in[i]);
        return total;
    }
    template <typename Callback>
    __device__ T before_block(Callback& callback, T aggregate) {
        const int rank = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
        T before = T();
        if (rank < 32) before = callback(aggregate);
        __syncthreads();
        if (rank == 0) storage_[0] = before;
        __syncthreads();
        return storage_[0];
    }
    template <int Items, typename Op>
    __device__ void InclusiveScan(T (&in)[Items], T (&out)[Items], Op op) {
        const int rank = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
        T aggregate;
        T running = prefix_of(serial(in, op), op, aggregate);
        for (int i = 0; i < Items; ++i) {
            if (rank != 0 || i > 0) running = op(running, in[i]);
            else running = in[i];
            out[i] = running;
        }
    }
    template <int Items, typename Op, typename Callback>
    __device__ void InclusiveScan(T (&in)[Items], T (&out)[Items], Op op, Callback& callback) {
        const int rank = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
        T aggregate;
        const T prefix = prefix_of(serial(in, op), op, aggregate);
        T running = before_block(callback, aggregate);
        if (rank != 0) running = op(running, prefix);
        for (int i = 0; i < Items; ++i) {
            running = op(running, in[i]);
            out[i] = running;
        }
    }
    template <int Items, typename Op>
    __device__ void ExclusiveScan(T (&in)[Items], T (&out)[Items], T initial, Op op) {
        const int rank = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
        T aggregate;
        const T prefix = prefix_of(serial(in, op), op, aggregate);
        T running = initial;
        if (rank != 0) running = op(initial, prefix);
        for (int i = 0; i < Items; ++i) {
            const T item = in[i];
            out[i] = running;
            running = op(running, item);
        }
    }
    template <int Items>
    __device__ void InclusiveSum(T (&in)[Items], T (&out)[Items]) { InclusiveScan(in, out, cub::Sum()); }
    template <int Items, typename Callback>
    __device__ void InclusiveSum(T (&in)[Items], T (&out)[Items], Callback& callback) {
        InclusiveScan(in, out, cub::Sum(), callback);
    }
    template <int Items>
    __device__ void ExclusiveSum(T (&in)[Items], T (&out)[Items]) { ExclusiveScan(in, out, T(), cub::Sum()); }
    __device__ void InclusiveSum(T in, T& out) { InclusiveScan(in, out, cub::Sum()); }
    __device__ void InclusiveSum(T in, T& out, T& aggregate) { InclusiveScan(in, out, cub::Sum(), aggregate); }
    __device__ void ExclusiveSum(T in, T& out) { ExclusiveScan(in, out, T(), cub::Sum()); }
    __device__ void ExclusiveSum(T in, T& out, T& aggregate) { ExclusiveScan(in, out, T(), cub::Sum(), aggregate); }
};

// Who holds which item of a block's tile: thread t has items t * Items and on, or, striped, t, t + threads and on.
template <typename T, int DimX, int Items, int Algorithm = 0, int DimY = 1, int DimZ = 1>
struct BlockLoad {
    static constexpr int kThreads = DimX * DimY * DimZ;
    using TempStorage = Nothing;

    __device__ BlockLoad(Nothing& storage) {}

    __device__ int place(int item) const {
        const int rank = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
        return Algorithm == 1 ? rank + item * kThreads : rank * Items + item;
    }
    template <typename Input>
    __device__ void Load(Input from, T (&items)[Items]) {
        for (int i = 0; i < Items; ++i) items[i] = from[place(i)];
    }
    template <typename Input>
    __device__ void Load(Input from, T (&items)[Items], int valid) {
        for (int i = 0; i < Items; ++i) {
            if (place(i) < valid) items[i] = from[place(i)];
        }
    }
    template <typename Input, typename Default>
    __device__ void Load(Input from, T (&items)[Items], int valid, Default otherwise) {
        for (int i = 0; i < Items; ++i) {
            T item = otherwise;
            if (place(i) < valid) item = from[place(i)];
            items[i] = item;
        }
    }
};

template <typename T, int DimX, int Items, int Algorithm = 0, int DimY = 1, int DimZ = 1>
struct BlockStore {
    static constexpr int kThreads = DimX * DimY * DimZ;
    using TempStorage = Nothing;

    __device__ BlockStore(Nothing& storage) {}

    template <typename Output>
    __device__ void Store(Output to, T (&items)[Items], int valid) {
        const int rank = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
        for (int i = 0; i < Items; ++i) {
            const int place = Algorithm == 1 ? rank + i * kThreads : rank * Items + i;
            if (place < valid) to[place] = items[i];
        }
    }
    template <typename Output>
    __device__ void Store(Output to, T (&items)[Items]) { Store(to, items, kThreads * Items); }
};

template <typename T, int Threads = 32>
struct WarpReduce {
    using TempStorage = Nothing;

    __device__ WarpReduce(Nothing& storage) {}

    // The result is lane 0's, the others keep partial ones.
    template <typename Op>
    __device__ T Reduce(T value, Op op, int valid) {
        const int rank = (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % Threads;
        for (int offset = 1; offset < Threads; offset *= 2) {
            const T other = __shfl_down_sync(0xffffffffu, value, offset, Threads);
            if (rank + offset < valid) value = op(value, other);
        }
        return value;
    }
    template <typename Op>
    __device__ T Reduce(T value, Op op) { return Reduce(value, op, Threads); }
    __device__ T Sum(T value) { return Reduce(value, cub::Sum(), Threads); }
    __device__ T Sum(T value, int valid) { return Reduce(value, cub::Sum(), valid); }
};

template <typename T, int Threads = 32>
struct WarpScan {
    using TempStorage = Nothing;

    __device__ WarpScan(Nothing& storage) {}
    __device__ int rank() {
        return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % Threads;
    }
    template <typename Op>
    __device__ void InclusiveScan(T input, T& output, Op op) {
        T value = input;
        for (int offset = 1; offset < Threads; offset *= 2) {
            const T other = __shfl_up_sync(0xffffffffu, value, offset, Threads);
            if (rank() >= offset) value = op(other, value);
        }
        output = value;
    }
    template <typename Op>
    __device__ void InclusiveScan(T input, T& output, Op op, T& total) {
        InclusiveScan(input, output, op);
        total = __shfl_sync(0xffffffffu, output, Threads - 1, Threads);
    }
    template <typename Op>
    __device__ void ExclusiveScan(T input, T& output, T first, Op op) {
        T value;
        InclusiveScan(input, value, op);
        const T before = __shfl_up_sync(0xffffffffu, value, 1, Threads);
        output = rank() == 0 ? first : op(first, before);
    }
    template <typename Op>
    __device__ void ExclusiveScan(T input, T& output, T first, Op op, T& total) {
        T value;
        InclusiveScan(input, value, op, total);
        const T before = __shfl_up_sync(0xffffffffu, value, 1, Threads);
        output = rank() == 0 ? first : op(first, before);
    }
    __device__ void InclusiveSum(T input, T& output) { InclusiveScan(input, output, cub::Sum()); }
    __device__ void InclusiveSum(T input, T& output, T& total) { InclusiveScan(input, output, cub::Sum(), total); }
    __device__ void ExclusiveSum(T input, T& output) { ExclusiveScan(input, output, T(0), cub::Sum()); }
    __device__ void ExclusiveSum(T input, T& output, T& total) {
        ExclusiveScan(input, output, T(0), cub::Sum(), total);
    }
};

}  // namespace cub
