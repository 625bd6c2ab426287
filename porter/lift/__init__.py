"""Lifts by execution: an operator runs on symbols at a few sizes, and a tensor program is fitted to the results.

`nodes.py` holds the results, as a graph of operations on elements of the inputs; `normal.py` brings each output element
to a normal form, in which spellings of one sum, extreme or product are equal; `fit.py` reads coordinates, reductions
and bounds off those of one probe, `sizes.py` joins the probes to one program over symbols. Nothing here knows a
spelling of the source. See docs/design/compiler.md.
"""
