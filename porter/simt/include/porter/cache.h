// Loads and stores with a cache hint are loads and stores; address-space questions are answered by the allocations.
//
// They are inlined always, so that the access belongs to the caller's line.
#pragma once

#include <cstddef>
#include <cstdint>

#include "porter/keywords.h"
#include "porter/memory.h"

namespace porter {

template <class T>
struct Identity {
    using type = T;
};

}  // namespace porter

#define PORTER_LOAD(name) \
    template <class T> \
    inline __attribute__((always_inline)) T name(const T* address) { \
        return *address; \
    }
PORTER_LOAD(__ldg)
PORTER_LOAD(__ldca)
PORTER_LOAD(__ldcg)
PORTER_LOAD(__ldcs)
PORTER_LOAD(__ldlu)
PORTER_LOAD(__ldcv)
#undef PORTER_LOAD

#define PORTER_STORE(name) \
    template <class T> \
    inline __attribute__((always_inline)) void name(T* address, typename porter::Identity<T>::type value) { \
        *address = value; \
    }
PORTER_STORE(__stwb)
PORTER_STORE(__stcg)
PORTER_STORE(__stcs)
PORTER_STORE(__stwt)
#undef PORTER_STORE

inline unsigned int __isGlobal(const void* pointer) { return porter::simt::device_extent(pointer).base != nullptr; }
inline unsigned int __isShared(const void* pointer) { return !__isGlobal(pointer); }
inline unsigned int __isLocal(const void* pointer) { return !__isGlobal(pointer); }
inline unsigned int __isConstant(const void*) { return 0; }
inline std::size_t __cvta_generic_to_global(const void* pointer) { return reinterpret_cast<std::size_t>(pointer); }
inline std::size_t __cvta_generic_to_local(const void* pointer) { return reinterpret_cast<std::size_t>(pointer); }
inline std::size_t __cvta_generic_to_constant(const void* pointer) { return reinterpret_cast<std::size_t>(pointer); }
inline void* __cvta_global_to_generic(std::size_t address) { return reinterpret_cast<void*>(address); }
