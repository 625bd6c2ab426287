"""The device that porter emulates, where a launcher may ask for it: as in `porter/runtime_device.h` of the executor."""

MULTIPROCESSORS = 4
