// cub::WarpReduce and cub::WarpScan, by shuffles within `Threads` neighbouring lanes.
#pragma once

#include "porter/cub_operators.h"

namespace cub {

template <class T, int Threads = warpSize, int Architecture = 0>
class WarpReduce {
    static_assert((Threads & (Threads - 1)) == 0 && Threads <= warpSize, "a logical warp is a power of two of lanes");

public:
    struct TempStorage {
        unsigned char none;
    };
    explicit WarpReduce(TempStorage&) {}

    // The result is lane 0's; the other lanes keep partial ones. Only the first `valid` lanes count.
    template <class Op>
    T Reduce(T value, Op op, int valid, Where where = Where::here()) {
        for (int offset = 1; offset < Threads; offset *= 2) {
            const T other = __shfl_down_sync(mask(), value, unsigned(offset), Threads, where);
            if (rank() + offset < valid) value = op(value, other);
        }
        return value;
    }
    template <class Op>
    T Reduce(T value, Op op, Where where = Where::here()) { return Reduce(value, op, present(), where); }
    T Sum(T value, Where where = Where::here()) { return Reduce(value, cub::Sum(), present(), where); }
    T Sum(T value, int valid, Where where = Where::here()) { return Reduce(value, cub::Sum(), valid, where); }

    template <class Flag, class Op>
    T HeadSegmentedReduce(T value, Flag head, Op op, Where where = Where::here()) {
        const unsigned long long heads = segment_bits(porter::simt::ballot(mask(), bool(head), where));
        const unsigned long long later = rank() == 63 ? 0 : heads >> (rank() + 1);
        const int end = later == 0 ? present() : rank() + 1 + __builtin_ctzll(later);
        return Reduce(value, op, end, where);
    }
    template <class Flag>
    T HeadSegmentedSum(T value, Flag head, Where where = Where::here()) {
        return HeadSegmentedReduce(value, head, cub::Sum(), where);
    }
    template <class Flag, class Op>
    T TailSegmentedReduce(T value, Flag tail, Op op, Where where = Where::here()) {
        const unsigned long long later = segment_bits(porter::simt::ballot(mask(), bool(tail), where)) >> rank();
        return Reduce(value, op, later == 0 ? present() : rank() + 1 + __builtin_ctzll(later), where);
    }
    template <class Flag>
    T TailSegmentedSum(T value, Flag tail, Where where = Where::here()) {
        return TailSegmentedReduce(value, tail, cub::Sum(), where);
    }

private:
    static int rank() { return porter::simt::lane() % Threads; }
    static porter::simt::LaneMask mask() { return porter::simt::segment_lanes(Threads); }
    static unsigned long long segment_bits(porter::simt::LaneMask votes) {
        return votes >> (porter::simt::lane() - rank()) & porter::simt::low_lanes(Threads);
    }
    static int present() { return __popcll(mask()); }
};

template <class T, int Threads = warpSize, int Architecture = 0>
class WarpScan {
    static_assert((Threads & (Threads - 1)) == 0 && Threads <= warpSize, "a logical warp is a power of two of lanes");

public:
    struct TempStorage {
        unsigned char none;
    };
    explicit WarpScan(TempStorage&) {}

    template <class Op>
    void InclusiveScan(T input, T& output, Op op, Where where = Where::here()) {
        for (int offset = 1; offset < Threads; offset *= 2) {
            const T other = __shfl_up_sync(mask(), input, unsigned(offset), Threads, where);
            if (rank() >= offset) input = op(other, input);
        }
        output = input;
    }
    template <class Op>
    void InclusiveScan(T input, T& output, Op op, T& aggregate, Where where = Where::here()) {
        InclusiveScan(input, output, op, where);
        aggregate = last(output, where);
    }
    template <class Op>
    void ExclusiveScan(T input, T& output, Op op, Where where = Where::here()) {
        T inclusive;
        InclusiveScan(input, inclusive, op, where);
        output = __shfl_up_sync(mask(), inclusive, 1u, Threads, where);
    }
    template <class Op>
    void ExclusiveScan(T input, T& output, T initial, Op op, Where where = Where::here()) {
        T aggregate;
        ExclusiveScan(input, output, initial, op, aggregate, where);
    }
    template <class Op>
    void ExclusiveScan(T input, T& output, T initial, Op op, T& aggregate, Where where = Where::here()) {
        T inclusive;
        InclusiveScan(input, inclusive, op, aggregate, where);
        const T before = __shfl_up_sync(mask(), inclusive, 1u, Threads, where);
        output = rank() == 0 ? initial : op(initial, before);
    }
    template <class Op>
    void Scan(T input, T& inclusive, T& exclusive, T initial, Op op, Where where = Where::here()) {
        ExclusiveScan(input, exclusive, initial, op, where);
        inclusive = op(exclusive, input);
    }
    void InclusiveSum(T input, T& output, Where where = Where::here()) { InclusiveScan(input, output, cub::Sum(), where); }
    void InclusiveSum(T input, T& output, T& aggregate, Where where = Where::here()) {
        InclusiveScan(input, output, cub::Sum(), aggregate, where);
    }
    void ExclusiveSum(T input, T& output, Where where = Where::here()) { ExclusiveScan(input, output, T(), cub::Sum(), where); }
    void ExclusiveSum(T input, T& output, T& aggregate, Where where = Where::here()) {
        ExclusiveScan(input, output, T(), cub::Sum(), aggregate, where);
    }
    T Broadcast(T input, unsigned int source, Where where = Where::here()) {
        return __shfl_sync(mask(), input, int(source), Threads, where);
    }

private:
    static int rank() { return porter::simt::lane() % Threads; }
    static porter::simt::LaneMask mask() { return porter::simt::segment_lanes(Threads); }
    static T last(T value, Where where) { return __shfl_sync(mask(), value, __popcll(mask()) - 1, Threads, where); }
};

}  // namespace cub
