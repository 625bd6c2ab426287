// CUB's functors, pairs and tags.
#pragma once

#include <type_traits>

#include "porter/barriers.h"
#include "porter/integer.h"
#include "porter/runtime_types.h"
#include "porter/warp_functions.h"

#define CUB_VERSION 200200
#define CUB_PTX_WARP_THREADS PORTER_WARP_SIZE
#define CUB_WARP_THREADS(architecture) PORTER_WARP_SIZE
#define CUB_MAX(a, b) (((b) > (a)) ? (b) : (a))
#define CUB_MIN(a, b) (((b) < (a)) ? (b) : (a))

namespace cub {

using porter::simt::Where;

struct NullType {
    bool operator==(const NullType&) const { return true; }
};
template <int Value>
struct Int2Type {
    enum { VALUE = Value };
};
template <class Key, class Value>
struct KeyValuePair {
    Key key;
    Value value;
    KeyValuePair() = default;
    KeyValuePair(const Key& k, const Value& v) : key(k), value(v) {}
    bool operator!=(const KeyValuePair& other) const { return key != other.key || value != other.value; }
};

struct Sum {
    template <class T>
    T operator()(const T& a, const T& b) const { return a + b; }
};
struct Max {
    template <class T>
    T operator()(const T& a, const T& b) const { return CUB_MAX(a, b); }
};
struct Min {
    template <class T>
    T operator()(const T& a, const T& b) const { return CUB_MIN(a, b); }
};
struct Equality {
    template <class T>
    bool operator()(const T& a, const T& b) const { return a == b; }
};
struct Inequality {
    template <class T>
    bool operator()(const T& a, const T& b) const { return a != b; }
};
// On equal values the smaller key wins, whatever the order of combination.
struct ArgMax {
    template <class K, class V>
    KeyValuePair<K, V> operator()(const KeyValuePair<K, V>& a, const KeyValuePair<K, V>& b) const {
        return b.value > a.value || (a.value == b.value && b.key < a.key) ? b : a;
    }
};
struct ArgMin {
    template <class K, class V>
    KeyValuePair<K, V> operator()(const KeyValuePair<K, V>& a, const KeyValuePair<K, V>& b) const {
        return b.value < a.value || (a.value == b.value && b.key < a.key) ? b : a;
    }
};
template <class To>
struct CastOp {
    template <class From>
    To operator()(const From& value) const { return To(value); }
};

// All algorithms compute the same here; the names choose nothing.
enum BlockReduceAlgorithm { BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, BLOCK_REDUCE_RAKING, BLOCK_REDUCE_WARP_REDUCTIONS };
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };
enum BlockHistogramAlgorithm { BLOCK_HISTO_SORT, BLOCK_HISTO_ATOMIC };
enum BlockLoadAlgorithm {
    BLOCK_LOAD_DIRECT, BLOCK_LOAD_STRIPED, BLOCK_LOAD_VECTORIZE, BLOCK_LOAD_TRANSPOSE, BLOCK_LOAD_WARP_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED,
};
enum BlockStoreAlgorithm {
    BLOCK_STORE_DIRECT, BLOCK_STORE_STRIPED, BLOCK_STORE_VECTORIZE, BLOCK_STORE_TRANSPOSE, BLOCK_STORE_WARP_TRANSPOSE,
    BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED,
};
enum CacheLoadModifier { LOAD_DEFAULT, LOAD_CA, LOAD_CG, LOAD_CS, LOAD_CV, LOAD_LDG, LOAD_VOLATILE };

// Room for values of any type in a `union` of temporary storages: no constructors run.
template <class T, int Count>
struct Room {
    alignas(T) unsigned char bytes[sizeof(T) * Count];
    T& operator[](int i) { return reinterpret_cast<T*>(bytes)[i]; }
};

inline int LaneId() { return porter::simt::lane(); }
inline int WarpId() { return porter::simt::warp_index(); }
inline int RowMajorTid(int x, int y, int z) {
    (void)x, (void)y, (void)z;
    return int(porter::simt::block_rank());
}
inline void CTA_SYNC(Where where = Where::here()) { __syncthreads(where); }

}  // namespace cub
