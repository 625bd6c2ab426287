"""Analyses: each is a function from a function of the IR to a table keyed by value or operation.

`uniformity.py` says which values differ between threads of a block, `ranges.py` between which numbers integers lie,
`uses.py` who uses a value, `accesses.py` which memory an access touches and where accesses need a barrier between them.
"""
