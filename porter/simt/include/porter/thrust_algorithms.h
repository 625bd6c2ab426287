// thrust's algorithms, run by the host in one go. An execution policy may come first and changes nothing.
#pragma once

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

}  // namespace details

// `out` is where the results begin, and `end` where they ended; the caller's kind of iterator is given back.
#define PORTER_WRITES(out, ...) \
    const porter::simt::UnwatchedScope unwatched; \
    const auto start = details::plain(out); \
    const auto end = __VA_ARGS__; \
    details::written(start, end); \
    if constexpr (std::is_same_v<decltype(out), std::decay_t<decltype(end)>>) return end; \
    else return out + (end - start)

template <class In, class Out, class Op, details::UnlessPolicy<In> = 0>
inline Out transform(In first, In last, Out out, Op op) {
    PORTER_WRITES(out, std::transform(details::plain(first), details::plain(last), start, op));
}
template <class In, class In2, class Out, class Op, details::UnlessPolicy<In> = 0>
inline Out transform(In first, In last, In2 second, Out out, Op op) {
    PORTER_WRITES(out, std::transform(details::plain(first), details::plain(last), details::plain(second), start, op));
}
template <class In, class Out, details::UnlessPolicy<In> = 0>
inline Out copy(In first, In last, Out out) {
    PORTER_WRITES(out, std::copy(details::plain(first), details::plain(last), start));
}
template <class In, class Out, class Op = plus<>, details::UnlessPolicy<In> = 0>
inline Out inclusive_scan(In first, In last, Out out, Op op = {}) {
    PORTER_WRITES(out, std::inclusive_scan(details::plain(first), details::plain(last), start, op));
}
template <class In, class Out, class T, class Op = plus<>, details::UnlessPolicy<In> = 0>
inline Out exclusive_scan(In first, In last, Out out, T initial, Op op = {}) {
    PORTER_WRITES(out, std::exclusive_scan(details::plain(first), details::plain(last), start, initial, op));
}
template <class In, class Out, details::UnlessPolicy<In> = 0>
inline Out exclusive_scan(In first, In last, Out out) {
    using T = typename std::iterator_traits<decltype(details::plain(first))>::value_type;
    return thrust::exclusive_scan(first, last, out, T());
}
template <class In, class Op, details::UnlessPolicy<In> = 0>
inline In for_each(In first, In last, Op op) {
    PORTER_WRITES(first, (std::for_each(start, details::plain(last), op), details::plain(last)));
}
template <class Out, class T, details::UnlessPolicy<Out> = 0>
inline Out fill_to(Out first, Out last, const T& value) {
    PORTER_WRITES(first, (std::fill(start, details::plain(last), value), details::plain(last)));
}
template <class Out, class T, details::UnlessPolicy<Out> = 0>
inline void fill(Out first, Out last, const T& value) { fill_to(first, last, value); }
template <class Out, class T, details::UnlessPolicy<Out> = 0>
inline Out sequence_from(Out first, Out last, T value) {
    PORTER_WRITES(first, (std::iota(start, details::plain(last), value), details::plain(last)));
}
template <class Out, details::UnlessPolicy<Out> = 0>
inline void sequence(Out first, Out last, int value = 0) { sequence_from(first, last, value); }
template <class Out, class Op = less<>, details::UnlessPolicy<Out> = 0>
inline Out sorted_to(Out first, Out last, Op op = {}) {
    PORTER_WRITES(first, (std::stable_sort(start, details::plain(last), op), details::plain(last)));
}
template <class Out, class Op = less<>, details::UnlessPolicy<Out> = 0>
inline void sort(Out first, Out last, Op op = {}) { sorted_to(first, last, op); }
template <class Out, class Op = less<>, details::UnlessPolicy<Out> = 0>
inline void stable_sort(Out first, Out last, Op op = {}) { sorted_to(first, last, op); }
#undef PORTER_WRITES

template <class In, class T, class Op = plus<>, details::UnlessPolicy<In> = 0>
inline T reduce(In first, In last, T initial, Op op = {}) {
    const porter::simt::UnwatchedScope unwatched;
    return std::accumulate(details::plain(first), details::plain(last), initial, op);
}
template <class In, details::UnlessPolicy<In> = 0>
inline auto reduce(In first, In last) {
    using T = typename std::iterator_traits<decltype(details::plain(first))>::value_type;
    return thrust::reduce(first, last, T());
}
template <class In, class Op, class T, class Combine, details::UnlessPolicy<In> = 0>
inline T transform_reduce(In first, In last, Op op, T initial, Combine combine) {
    const porter::simt::UnwatchedScope unwatched;
    for (auto i = details::plain(first); i != details::plain(last); ++i) initial = combine(initial, op(*i));
    return initial;
}
template <class In, class In2, class T, details::UnlessPolicy<In> = 0>
inline T inner_product(In first, In last, In2 second, T initial) {
    const porter::simt::UnwatchedScope unwatched;
    return std::inner_product(details::plain(first), details::plain(last), details::plain(second), initial);
}
template <class In, details::UnlessPolicy<In> = 0>
inline In max_element(In first, In last) {
    const porter::simt::UnwatchedScope unwatched;
    return first + (std::max_element(details::plain(first), details::plain(last)) - details::plain(first));
}
template <class In, details::UnlessPolicy<In> = 0>
inline In min_element(In first, In last) {
    const porter::simt::UnwatchedScope unwatched;
    return first + (std::min_element(details::plain(first), details::plain(last)) - details::plain(first));
}

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
