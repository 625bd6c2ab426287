"""Transforms: each file is one pass, from a function to a function that computes the same.

`rewriting.py` is how passes copy a function. `folding.py` computes what is known, `unrolling.py` writes out short loops
whose iterations are known, `array_values.py` makes values of a thread's own arrays, `common.py` computes once what is
computed twice.
"""
