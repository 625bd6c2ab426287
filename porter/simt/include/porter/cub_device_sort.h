// cub::DeviceRadixSort and DeviceSelect, on the host.
#pragma once

#include "porter/cub_device.h"

namespace cub {

// Two buffers of which one is current.
template <class T>
struct DoubleBuffer {
    T* d_buffers[2] = {nullptr, nullptr};
    int selector = 0;
    DoubleBuffer() = default;
    DoubleBuffer(T* current, T* alternate) : d_buffers{current, alternate} {}
    T* Current() { return d_buffers[selector]; }
    T* Alternate() { return d_buffers[selector ^ 1]; }
};

template <class T>
inline void permute(const T* in, T* out, const std::vector<long long>& order) {
    const std::vector<T> copy(in, in + order.size());
    for (std::size_t i = 0; i < order.size(); ++i) out[i] = copy[order[i]];
    wrote(out, (long long)order.size());
}
template <class Key, class Value>
__global__ void sort_by_keys(const Key* in, Key* out, const Value* values_in, Value* values_out, long long count, int begin,
                             int end, bool descending) {
    PORTER_LIBRARY(in, out, values_in, values_out, count, begin, end, descending)
    std::vector<long long> order(count);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](long long a, long long b) { return radix_before(in[a], in[b], begin, end, descending); });
    permute(in, out, order);
    if (values_in != nullptr) permute(values_in, values_out, order);
}
// Which elements are selected: those that are flagged, that a function says so of, and that differ from the one before.
template <class Flags>
struct Flagged {
    Flags flags;
    template <class In>
    bool operator()(In, long long i) const { return bool(flags[i]); }
};
template <class Op>
struct Fitting {
    Op op;
    template <class In>
    bool operator()(In in, long long i) const { return bool(op(in[i])); }
};
struct Different {
    template <class In>
    bool operator()(In in, long long i) const { return i == 0 || !(in[i] == in[i - 1]); }
};
template <class In, class Out, class Count, class Keep>
__global__ void select(In in, Out out, Count selected, long long count, Keep keep) {
    PORTER_LIBRARY(in, out, selected, count, keep)
    long long kept = 0;
    for (long long i = 0; i < count; ++i)
        if (keep(in, i)) out[kept++] = in[i];
    *selected = kept;
    wrote(out, kept), wrote(selected, 1);
}

struct DeviceRadixSort {
    template <class Key, class Count>
    static cudaError_t SortKeys(void* storage, std::size_t& bytes, const Key* in, Key* out, Count count, int begin = 0,
                                int end = 8 * sizeof(Key), cudaStream_t = nullptr) {
        return sort<Key, NullType>(storage, bytes, in, out, nullptr, nullptr, count, begin, end, false);
    }
    template <class Key, class Count>
    static cudaError_t SortKeysDescending(void* storage, std::size_t& bytes, const Key* in, Key* out, Count count,
                                          int begin = 0, int end = 8 * sizeof(Key), cudaStream_t = nullptr) {
        return sort<Key, NullType>(storage, bytes, in, out, nullptr, nullptr, count, begin, end, true);
    }
    template <class Key, class Value, class Count>
    static cudaError_t SortPairs(void* storage, std::size_t& bytes, const Key* in, Key* out, const Value* values_in,
                                 Value* values_out, Count count, int begin = 0, int end = 8 * sizeof(Key),
                                 cudaStream_t = nullptr) {
        return sort(storage, bytes, in, out, values_in, values_out, count, begin, end, false);
    }
    template <class Key, class Value, class Count>
    static cudaError_t SortPairsDescending(void* storage, std::size_t& bytes, const Key* in, Key* out, const Value* values_in,
                                           Value* values_out, Count count, int begin = 0, int end = 8 * sizeof(Key),
                                           cudaStream_t = nullptr) {
        return sort(storage, bytes, in, out, values_in, values_out, count, begin, end, true);
    }
    template <class Key, class Value, class Count>
    static cudaError_t SortPairs(void* storage, std::size_t& bytes, DoubleBuffer<Key>& keys, DoubleBuffer<Value>& values,
                                 Count count, int begin = 0, int end = 8 * sizeof(Key), cudaStream_t = nullptr) {
        return sort<Key, Value>(storage, bytes, keys.Current(), keys.Current(), values.Current(), values.Current(), count, begin, end, false);
    }
    template <class Key, class Count>
    static cudaError_t SortKeys(void* storage, std::size_t& bytes, DoubleBuffer<Key>& keys, Count count, int begin = 0,
                                int end = 8 * sizeof(Key), cudaStream_t = nullptr) {
        return sort<Key, NullType>(storage, bytes, keys.Current(), keys.Current(), nullptr, nullptr, count, begin, end, false);
    }

private:
    template <class Key, class Value>
    static cudaError_t sort(void* storage, std::size_t& bytes, const Key* in, Key* out, const Value* values_in,
                            Value* values_out, long long count, int begin, int end, bool descending) {
        if (asks_for_size(storage, bytes)) return cudaSuccess;
        const auto work = [&] { sort_by_keys(in, out, values_in, values_out, count, begin, end, descending); };
        porter::library::run("cub::DeviceRadixSort", work, out, values_out);
        return cudaSuccess;
    }
};

struct DeviceSelect {
    template <class In, class Flags, class Out, class Count>
    static cudaError_t Flagged(void* storage, std::size_t& bytes, In in, Flags flags, Out out, Count selected, long long count,
                               cudaStream_t = nullptr) {
        return selected_by(storage, bytes, in, out, selected, count, cub::Flagged<Flags>{flags});
    }
    template <class In, class Out, class Count, class Op>
    static cudaError_t If(void* storage, std::size_t& bytes, In in, Out out, Count selected, long long count, Op op,
                          cudaStream_t = nullptr) {
        return selected_by(storage, bytes, in, out, selected, count, Fitting<Op>{op});
    }
    template <class In, class Out, class Count>
    static cudaError_t Unique(void* storage, std::size_t& bytes, In in, Out out, Count selected, long long count,
                              cudaStream_t = nullptr) {
        return selected_by(storage, bytes, in, out, selected, count, Different());
    }

private:
    template <class In, class Out, class Count, class Keep>
    static cudaError_t selected_by(void* storage, std::size_t& bytes, In in, Out out, Count selected, long long count, Keep keep) {
        if (asks_for_size(storage, bytes)) return cudaSuccess;
        porter::library::run("cub::DeviceSelect", [&] { select(in, out, selected, count, keep); }, out, selected);
        return cudaSuccess;
    }
};

}  // namespace cub
