#pragma once

namespace porter::simt {

// Prints what the threads of the launch that ended have printed.
void print_launch();

}  // namespace porter::simt
