"""Plans carried out on symbols: each element of an input is a node of a graph, and so is what is computed of it.

It is the twin of `replay`: Triton's own semantics decide types, shapes and casts, and its interpreter runs the texts of
kernels; only the primitive operations below are others. `values.py` says what a tile is, `builder.py` has the
operations, `whole_numbers.py` and `keys.py` those on integers and on the bits of floats, `reductions.py` those along an
axis, `library.py` the functions that are kept by name. `memory.py` has the buffers, `launching.py` runs a kernel,
`executor.py` a plan. `process.py` is what porter asks, `worker.py` what answers there.
"""
