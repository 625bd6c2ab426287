// Memory whose use is followed: device allocations and the shared memory of the running block.
#pragma once

#include <cstddef>
#include <cstdint>

namespace porter::simt {

// Where device memory begins, as the job says: far from anything the system maps.
extern std::uintptr_t arena_base;
inline constexpr std::size_t ARENA_BYTES = 1ull << 38;
inline constexpr std::size_t SHADOW_BYTES = 1ull << 42;
inline constexpr int GRANULE_BITS = 16;
inline constexpr std::size_t GUARD_BYTES = 256 << 10;
// Between the first allocations there is more: an index far beyond one would be taken for a use of another.
inline constexpr std::size_t FAR_BYTES = 64 << 20;

// Per byte of a region.
enum ByteState : std::uint8_t {
    WRITTEN = 1,         // somebody gave it a value
    USER_WRITTEN = 2,    // user code did: a kernel, host code, or a copy that it asked for
    USER_READ = 4,       // user code read it before any wrote it
};

// The last write and two reads by different threads of one granule of a region. A stamp of 0 is none.
struct Cell {
    std::uint64_t write, read[2];
    std::uint32_t write_place, read_place[2];
    std::uint32_t touched;  // stored to before anything is loaded, which would map the page twice
};

struct Region {
    std::uintptr_t base;
    std::size_t bytes;
    const char* label;
    bool live, managed, shared;
    std::uint8_t* state;       // null in executables without memory hooks
    Cell* cells;
    int cell_shift;            // a cell covers 1 << cell_shift bytes
    std::uint64_t beyond;      // accesses outside
    bool variable = false;     // it stands for a variable of the device's
    bool given = false;        // as an argument of the entry, which may stand for memory of the host while host code plans
    bool as_host = false, as_device = false;  // how it was used then
};

Region* region_of(const volatile void* address);   // live or freed; guard zones included
Region* find_allocation(std::uintptr_t address);   // in the arena
// From now on nothing of the executable's static storage is a kernel's but shared memory and the variables of the source,
// each of which is told with its symbol. Those that are not `of_source` are free, as what headers keep is.
void watch_variables_alone();
void watch_variable(std::uintptr_t base, std::size_t bytes, const char* symbol, bool of_source);
std::uint32_t buffer_of(const Region& region);     // its number in a plan
int allocation_count();
Region& allocation(int index);
void follow(Region& region);                       // gives it state and cells
// These bytes are the entry's arguments in another call than before, of which nothing is known any more.
void given_anew(const void* address, std::size_t bytes);
// One load or store of user code, which the instruction is about to make.
void access_plain(const volatile void* address, std::size_t bytes, bool write, const void* instruction);
// The same of 1, 2, 4, 8 or 16 bytes.
template <std::size_t BYTES, bool WRITE>
void access_word(const volatile void* address, const void* instruction);
void refine_cells(Region& region, int shift);
void reserve_arena();
extern std::size_t device_limit_bytes;
// The last size that an allocation was refused; 0 where none was.
std::size_t device_bytes_refused();

}  // namespace porter::simt
