// What a job says: its head, and the arguments behind it.
#pragma once

#include "porter/serve.h"
#include "process.h"

namespace porter::simt {

extern Arguments arguments;

// Bytes of the job that nobody has read yet; a job that ends before is a crash.
void read_exactly(void* data, std::size_t bytes);

template <class T>
T read_value() {
    T value;
    read_exactly(&value, sizeof value);
    return value;
}

std::string read_text();

// What messages call an argument; it lives as long as the process.
const char* label_of(int argument);

// Makes the arguments, in device memory. A plan has no contents: its tensors have a size alone.
void read_arguments();
// What the tensors hold in the next call, in the memory that they have.
void read_next_contents();

}  // namespace porter::simt
