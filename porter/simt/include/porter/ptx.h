// What inline PTX becomes where C++ has no function for it; grammars/ptx.toml names these.
#pragma once

#include "porter/float8.h"
#include "porter/runtime_device.h"
#include "porter/warp_functions.h"

namespace porter::ptx {

// Stands where PTX has no C++ form.
[[noreturn]] inline void refuse(const char* why, simt::Where where = simt::Where::here()) {
    simt::fail(simt::FaultKind::UNKNOWN, where, why);
}

// The 32-bit address of shared memory is its distance from the start of static storage, where all of it lies.
inline std::size_t shared_offset(const void* pointer) {
    return std::size_t(static_cast<const char*>(pointer) - __data_start);
}
template <class Address>
inline char* shared_address(Address address) {
    if constexpr (std::is_pointer_v<Address>) return (char*)address;
    else return __data_start + std::size_t(address);
}

// cp.async, done at once. Bytes beyond `source_bytes` are zero.
inline __attribute__((always_inline)) void copy_async(char* to, const char* from, int bytes, int source_bytes = 16) {
    for (int i = 0; i < bytes; i += 4)
        *(unsigned int*)(to + i) = i < source_bytes ? *(const unsigned int*)(from + i) : 0u;
}

inline unsigned int lanemask_eq() { return unsigned(1ull << simt::lane()); }
inline unsigned int lanemask_lt() { return unsigned((1ull << simt::lane()) - 1); }

// Blocks take the multiprocessors in turn.
inline unsigned int multiprocessor() { return (blockIdx.x + gridDim.x * blockIdx.y) % unsigned(simt::multiprocessors()); }

}  // namespace porter::ptx

inline std::size_t __cvta_generic_to_shared(const void* pointer) { return porter::ptx::shared_offset(pointer); }
inline void* __cvta_shared_to_generic(std::size_t address) { return porter::ptx::shared_address(address); }
