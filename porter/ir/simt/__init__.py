"""The SIMT IR: what one thread of a launch does, in structured static single assignment.

`types.py` are the types, `ops.py` values, operations, blocks and functions; `operations.py` is the table of operations
and `verify.py` what a well-formed function obeys. `printer.py` and `parser.py` are its text, `cleanup.py` takes away
what nobody uses. `builder` makes a function of a CUDA kernel's tree, with `library` for
what CUDA's libraries define; `interpret` executes one, `replay` carries out launch plans by it.
"""
