// Faults: what went wrong, at which line of the user's source.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace porter::simt {

// In the order of porter.execution.job.FaultKind: the number crosses the process border.
enum class FaultKind : std::uint8_t {
    LANE_OUTSIDE_MASK,
    LANE_ABSENT,
    DEADLOCK,
    OUT_OF_BOUNDS,
    RACE,
    UNINITIALISED,
    LAUNCH,
    HOST_CHECK,
    DEVICE_ASSERT,
    MISALIGNED,
    CRASH,
    TIMEOUT,
    RESOURCE,
    UNDEFINED,
    LIBRARY,
    DECOY,
    RESULT,
    KEPT,
    REPLACED,
    REACHED,
    HOST_WORK,
    FORGED,
    UNKNOWN,  // something that a device has and the executor does not: it says nothing against the source
    UNPUBLISHED,  // a store of another block that no fence orders before the atomic which tells of it
    UNACQUIRED,  // a read of what another block wrote that no fence orders behind that atomic
    UNFIT,  // a float that becomes a whole number of a type which does not hold it
    SHIFTED,  // a shift by at least as many bits as the number has
};

// A place in the user's source. As the default of a parameter, `Where::here()` names the line of the call.
struct Where {
    const char* file = "";
    int line = 0;

    static constexpr Where here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) { return {file, line}; }
};

// Records a fault and goes on. Equal faults (kind, place, kernel) are counted, not repeated.
void note(FaultKind kind, Where where, const std::string& message);

// Records a fault, writes the results so far and ends the process.
[[noreturn]] void fail(FaultKind kind, Where where, const std::string& message);

// What host code throws when a check of its own fails (TORCH_CHECK); becomes a HOST_CHECK fault unless caught.
class HostCheck : public std::runtime_error {
public:
    HostCheck(Where where, const std::string& message) : std::runtime_error(message), where(where) {}
    Where where;
};

}  // namespace porter::simt
