// cub's device-wide algorithms, on the host in one pass. The two-call protocol for temporary storage is kept.
#pragma once

#include <algorithm>
#include <iterator>
#include <limits>

#include "porter/cub_block_reduce.h"
#include "porter/cub_block_sort.h"
#include "porter/cub_iterators.h"
#include "porter/library.h"
#include "porter/runtime_memory.h"

namespace cub {

// True on the first of the two calls, which only asks for the size of the storage.
inline bool asks_for_size(void* storage, std::size_t& bytes) {
    if (storage == nullptr) bytes = 256;
    return storage == nullptr;
}
template <class Iterator>
using ValueOf = std::decay_t<decltype(*std::declval<Iterator>())>;
// What is stored unwatched must be known as written.
template <class Output>
inline void wrote(Output out, long long count) {
    if constexpr (std::is_pointer_v<Output>) porter::simt::host_wrote(out, sizeof(*out) * std::size_t(count));
}

template <class In, class Out, class Op, class T>
__global__ void reduce(In in, Out out, long long count, Op op, T initial) {
    PORTER_LIBRARY(in, out, count, op, initial)
    std::vector<T> values(count);
    for (long long i = 0; i < count; ++i) values[i] = T(in[i]);
    *out = count == 0 ? initial : op(initial, fold(values.data(), int(count), op));
    wrote(out, 1);
}
template <class In, class Out, class Begin, class End, class Op, class T>
__global__ void reduce_segments(In in, Out out, int segments, Begin begin, End end, Op op, T initial) {
    PORTER_LIBRARY(in, out, segments, begin, end, op, initial)
    for (int s = 0; s < segments; ++s) {
        T total = initial;
        for (auto i = begin[s]; i < end[s]; ++i) total = op(total, T(in[i]));
        out[s] = total;
    }
    wrote(out, segments);
}
template <class In, class Out, class Op>
__global__ void scan_inclusively(In in, Out out, Op op, long long count) {
    PORTER_LIBRARY(in, out, op, count)
    ValueOf<In> running = in[0];
    out[0] = running;
    for (long long i = 1; i < count; ++i) out[i] = running = op(running, ValueOf<In>(in[i]));
    wrote(out, count);
}
template <class In, class Out, class Op, class T>
__global__ void scan_exclusively(In in, Out out, Op op, T initial, long long count) {
    PORTER_LIBRARY(in, out, op, initial, count)
    for (long long i = 0; i < count; ++i) {
        const T next = op(initial, T(in[i]));
        out[i] = initial;
        initial = next;
    }
    wrote(out, count);
}

struct DeviceReduce {
    template <class In, class Out, class Op, class T>
    static cudaError_t Reduce(void* storage, std::size_t& bytes, In in, Out out, long long count, Op op, T initial,
                              cudaStream_t = nullptr) {
        if (asks_for_size(storage, bytes)) return cudaSuccess;
        porter::library::run("cub::DeviceReduce", [&] { reduce(in, out, count, op, initial); }, out);
        return cudaSuccess;
    }
    template <class In, class Out>
    static cudaError_t Sum(void* storage, std::size_t& bytes, In in, Out out, long long count, cudaStream_t = nullptr) {
        return Reduce(storage, bytes, in, out, count, cub::Sum(), ValueOf<In>(0));
    }
    template <class In, class Out>
    static cudaError_t Max(void* storage, std::size_t& bytes, In in, Out out, long long count, cudaStream_t = nullptr) {
        return Reduce(storage, bytes, in, out, count, cub::Max(), std::numeric_limits<ValueOf<In>>::lowest());
    }
    template <class In, class Out>
    static cudaError_t Min(void* storage, std::size_t& bytes, In in, Out out, long long count, cudaStream_t = nullptr) {
        return Reduce(storage, bytes, in, out, count, cub::Min(), std::numeric_limits<ValueOf<In>>::max());
    }
    template <class In, class Out>
    static cudaError_t ArgMax(void* storage, std::size_t& bytes, In in, Out out, int count, cudaStream_t = nullptr) {
        using Pair = KeyValuePair<int, ValueOf<In>>;
        return Reduce(storage, bytes, ArgIndexInputIterator<In>(in), out, count, cub::ArgMax(),
                      Pair(1, std::numeric_limits<ValueOf<In>>::lowest()));
    }
    template <class In, class Out>
    static cudaError_t ArgMin(void* storage, std::size_t& bytes, In in, Out out, int count, cudaStream_t = nullptr) {
        using Pair = KeyValuePair<int, ValueOf<In>>;
        return Reduce(storage, bytes, ArgIndexInputIterator<In>(in), out, count, cub::ArgMin(),
                      Pair(1, std::numeric_limits<ValueOf<In>>::max()));
    }
};

struct DeviceSegmentedReduce {
    template <class In, class Out, class Begin, class End, class Op, class T>
    static cudaError_t Reduce(void* storage, std::size_t& bytes, In in, Out out, int segments, Begin begin, End end, Op op,
                              T initial, cudaStream_t = nullptr) {
        if (asks_for_size(storage, bytes)) return cudaSuccess;
        porter::library::run("cub::DeviceSegmentedReduce", [&] { reduce_segments(in, out, segments, begin, end, op, initial); }, out);
        return cudaSuccess;
    }
    template <class In, class Out, class Begin, class End>
    static cudaError_t Sum(void* storage, std::size_t& bytes, In in, Out out, int segments, Begin begin, End end,
                           cudaStream_t = nullptr) {
        return Reduce(storage, bytes, in, out, segments, begin, end, cub::Sum(), ValueOf<In>(0));
    }
    template <class In, class Out, class Begin, class End>
    static cudaError_t Max(void* storage, std::size_t& bytes, In in, Out out, int segments, Begin begin, End end,
                           cudaStream_t = nullptr) {
        return Reduce(storage, bytes, in, out, segments, begin, end, cub::Max(), std::numeric_limits<ValueOf<In>>::lowest());
    }
    template <class In, class Out, class Begin, class End>
    static cudaError_t Min(void* storage, std::size_t& bytes, In in, Out out, int segments, Begin begin, End end,
                           cudaStream_t = nullptr) {
        return Reduce(storage, bytes, in, out, segments, begin, end, cub::Min(), std::numeric_limits<ValueOf<In>>::max());
    }
};

struct DeviceScan {
    template <class In, class Out, class Op>
    static cudaError_t InclusiveScan(void* storage, std::size_t& bytes, In in, Out out, Op op, long long count,
                                     cudaStream_t = nullptr) {
        if (asks_for_size(storage, bytes) || count == 0) return cudaSuccess;
        porter::library::run("cub::DeviceScan", [&] { scan_inclusively(in, out, op, count); }, out);
        return cudaSuccess;
    }
    template <class In, class Out, class Op, class T>
    static cudaError_t ExclusiveScan(void* storage, std::size_t& bytes, In in, Out out, Op op, T initial, long long count,
                                     cudaStream_t = nullptr) {
        if (asks_for_size(storage, bytes)) return cudaSuccess;
        porter::library::run("cub::DeviceScan", [&] { scan_exclusively(in, out, op, initial, count); }, out);
        return cudaSuccess;
    }
    template <class In, class Out>
    static cudaError_t InclusiveSum(void* storage, std::size_t& bytes, In in, Out out, long long count, cudaStream_t = nullptr) {
        return InclusiveScan(storage, bytes, in, out, cub::Sum(), count);
    }
    template <class In, class Out>
    static cudaError_t ExclusiveSum(void* storage, std::size_t& bytes, In in, Out out, long long count, cudaStream_t = nullptr) {
        return ExclusiveScan(storage, bytes, in, out, cub::Sum(), ValueOf<In>(0), count);
    }
};

}  // namespace cub
