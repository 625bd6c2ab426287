// cub::BlockScan over a block's shared memory.
#pragma once

#include "porter/cub_operators.h"

namespace cub {

// Several items of a thread stand next to each other in the sequence. Every form takes one item or an array of them.
template <class T, int DimX, BlockScanAlgorithm Algorithm = BLOCK_SCAN_RAKING, int DimY = 1, int DimZ = 1, int Architecture = 0>
class BlockScan {
    static constexpr int kThreads = DimX * DimY * DimZ;

public:
    using TempStorage = Room<T, kThreads + 1>;  // the threads' totals, then their prefixes; the block's total behind
    explicit BlockScan(TempStorage& storage) : storage_(storage) {}

    template <int Items, class Op>
    void InclusiveScan(T (&in)[Items], T (&out)[Items], Op op, T& aggregate, Where where = Where::here()) {
        const T prefix = prefix_of(serial(in, op), op, aggregate, where);
        emit_inclusive(in, out, op, rank() != 0, prefix);
    }
    template <int Items, class Op>
    void InclusiveScan(T (&in)[Items], T (&out)[Items], Op op, Where where = Where::here()) {
        T aggregate;
        InclusiveScan(in, out, op, aggregate, where);
    }
    // The callback turns the block's total into what stands before the block; the first warp calls it.
    template <int Items, class Op, class Callback>
    void InclusiveScan(T (&in)[Items], T (&out)[Items], Op op, Callback& callback, Where where = Where::here()) {
        T aggregate;
        const T prefix = prefix_of(serial(in, op), op, aggregate, where), before = broadcast(callback, aggregate, where);
        emit_inclusive(in, out, op, true, rank() == 0 ? before : op(before, prefix));
    }
    template <int Items, class Op>
    void ExclusiveScan(T (&in)[Items], T (&out)[Items], T initial, Op op, T& aggregate, Where where = Where::here()) {
        const T prefix = prefix_of(serial(in, op), op, aggregate, where);
        emit_exclusive(in, out, op, rank() == 0 ? initial : op(initial, prefix));
    }
    template <int Items, class Op>
    void ExclusiveScan(T (&in)[Items], T (&out)[Items], T initial, Op op, Where where = Where::here()) {
        T aggregate;
        ExclusiveScan(in, out, initial, op, aggregate, where);
    }
    // Without an initial value the first output is not specified; here it is T().
    template <int Items, class Op>
    void ExclusiveScan(T (&in)[Items], T (&out)[Items], Op op, Where where = Where::here()) {
        T aggregate;
        emit_exclusive(in, out, op, prefix_of(serial(in, op), op, aggregate, where));
    }
    template <int Items, class Op, class Callback, std::enable_if_t<!std::is_convertible_v<Op, T>, int> = 0>
    void ExclusiveScan(T (&in)[Items], T (&out)[Items], Op op, Callback& callback, Where where = Where::here()) {
        T aggregate;
        const T prefix = prefix_of(serial(in, op), op, aggregate, where), before = broadcast(callback, aggregate, where);
        emit_exclusive(in, out, op, rank() == 0 ? before : op(before, prefix));
    }

    template <class Op, class... Rest>
    void InclusiveScan(T in, T& out, Op op, Rest&&... rest) {
        T ins[1] = {in}, outs[1];
        InclusiveScan(ins, outs, op, rest...);
        out = outs[0];
    }
    template <class... Rest>
    void ExclusiveScan(T in, T& out, Rest&&... rest) {
        T ins[1] = {in}, outs[1];
        ExclusiveScan(ins, outs, rest...);
        out = outs[0];
    }
    template <class Items, class... Rest>
    void InclusiveSum(Items&& in, std::remove_reference_t<Items>& out, Rest&&... rest) {
        InclusiveScan(in, out, cub::Sum(), rest...);
    }
    template <int Items>
    void ExclusiveSum(T (&in)[Items], T (&out)[Items], Where where = Where::here()) { ExclusiveScan(in, out, T(), cub::Sum(), where); }
    template <int Items>
    void ExclusiveSum(T (&in)[Items], T (&out)[Items], T& aggregate, Where where = Where::here()) {
        ExclusiveScan(in, out, T(), cub::Sum(), aggregate, where);
    }
    template <int Items, class Callback>
    void ExclusiveSum(T (&in)[Items], T (&out)[Items], Callback& callback, Where where = Where::here()) {
        ExclusiveScan(in, out, cub::Sum(), callback, where);
    }
    template <class... Rest>
    void ExclusiveSum(T in, T& out, Rest&&... rest) {
        T ins[1] = {in}, outs[1];
        ExclusiveSum(ins, outs, rest...);
        out = outs[0];
    }

private:
    static int rank() { return int(porter::simt::block_rank()); }
    template <int Items, class Op>
    static T serial(T (&in)[Items], Op op) {
        T total = in[0];
        for (int i = 1; i < Items; ++i) total = op(total, in[i]);
        return total;
    }
    // Thread 0 scans the totals: two barriers, whatever the size of the block.
    template <class Op>
    T prefix_of(T total, Op op, T& aggregate, Where where) {
        storage_[rank()] = total;
        __syncthreads(where);
        if (rank() == 0) {
            T running = storage_[0];
            for (int i = 1; i < kThreads; ++i) {
                const T next = storage_[i];
                storage_[i] = running;
                running = op(running, next);
            }
            storage_[kThreads] = running;
        }
        __syncthreads(where);
        aggregate = storage_[kThreads];
        return rank() == 0 ? T() : storage_[rank()];
    }
    template <class Callback>
    T broadcast(Callback& callback, T aggregate, Where where) {
        T before = T();
        if (rank() < warpSize) before = callback(aggregate);
        __syncthreads(where);
        if (rank() == 0) storage_[0] = before;
        __syncthreads(where);
        return storage_[0];
    }
    template <int Items, class Op>
    static void emit_inclusive(T (&in)[Items], T (&out)[Items], Op op, bool has_prefix, T running) {
        for (int i = 0; i < Items; ++i) {
            running = has_prefix || i > 0 ? op(running, in[i]) : in[i];
            out[i] = running;
        }
    }
    template <int Items, class Op>
    static void emit_exclusive(T (&in)[Items], T (&out)[Items], Op op, T running) {
        for (int i = 0; i < Items; ++i) {
            const T item = in[i];
            out[i] = running;
            running = op(running, item);
        }
    }
    TempStorage& storage_;
};

}  // namespace cub
