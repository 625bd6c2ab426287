"""Executes functions of the SIMT IR: all threads of some blocks at once, floats and memory by a domain of values.

`machine.py` runs a function, `control.py` its regions, `exchange.py` what lanes say to each other, `integers.py`
computes whole numbers. `domain.py` is what the machine asks of floats and of memory; `concrete.py` and `memory.py` are
those of numpy.
"""
