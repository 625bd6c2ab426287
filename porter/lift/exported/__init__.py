"""Lifts PyTorch modules to tensor programs: reads what `torch.export` makes of one, operator by operator.

`capture.py` runs in the confined process that holds the module; `graph.py` defines what leaves it, as data. `arrays.py`
says what an element of a value is, `operators.py` and its neighbours are the table from ATen to the tensor IR,
`lifting.py` reads a graph at the sizes of one export, `joining.py` makes one program of several exports.
"""
