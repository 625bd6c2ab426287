"""The single changes that can be made to a module of Triton kernels.

Left alone is what no answer can tell: annotations, `num_warps` and `num_stages`, checks that only raise (what becomes
of arguments outside of the contract is not compared), shapes, of which Triton takes powers of two alone, and the grids
of kernels that ask how many programs there are, since those stride over the whole.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from itertools import accumulate, pairwise

from benchmarks.mutation.mutation import Kind, Mutation
from porter.python_tree import module_tree

_OPERATORS: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "+"), ast.Div: ("/", "*"), ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "//"), ast.BitAnd: ("&", "|"), ast.BitOr: ("|", "&"), ast.BitXor: ("^", "|"),
    ast.LShift: ("<<", ">>"), ast.RShift: (">>", "<<"),
}  # fmt: skip
_COMPARISONS: dict[type[ast.cmpop], tuple[str, tuple[str, ...]]] = {
    ast.Lt: ("<", ("<=", ">")), ast.LtE: ("<=", ("<", ">")), ast.Gt: (">", (">=", "<")), ast.GtE: (">=", (">", "<")),
    ast.Eq: ("==", ("!=",)), ast.NotEq: ("!=", ("==",)),
}  # fmt: skip
_EXTREMA = {
    "maximum": "minimum", "minimum": "maximum", "max": "min", "min": "max", "sum": "max", "argmax": "argmin",
    "argmin": "argmax", "atomic_max": "atomic_min", "atomic_min": "atomic_max",
}  # fmt: skip
_DTYPES = {
    "float64": "float32", "float32": "float16", "float16": "bfloat16", "bfloat16": "float16",
}  # fmt: skip
_MEMORY = frozenset(("load", "store", "atomic_add", "atomic_max", "atomic_min", "atomic_cas", "atomic_xchg"))
# How many of a call's first arguments are shapes.
_SHAPES = {"arange": 2, "static_range": 3, "zeros": 1, "full": 1, "reshape": 3, "broadcast_to": 3}
_EITHER_WAY = frozenset(("maximum", "minimum", "max", "min", "atomic_add"))
_UNSEEN_KEYWORDS = frozenset(("num_warps", "num_stages", "axis"))


def mutations(text: str) -> tuple[Mutation, ...]:
    """Every single change of the module `text`, in the order of their places."""
    finder = _Finder(_Text(text))
    finder.visit(module_tree(text))
    return tuple(sorted(set(finder.found)))


class _Text:
    """The module's text, and where its nodes stand in it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._lines = text.splitlines(keepends=True)
        self._starts = [0, *accumulate(map(len, self._lines))]

    def at(self, line: int, column: int) -> int:
        """The offset of a place that `ast` gives: its columns count bytes."""
        return self._starts[line - 1] + len(self._lines[line - 1].encode()[:column].decode())

    def extent(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Returns where the node begins and ends."""
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
        return self.at(node.lineno, node.col_offset), self.at(end_line, end_column)

    def of(self, node: ast.expr | ast.stmt) -> str:
        """The text of the node."""
        start, end = self.extent(node)
        return self.text[start:end]

    def operator(self, before: ast.expr, after: ast.expr, word: str) -> tuple[int, int]:
        """Returns where the operator `word` stands between two operands, whatever brackets and comments surround it."""
        start, end = self.extent(before)[1], self.extent(after)[0]
        between = "(" + self.text[start:end].replace(")", " ").replace("(", " ") + ")"
        lines = [0, *accumulate(map(len, between.splitlines(keepends=True)))]
        for token in tokenize.generate_tokens(io.StringIO(between).readline):
            if token.type == tokenize.OP and token.string == word:
                place = start - 1 + lines[token.start[0] - 1] + token.start[1]
                return place, place + len(word)
        raise ValueError(f"no {word} in {between!r}")


class _Finder(ast.NodeVisitor):
    """Collects the changes of a module."""

    def __init__(self, text: _Text) -> None:
        self.found: list[Mutation] = []
        self._text = text
        self._striding: set[str] = set()  # the kernels that any grid will do for
        self._assigned: set[str] = set()  # the names that have a value so far, in the order of the text

    def _change(self, kind: Kind, node: ast.expr | ast.stmt, *replacements: str) -> None:
        start, end = self._text.extent(node)
        self.found += [Mutation(start, end, r, kind) for r in replacements if r != self._text.text[start:end]]

    def visit_Module(self, node: ast.Module) -> None:
        functions = [statement for statement in node.body if isinstance(statement, ast.FunctionDef)]
        self._striding = {f.name for f in functions if "num_programs" in map(_name, _expressions(f))}
        for function in functions:
            self.visit(function)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        outer = self._assigned
        self._assigned = {a.arg for a in (*node.args.args, *node.args.kwonlyargs)}
        for statement in node.body:
            self.visit(statement)
        self._assigned = outer

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):  # a docstring
            return
        if isinstance(node.value, ast.Call):
            self._change(Kind.REMOVED, node, "pass")
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        names = {n.id for target in node.targets for n in ast.walk(target) if isinstance(n, ast.Name)}
        if names <= self._assigned:
            self._change(Kind.REMOVED, node, "pass")
        self._assigned |= names
        if isinstance(node.value, ast.BinOp | ast.Call) and not _is_truth(node.value):
            self._change(Kind.SIGN, node.value, f"-({self._text.of(node.value)})")
        self.visit(node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._change(Kind.REMOVED, node, "pass")
        self.visit(node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_If(self, node: ast.If) -> None:
        if not all(isinstance(statement, ast.Raise) for statement in node.body):
            self._change(Kind.REMOVED, node.test, "False")
            self.visit(node.test)
        for statement in (*node.body, *node.orelse):
            self.visit(statement)

    def visit_Raise(self, node: ast.Raise) -> None:
        """Changes nothing: what is said of arguments outside of the contract is not compared."""

    def visit_For(self, node: ast.For) -> None:
        if isinstance(node.iter, ast.Call) and _name(node.iter.func) in ("range", "static_range"):
            stop = node.iter.args[min(1, len(node.iter.args) - 1)]
            self._change(Kind.BOUND, stop, f"({self._text.of(stop)}) - 1")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        words = _OPERATORS.get(type(node.op))
        if words:
            start, end = self._text.operator(node.left, node.right, words[0])
            self.found.append(Mutation(start, end, words[1], Kind.OPERATOR))
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        if len(node.ops) == 1 and (words := _COMPARISONS.get(type(node.ops[0]))):
            start, end = self._text.operator(node.left, node.comparators[0], words[0])
            self.found += [Mutation(start, end, word, Kind.COMPARISON) for word in words[1]]
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.USub | ast.Not | ast.Invert):
            self._change(Kind.SIGN, node, f"({self._text.of(node.operand)})")
        if not isinstance(node.operand, ast.Constant):
            self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bool):
            self._change(Kind.CONSTANT, node, str(not value))
        elif isinstance(value, int):
            self._change(
                Kind.CONSTANT, node, str(value + 1), _number(value - 1), *([str(2 * value)] if value > 1 else ())
            )
        elif isinstance(value, float) and abs(value) not in (0.0, float("inf")):
            self._change(Kind.CONSTANT, node, repr(2 * value), repr(value + 1))
            self._change(Kind.SIGN, node, f"(-{self._text.of(node)})")

    def visit_Attribute(self, node: ast.Attribute) -> None:
        other = _DTYPES.get(node.attr)
        if other and isinstance(node.value, ast.Name) and node.value.id in ("tl", "torch"):
            self._change(Kind.DTYPE, node, f"{node.value.id}.{other}")
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self.visit(node.value)
        if not any(isinstance(n, ast.Slice) for n in ast.walk(node.slice)):
            self.visit(node.slice)

    def visit_Call(self, node: ast.Call) -> None:
        name = _name(node.func)
        self._rename(node, name)
        self._swap(node, name)
        if name in _MEMORY and node.args:
            self._shift(node.args[0])
        if isinstance(node.func, ast.Subscript) and _name(node.func.value) not in self._striding:
            for size in getattr(node.func.slice, "elts", ()):
                self._change(Kind.GRID, size, f"max(1, ({self._text.of(size)}) - 1)")
        self.visit(node.func)
        for argument in node.args[_SHAPES.get(name, 0) :]:
            self.visit(argument)
        for keyword in node.keywords:
            self._keyword(keyword)

    def _rename(self, node: ast.Call, name: str) -> None:
        """Another function is called."""
        if name in _EXTREMA:
            end = self._text.extent(node.func)[1]
            self.found.append(Mutation(end - len(name), end, _EXTREMA[name], Kind.EXTREMUM))
        elif name == "cdiv":
            a, b = (self._text.of(argument) for argument in node.args)
            self._change(Kind.GRID, node, f"max(1, ({a}) // ({b}))")

    def _swap(self, node: ast.Call, name: str) -> None:
        """Two neighbours among the arguments change places."""
        if name in _EITHER_WAY:
            return
        first = 1 if name == "where" else 0
        for a, b in pairwise(node.args[first:]):
            both = isinstance(a, ast.Name) and isinstance(b, ast.Name)
            if (both or name == "where") and (one := self._text.of(a)) != (other := self._text.of(b)):
                start, end = self._text.extent(a)[0], self._text.extent(b)[1]
                between = self._text.text[self._text.extent(a)[1] : self._text.extent(b)[0]]
                self.found.append(Mutation(start, end, f"{other}{between}{one}", Kind.SWAPPED))

    def _shift(self, pointer: ast.expr) -> None:
        """Another element is read or written: a term of the index is left out, or one added."""
        self._change(Kind.INDEX, pointer, f"{self._text.of(pointer)} + 1")
        for node in ast.walk(pointer):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
                self._change(Kind.INDEX, node, f"({self._text.of(node.left)})")

    def _keyword(self, keyword: ast.keyword) -> None:
        if keyword.arg == "mask":
            self._change(Kind.MASK, keyword.value, "None")
            for node in ast.walk(keyword.value):
                if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd):
                    self._change(Kind.MASK, node, *(f"({self._text.of(side)})" for side in (node.left, node.right)))
        if keyword.arg not in _UNSEEN_KEYWORDS:
            self.visit(keyword.value)


def _expressions(function: ast.FunctionDef) -> Iterator[ast.expr]:
    """Every expression of the function."""
    return (node for node in ast.walk(function) if isinstance(node, ast.expr))


def _name(function: ast.expr) -> str:
    """Returns what a function is called, without the module it is of."""
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _is_truth(value: ast.expr) -> bool:
    """Returns whether the value is a mask, of which there is no negative."""
    logical = isinstance(value, ast.BinOp) and isinstance(value.op, ast.BitAnd | ast.BitOr)
    return logical or any(isinstance(node, ast.Compare) for node in ast.walk(value))


def _number(value: int) -> str:
    return f"({value})" if value < 0 else str(value)
