"""Executes the SIMT IR on symbols: floats, and what depends on data, are nodes of the graph of `porter/lift`.

`values.py` tells numbers from nodes, `domain.py` computes with them, `memory.py` holds them, `executor.py` carries out
the plan of a call. It is a second road to a tensor program, beside that of a Triton port.
"""
