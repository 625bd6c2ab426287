// What the compiler's checks hand over: where they stand in the source, and types.
#pragma once

struct UbsanPlace {
    const char* file;
    unsigned line, column;
};

// `kind` is 0 for whole numbers and 1 for floats. `info` is twice the logarithm of the width in bits, and one more where
// there is a sign; of floats it is the width.
struct UbsanType {
    unsigned short kind, info;
    char name[1];
};
