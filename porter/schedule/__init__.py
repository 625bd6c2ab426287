"""Schedules tensor programs: splits an operator into kernels, tiles and passes over memory.

`flatten` brings a program into loops over flat memory, `nests` splits these into nests, each of which a kernel can
carry out, `algorithms` writes a nest as kernels of the tile IR for a `Schedule`. The backend writes these in its
language.
"""
