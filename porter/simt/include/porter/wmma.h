// Warp matrix products: nvcuda::wmma, mxmaca::wmma.
//
// A fragment's layout is the device's own secret, so any will do: element i of lane l is number i * warpSize + l of the
// tile, row by row. The last lane to arrive at a product computes it for all.
#pragma once

#include "porter/bfloat16.h"
#include "porter/warp.h"

namespace nvcuda::wmma {

struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
enum layout_t { mem_row_major, mem_col_major };

namespace precision {
struct tf32 {};
}  // namespace precision

namespace details {

template <class T>
struct Storage {
    using type = T;
};
template <>
struct Storage<precision::tf32> {
    using type = float;
};
template <class Use, int M, int N, int K>
inline constexpr int rows = std::is_same_v<Use, matrix_b> ? K : M;
template <class Use, int M, int N, int K>
inline constexpr int columns = std::is_same_v<Use, matrix_a> ? K : N;

}  // namespace details

template <class Use, int M, int N, int K, class T, class Layout = void>
struct fragment {
    using element_type = typename details::Storage<T>::type;
    using storage_element_type = element_type;
    static constexpr int kRows = details::rows<Use, M, N, K>, kColumns = details::columns<Use, M, N, K>;
    static constexpr int num_elements = kRows * kColumns / warpSize, num_storage_elements = num_elements;
    element_type x[num_elements];
};

namespace details {

// Calls `visit(x, place)` for the lane's elements, `place` being the element's offset in memory.
template <class Fragment, class Visit>
inline void visit_elements(Fragment& fragment, unsigned int stride, bool by_rows, Visit visit) {
    for (int i = 0; i < Fragment::num_elements; ++i) {
        const int number = i * warpSize + porter::simt::lane();
        const int row = number / Fragment::kColumns, column = number % Fragment::kColumns;
        visit(fragment.x[i], by_rows ? row * stride + column : column * stride + row);
    }
}
template <class Fragment>
inline float element(const void* const* lanes, int row, int column) {
    const int number = row * Fragment::kColumns + column;
    return float(static_cast<const Fragment*>(lanes[number % warpSize])->x[number / warpSize]);
}

// What a lane brings to a product: its pieces of all operands in one.
template <class A, class B, class C>
struct Pieces {
    A a;
    B b;
    C c;
};

}  // namespace details

template <class Use, int M, int N, int K, class T, class Layout, class V>
inline void fill_fragment(fragment<Use, M, N, K, T, Layout>& f, const V& value) {
    for (auto& x : f.x) x = value;
}
template <class Use, int M, int N, int K, class T, class Layout, class U>
inline void load_matrix_sync(fragment<Use, M, N, K, T, Layout>& f, const U* from, unsigned int stride,
                             porter::simt::Where where = porter::simt::Where::here()) {
    porter::simt::warp_barrier(porter::simt::FULL_MASK, where);
    details::visit_elements(f, stride, std::is_same_v<Layout, row_major>, [=](auto& x, unsigned int place) { x = from[place]; });
}
template <int M, int N, int K, class T, class U>
inline void load_matrix_sync(fragment<accumulator, M, N, K, T>& f, const U* from, unsigned int stride, layout_t layout,
                             porter::simt::Where where = porter::simt::Where::here()) {
    porter::simt::warp_barrier(porter::simt::FULL_MASK, where);
    details::visit_elements(f, stride, layout == mem_row_major, [=](auto& x, unsigned int place) { x = from[place]; });
}
template <int M, int N, int K, class T, class U>
inline void store_matrix_sync(U* to, const fragment<accumulator, M, N, K, T>& f, unsigned int stride, layout_t layout,
                              porter::simt::Where where = porter::simt::Where::here()) {
    details::visit_elements(f, stride, layout == mem_row_major, [=](const auto& x, unsigned int place) { to[place] = x; });
    porter::simt::warp_barrier(porter::simt::FULL_MASK, where);
}

// D = A B + C, summed in float and rounded to D's type once.
template <int M, int N, int K, class TA, class LA, class TB, class LB, class TD, class TC>
inline void mma_sync(fragment<accumulator, M, N, K, TD>& d, const fragment<matrix_a, M, N, K, TA, LA>& a,
                     const fragment<matrix_b, M, N, K, TB, LB>& b, const fragment<accumulator, M, N, K, TC>& c,
                     porter::simt::Where where = porter::simt::Where::here()) {
    using A = fragment<matrix_a, M, N, K, TA, LA>;
    using B = fragment<matrix_b, M, N, K, TB, LB>;
    using C = fragment<accumulator, M, N, K, TC>;
    using D = fragment<accumulator, M, N, K, TD>;
    using Pieces = details::Pieces<A, B, C>;
    const porter::simt::Complete multiply = [](const porter::simt::Lanes& lanes) {
        const void *as[warpSize], *bs[warpSize], *cs[warpSize];
        for (int lane = 0; lane < warpSize; ++lane) {
            const Pieces* pieces = static_cast<const Pieces*>(lanes.input[lane]);
            as[lane] = &pieces->a, bs[lane] = &pieces->b, cs[lane] = &pieces->c;
        }
        for (int row = 0; row < M; ++row)
            for (int column = 0; column < N; ++column) {
                float sum = details::element<C>(cs, row, column);
                for (int k = 0; k < K; ++k) sum += details::element<A>(as, row, k) * details::element<B>(bs, k, column);
                const int number = row * N + column;
                static_cast<D*>(lanes.output[number % warpSize])->x[number / warpSize] = typename D::element_type(sum);
            }
    };
    const Pieces pieces = {a, b, c};
    D result;
    porter::simt::rendezvous(porter::simt::FULL_MASK, multiply, &pieces, &result, 0, sizeof(Pieces), where);
    d = result;
}

inline float __float_to_tf32(float value) {
    return porter::bit_cast<float>(porter::bit_cast<unsigned int>(value) + 0x1000u & 0xffffe000u);
}

}  // namespace nvcuda::wmma

namespace mxmaca {
namespace wmma = nvcuda::wmma;
}
