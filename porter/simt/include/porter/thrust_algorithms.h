// thrust's algorithms, run by the host in one go. An execution policy may come first and changes nothing.
#pragma once

#include "porter/library.h"
#include "porter/thrust.h"

namespace thrust {
namespace details {

template <class T>
inline T* plain(device_ptr<T> pointer) { return pointer.get(); }
template <class Iterator>
inline Iterator plain(Iterator iterator) { return iterator; }

template <class T>
inline constexpr bool is_policy = std::is_same_v<T, host_policy> || std::is_same_v<T, device_policy>;
template <class T>
using IfPolicy = std::enable_if_t<is_policy<std::decay_t<T>>, int>;
template <class T>
using UnlessPolicy = std::enable_if_t<!is_policy<std::decay_t<T>>, int>;

// Device memory written by the host counts as written.
template <class T>
inline void written(T* first, T* last) {
    if (porter::simt::device_extent(first).base != nullptr) porter::simt::host_wrote(first, std::size_t(last - first) * sizeof(T));
}
template <class Iterator>
inline void written(Iterator, Iterator) {}

// True for addresses of the device, and for what has none: it is made of such, or of nothing.
template <class T>
inline bool is_of_device(T* pointer) { return porter::simt::device_extent(pointer).base != nullptr; }
template <class T>
inline constexpr bool is_of_vector = std::is_same_v<T, typename std::vector<typename std::iterator_traits<T>::value_type>::iterator> ||
                                     std::is_same_v<T, typename std::vector<typename std::iterator_traits<T>::value_type>::const_iterator>;
template <class Iterator>
inline bool is_of_device(Iterator) { return !is_of_vector<Iterator>; }

// Whether elements of the one are those of the other, one behind the other in both.
template <class From, class To, class F = std::remove_cv_t<From>, class T = std::remove_cv_t<To>>
inline constexpr bool may_be_moved = (std::is_pointer_v<F> || is_of_vector<F>) && (std::is_pointer_v<T> || is_of_vector<T>) &&
                                     std::is_same_v<typename std::iterator_traits<F>::value_type, typename std::iterator_traits<T>::value_type>;

}  // namespace details

// What an algorithm does, on plain iterators; a kernel of one thread does it.
template <class Algorithm, class... Arguments>
__global__ void work(Algorithm algorithm, Arguments... arguments) {
    PORTER_LIBRARY(algorithm, arguments...)
    algorithm(arguments...);
}

struct Transform {
    template <class Out, class In, class Op>
    void operator()(Out out, In first, In last, Op op) const { details::written(out, std::transform(first, last, out, op)); }
    template <class Out, class In, class In2, class Op>
    void operator()(Out out, In first, In last, In2 second, Op op) const { details::written(out, std::transform(first, last, second, out, op)); }
};
struct Copy {
    template <class Out, class In>
    void operator()(Out out, In first, In last) const { details::written(out, std::copy(first, last, out)); }
};
struct InclusiveScan {
    template <class Out, class In, class Op>
    void operator()(Out out, In first, In last, Op op) const { details::written(out, std::inclusive_scan(first, last, out, op)); }
};
struct ExclusiveScan {
    template <class Out, class In, class T, class Op>
    void operator()(Out out, In first, In last, T initial, Op op) const { details::written(out, std::exclusive_scan(first, last, out, initial, op)); }
};
struct ForEach {
    template <class Out, class Op>
    void operator()(Out first, Out last, Op op) const { std::for_each(first, last, op), details::written(first, last); }
};
struct Fill {
    template <class Out, class T>
    void operator()(Out first, Out last, T value) const { std::fill(first, last, value), details::written(first, last); }
};
struct Sequence {
    template <class Out, class T>
    void operator()(Out first, Out last, T value) const { std::iota(first, last, value), details::written(first, last); }
};
struct Sort {
    template <class Out, class Op>
    void operator()(Out first, Out last, Op op) const { std::stable_sort(first, last, op), details::written(first, last); }
};
struct Reduce {
    template <class T, class In, class Op>
    void operator()(T* result, In first, In last, Op op) const { *result = std::accumulate(first, last, *result, op); }
};
struct TransformReduce {
    template <class T, class In, class Op, class Combine>
    void operator()(T* result, In first, In last, Op op, Combine combine) const {
        for (auto i = first; i != last; ++i) *result = combine(*result, op(*i));
    }
};
struct InnerProduct {
    template <class T, class In, class In2>
    void operator()(T* result, In first, In last, In2 second) const { *result = std::inner_product(first, last, second, *result); }
};
struct MaxElement {
    template <class In>
    void operator()(long long* result, In first, In last) const { *result = std::max_element(first, last) - first; }
};
struct MinElement {
    template <class In>
    void operator()(long long* result, In first, In last) const { *result = std::min_element(first, last) - first; }
};

// Has an algorithm write from `out` on. What lies in memory of the host is the host's to work on.
template <class Algorithm, class Out, class... More>
inline void write(const char* name, Algorithm algorithm, Out out, More... more) {
    if (!details::is_of_device(details::plain(out))) return algorithm(details::plain(out), details::plain(more)...);
    porter::library::run(name, [&] { work(algorithm, details::plain(out), details::plain(more)...); }, details::plain(out));
}
// Has an algorithm make one number, of one to begin with.
template <class Algorithm, class T, class In, class... More>
inline T number(const char* name, Algorithm algorithm, T initial, In first, More... more) {
    if (!details::is_of_device(details::plain(first))) {
        return algorithm(&initial, details::plain(first), details::plain(more)...), initial;
    }
    T* const there = static_cast<T*>(porter::simt::device_allocate(sizeof(T), name));
    porter::simt::device_copy(there, &initial, sizeof(T));
    porter::library::run(name, [&] { work(algorithm, there, details::plain(first), details::plain(more)...); }, there);
    porter::simt::device_copy(&initial, there, sizeof(T));
    return porter::simt::device_free(there), initial;
}

template <class In, class Out, class Op, details::UnlessPolicy<In> = 0>
inline Out transform(In first, In last, Out out, Op op) {
    return write("thrust::transform", Transform(), out, first, last, op), out + (last - first);
}
template <class In, class In2, class Out, class Op, details::UnlessPolicy<In> = 0>
inline Out transform(In first, In last, In2 second, Out out, Op op) {
    return write("thrust::transform", Transform(), out, first, last, second, op), out + (last - first);
}
template <class In, class Out, details::UnlessPolicy<In> = 0>
inline Out copy(In first, In last, Out out) {
    const auto from = details::plain(first);
    const auto to = details::plain(out);
    if constexpr (details::may_be_moved<decltype(from), decltype(to)>) {
        if (first != last) porter::simt::device_copy(&*to, &*from, std::size_t(last - first) * sizeof(*from));
    } else {
        write("thrust::copy", Copy(), out, first, last);
    }
    return out + (last - first);
}
template <class In, class Out, class Op = plus<>, details::UnlessPolicy<In> = 0>
inline Out inclusive_scan(In first, In last, Out out, Op op = {}) {
    return write("thrust::inclusive_scan", InclusiveScan(), out, first, last, op), out + (last - first);
}
template <class In, class Out, class T, class Op = plus<>, details::UnlessPolicy<In> = 0>
inline Out exclusive_scan(In first, In last, Out out, T initial, Op op = {}) {
    return write("thrust::exclusive_scan", ExclusiveScan(), out, first, last, initial, op), out + (last - first);
}
template <class In, class Out, details::UnlessPolicy<In> = 0>
inline Out exclusive_scan(In first, In last, Out out) {
    using T = typename std::iterator_traits<decltype(details::plain(first))>::value_type;
    return thrust::exclusive_scan(first, last, out, T());
}
template <class In, class Op, details::UnlessPolicy<In> = 0>
inline In for_each(In first, In last, Op op) { return write("thrust::for_each", ForEach(), first, last, op), last; }
template <class Out, class T, details::UnlessPolicy<Out> = 0>
inline void fill(Out first, Out last, const T& value) { write("thrust::fill", Fill(), first, last, value); }
template <class Out, details::UnlessPolicy<Out> = 0>
inline void sequence(Out first, Out last, int value = 0) { write("thrust::sequence", Sequence(), first, last, value); }
template <class Out, class Op = less<>, details::UnlessPolicy<Out> = 0>
inline void sort(Out first, Out last, Op op = {}) { write("thrust::sort", Sort(), first, last, op); }
template <class Out, class Op = less<>, details::UnlessPolicy<Out> = 0>
inline void stable_sort(Out first, Out last, Op op = {}) { write("thrust::stable_sort", Sort(), first, last, op); }

template <class In, class T, class Op = plus<>, details::UnlessPolicy<In> = 0>
inline T reduce(In first, In last, T initial, Op op = {}) {
    return number("thrust::reduce", Reduce(), initial, first, last, op);
}
template <class In, details::UnlessPolicy<In> = 0>
inline auto reduce(In first, In last) {
    using T = typename std::iterator_traits<decltype(details::plain(first))>::value_type;
    return thrust::reduce(first, last, T());
}
template <class In, class Op, class T, class Combine, details::UnlessPolicy<In> = 0>
inline T transform_reduce(In first, In last, Op op, T initial, Combine combine) {
    return number("thrust::transform_reduce", TransformReduce(), initial, first, last, op, combine);
}
template <class In, class In2, class T, details::UnlessPolicy<In> = 0>
inline T inner_product(In first, In last, In2 second, T initial) {
    return number("thrust::inner_product", InnerProduct(), initial, first, last, second);
}
template <class In, details::UnlessPolicy<In> = 0>
inline In max_element(In first, In last) { return first + number("thrust::max_element", MaxElement(), 0ll, first, last); }
template <class In, details::UnlessPolicy<In> = 0>
inline In min_element(In first, In last) { return first + number("thrust::min_element", MinElement(), 0ll, first, last); }

#define PORTER_WITH_POLICY(name) \
    template <class Policy, class... Arguments, details::IfPolicy<Policy> = 0> \
    inline decltype(auto) name(const Policy&, Arguments&&... arguments) { \
        return thrust::name(std::forward<Arguments>(arguments)...); \
    }
PORTER_WITH_POLICY(transform)
PORTER_WITH_POLICY(copy)
PORTER_WITH_POLICY(inclusive_scan)
PORTER_WITH_POLICY(exclusive_scan)
PORTER_WITH_POLICY(for_each)
PORTER_WITH_POLICY(fill)
PORTER_WITH_POLICY(sequence)
PORTER_WITH_POLICY(sort)
PORTER_WITH_POLICY(stable_sort)
PORTER_WITH_POLICY(reduce)
PORTER_WITH_POLICY(transform_reduce)
PORTER_WITH_POLICY(inner_product)
PORTER_WITH_POLICY(max_element)
PORTER_WITH_POLICY(min_element)
#undef PORTER_WITH_POLICY

}  // namespace thrust
