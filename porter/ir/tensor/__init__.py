"""The tensor IR: each output element as an expression over elements of the inputs, at sizes that are symbols.

`quantities.py` are exact numbers over the sizes, `expressions.py` the expressions, `program.py` a whole operator;
`traversal.py` takes expressions apart, `sharing.py` finds which parts of one are the same. `verify.py` says what a
well-formed program obeys. `printer.py` prints it, on `notation.py`. `interpret.py` gives it meaning: `coordinates.py`
has the points, `values.py` the tensors and `arithmetic.py` the operations.
"""
