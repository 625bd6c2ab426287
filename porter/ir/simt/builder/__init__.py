"""Makes a function of the SIMT IR of one instance of a CUDA kernel.

`kernel.py` is the way in. `statements.py`, `loops.py` and `expressions.py` walk the tree; `assignments.py`,
`declarations.py`, `names.py`, `calls.py`, `inlining.py` and `intrinsics.py` are parts of that. `access.py` reads and
writes places, `arithmetic.py` has C's operators and conversions, `mathematics.py` the table of functions; `c_types.py`
and `resolve.py` know types, `deduction.py` template arguments, `mutability.py` what changes. `emitter.py` makes
operations, `state.py` holds what names mean.
"""
