// Reductions of the lanes that a mask names, as compute capability 8.0 has them; the other lanes have no result.
#define PORTER_WARP_REDUCTION(NAME, TYPE, BEGIN, COMBINED)                          \
    __device__ TYPE NAME(unsigned mask, TYPE value) {                               \
        TYPE found = BEGIN;                                                         \
        for (int lane = 0; lane < 32; ++lane) {                                     \
            const TYPE other = __shfl_sync(mask, value, lane);                      \
            if ((mask >> lane) & 1u) found = COMBINED;                              \
        }                                                                           \
        return found;                                                               \
    }
PORTER_WARP_REDUCTION(__reduce_add_sync, int, 0, found + other)
PORTER_WARP_REDUCTION(__reduce_add_sync, unsigned, 0u, found + other)
PORTER_WARP_REDUCTION(__reduce_min_sync, int, 2147483647, min(found, other))
PORTER_WARP_REDUCTION(__reduce_min_sync, unsigned, 4294967295u, min(found, other))
PORTER_WARP_REDUCTION(__reduce_max_sync, int, -2147483647 - 1, max(found, other))
PORTER_WARP_REDUCTION(__reduce_max_sync, unsigned, 0u, max(found, other))
PORTER_WARP_REDUCTION(__reduce_and_sync, unsigned, 4294967295u, found & other)
PORTER_WARP_REDUCTION(__reduce_or_sync, unsigned, 0u, found | other)
PORTER_WARP_REDUCTION(__reduce_xor_sync, unsigned, 0u, found ^ other)
