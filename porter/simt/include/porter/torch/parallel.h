// PyTorch's loops over threads of the host, of which there is one here.
#pragma once

#include <cstdint>

namespace at {

inline int get_num_threads() { return 1; }
inline int get_thread_num() { return 0; }
inline bool in_parallel_region() { return false; }

template <class F>
void parallel_for(std::int64_t begin, std::int64_t end, std::int64_t, const F& body) {
    if (begin < end) body(begin, end);
}

}  // namespace at
