// What the recorder of a plan tells and asks of the order between streams.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "porter/streams.h"

namespace porter::simt {

inline constexpr std::uint32_t HOST_STREAM = 0xffffffff;
using Clock = std::map<std::uint32_t, std::uint64_t>;  // by stream: how much of its work is ordered before

// A piece of work: the `time`-th of its stream, from 1; 0 is none.
struct __attribute__((packed)) Moment {
    std::uint32_t stream = 0;
    std::uint64_t time = 0;
};

// Records a step that is work on the stream that it is asked for at, or of the host itself.
Moment record_work(const std::string& step, bool by_host);
// Whether the host has waited for it.
bool host_knows(const Moment& moment);
// The caller goes on behind the default stream.
void record_end_of_call();

}  // namespace porter::simt
