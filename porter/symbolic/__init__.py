"""Executes the SIMT IR on symbols: floats, and what depends on data, are nodes of the graph of `porter/lift`.

`values.py` tells numbers from nodes, `domain.py` computes with them, `memory.py` holds them, `keys.py` has their bits,
`races.py` what orders their accesses. `executor.py` carries out the plan of a call; `process.py` has a child do that.
"""
