// Device memory: guarded, poisoned, and known to the watch.
#pragma once

#include <cstddef>

namespace porter::simt {

// Device memory filled with the job's poison byte, aligned to 4096 bytes; null when the device is full.
// `managed` memory may be touched by host code. `label` must outlive the allocation.
void* device_allocate(std::size_t bytes, const char* label, bool managed = false);

// Gives memory back. Later accesses are reported. Null and addresses that are no allocation's start: false.
bool device_free(void* pointer);

// Gives back all that host code has allocated, as cudaDeviceReset does.
void device_reset();
// Host code that plans says that this is memory of the host: false where a device knows that it is not.
bool is_host_memory(const void* pointer);

// The extent of the live allocation that holds `pointer`; base is null when there is none.
struct Extent {
    void* base = nullptr;
    std::size_t bytes = 0;
    bool managed = false;
};
Extent device_extent(const void* pointer);

// Tells the watch that the host wrote or cleared device memory (cudaMemcpy to the device, cudaMemset, a torch fill).
void host_wrote(void* pointer, std::size_t bytes);

// Tells the watch that host code read or overwrote `bytes` of device memory, by itself or by a copy: what it is handed is
// used by that as by a kernel.
void host_used(const void* pointer, std::size_t bytes, bool write);

// Copies within or across host and device memory as cudaMemcpy does: what was never written stays so.
void device_copy(void* to, const void* from, std::size_t bytes);
void device_fill(void* to, int byte, std::size_t bytes);

// The address by which the device knows a `__device__` or `__constant__` variable of the source.
void* device_variable(const void* address, std::size_t bytes);

// What host code is told of the device, and of the time between two events.
bool like_a_device();  // what differs between devices is not the executor's
int multiprocessors();
float event_milliseconds();
std::size_t device_bytes_total();
std::size_t device_bytes_free();

}  // namespace porter::simt
