// Barriers and fences as kernels spell them.
#pragma once

#include "porter/warp.h"

// A macro would hide the caller's line; the trailing argument carries it.
inline void __syncthreads(porter::simt::Where where = porter::simt::Where::here()) {
    porter::simt::block_barrier(0, porter::simt::BarrierOp::NONE, where);
}
inline int __syncthreads_count(int predicate, porter::simt::Where where = porter::simt::Where::here()) {
    return porter::simt::block_barrier(predicate, porter::simt::BarrierOp::COUNT, where);
}
inline int __syncthreads_and(int predicate, porter::simt::Where where = porter::simt::Where::here()) {
    return porter::simt::block_barrier(predicate, porter::simt::BarrierOp::AND, where);
}
inline int __syncthreads_or(int predicate, porter::simt::Where where = porter::simt::Where::here()) {
    return porter::simt::block_barrier(predicate, porter::simt::BarrierOp::OR, where);
}
inline void __barrier_sync(unsigned int id, porter::simt::Where where = porter::simt::Where::here()) {
    id == 0 ? void(porter::simt::block_barrier(0, porter::simt::BarrierOp::NONE, where))
            : porter::simt::named_barrier(int(id), int(blockDim.x * blockDim.y * blockDim.z), where);
}
inline void __barrier_sync_count(unsigned int id, unsigned int threads,
                                 porter::simt::Where where = porter::simt::Where::here()) {
    porter::simt::named_barrier(int(id), int(threads), where);
}

inline void __threadfence() { porter::simt::memory_fence(); }
inline void __threadfence_block() { porter::simt::memory_fence(porter::simt::Scope::BLOCK); }
inline void __threadfence_system() { porter::simt::memory_fence(); }
