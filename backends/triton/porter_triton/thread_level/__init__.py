"""Writes the thread-level port: prints a kernel of the SIMT IR as Triton, whatever it computes.

A block of threads is a program; a value that threads of a block agree on is a scalar, any other one a tensor with an
element a thread. `kernel.py` is the way in: it builds the function, carries out the passes and has it printed.
`printer.py` walks the function; `arithmetic.py`, `memory.py`, `exchange.py`, `branches.py` and `loops.py` print the
operations of their kind. `expressions.py` is a value's text, with what Triton knows of it, `prologue.py` what the text
begins with. Text is written once and never read.
"""
