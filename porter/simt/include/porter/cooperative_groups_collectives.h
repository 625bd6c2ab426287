// Reductions and scans over cooperative groups.
#pragma once

#include "porter/cooperative_groups.h"

namespace cooperative_groups {

#define PORTER_GROUP_OPERATOR(name, expression) \
    template <class T> \
    struct name { \
        T operator()(const T& a, const T& b) const { return expression; } \
    };
PORTER_GROUP_OPERATOR(plus, a + b)
PORTER_GROUP_OPERATOR(less, b < a ? b : a)
PORTER_GROUP_OPERATOR(greater, a < b ? b : a)
PORTER_GROUP_OPERATOR(bit_and, a& b)
PORTER_GROUP_OPERATOR(bit_or, a | b)
PORTER_GROUP_OPERATOR(bit_xor, a ^ b)
#undef PORTER_GROUP_OPERATOR

// A tree towards rank 0, then its result for all: any size of group, and the same rounding on every lane.
template <class Group, class T, class Op>
inline T reduce(const Group& group, T value, Op op, Where where = Where::here()) {
    const unsigned int size = unsigned(details::count(group.lanes())), rank = unsigned(group.thread_rank());
    unsigned int offset = 1;
    while (offset * 2 < size) offset *= 2;
    for (; offset != 0; offset /= 2) {
        const T other = group.shfl_down(value, offset, where);
        if (rank + offset < size && rank < offset) value = op(value, other);
    }
    return group.shfl(value, 0, where);
}

template <class Group, class T, class Op>
inline T inclusive_scan(const Group& group, T value, Op op, Where where = Where::here()) {
    for (unsigned int offset = 1; offset < unsigned(group.size()); offset *= 2) {
        const T other = group.shfl_up(value, offset, where);
        if (unsigned(group.thread_rank()) >= offset) value = op(other, value);
    }
    return value;
}
template <class Group, class T>
inline T inclusive_scan(const Group& group, T value, Where where = Where::here()) {
    return inclusive_scan(group, value, plus<T>(), where);
}
template <class Group, class T, class Op>
inline T exclusive_scan(const Group& group, T value, Op op, Where where = Where::here()) {
    const T shifted = group.shfl_up(inclusive_scan(group, value, op, where), 1, where);
    return group.thread_rank() == 0 ? T() : shifted;
}
template <class Group, class T>
inline T exclusive_scan(const Group& group, T value, Where where = Where::here()) {
    return exclusive_scan(group, value, plus<T>(), where);
}

}  // namespace cooperative_groups
