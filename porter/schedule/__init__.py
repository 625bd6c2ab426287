"""Schedules of tensor programs: how an operator is split into kernels, tiles and passes over memory.

`flatten` brings a program into loops over flat memory, `nests` splits these into nests that a kernel each can carry
out, `algorithms` writes a nest as kernels of the tile IR for a `Schedule`. What language it becomes is the backend's.
"""
