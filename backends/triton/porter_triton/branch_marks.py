"""Marks Python code so that it tells which sides of its branches run: Triton kernels and their host code alike.

    marks = BranchMarks()
    tree = module_tree(text)
    marks.insert(tree, "op_triton.py")        # a kernel, or a whole module; lines stay where they are
    exec(compile(tree, path, "exec"), {**marks.names})
    marks.coverage()                          # of all that ran since, as plain data

Marked are both outcomes of `if`, `while`, `a if c else b` and the conditions of comprehensions, also where constants of
a kernel decide them, bodies of `for`, a second turn of it, and cases of `match`. Masks choose between values: they are
not branches. A condition is evaluated once; its truth is asked once more than without marks.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from porter.branch_coverage import RUN_TWICE, BranchCoverage, Side

_WENT, _CAME, _TURNS = "__porter_went__", "__porter_came__", "__porter_turns__"
_LONGEST = 60


class BranchMarks:
    """The sides of marked code, and which of them were taken since the last `forget`."""

    def __init__(self) -> None:
        self._numbers: dict[Side, int] = {}
        self._taken = bytearray()

    @property
    def names(self) -> Mapping[str, object]:
        """The functions that marked code calls: they have to be among its globals."""
        return {_WENT: self._went, _CAME: self._came, _TURNS: self._turns}

    def insert_in_host_code(self, tree: ast.Module, file: str) -> None:
        """Marks the functions of a module, in place, except its kernels: Triton reads these from the file again."""
        _Inserter(self, file, 1, _kernels(tree)).visit(tree)

    def insert(self, tree: ast.AST, file: str, first_line: int = 1) -> None:
        """Marks the functions of `tree`, in place; its line 1 is `first_line` of `file`."""
        _Inserter(self, file, first_line, frozenset()).visit(tree)

    def number(self, side: Side) -> int:
        """Returns the number of `side`, which is a new one where it is not known yet."""
        if side not in self._numbers:
            self._numbers[side] = len(self._taken)
            self._taken.append(0)
        return self._numbers[side]

    def coverage(self) -> BranchCoverage:
        """Returns the sides that there are, and those that were taken."""
        taken = (side for side, number in self._numbers.items() if self._taken[number])
        return BranchCoverage(frozenset(self._numbers), frozenset(taken))

    def forget(self) -> None:
        """Forgets which sides were taken."""
        self._taken[:] = bytes(len(self._taken))

    def taken(self) -> bytes:
        """Returns which sides were taken, as `put_back` takes it."""
        return bytes(self._taken)

    def put_back(self, taken: bytes) -> None:
        """Forgets the sides that were taken since `taken` was returned."""
        self._taken[:] = taken.ljust(len(self._taken), b"\0")

    def _went(self, true: int, false: int, condition: object) -> bool:
        """Returns the truth of `condition`, whose side is taken."""
        truth = bool(condition)
        self._taken[true if truth else false] = 1
        return truth

    def _came(self, number: int) -> None:
        self._taken[number] = 1

    def _turns(self, twice: int, turns: Iterable[object]) -> Iterator[object]:
        """Yields the `turns` of a loop, the second of which is a side."""
        for count, turn in enumerate(turns):
            if count == 1:
                self._taken[twice] = 1
            yield turn


class _Inserter(ast.NodeTransformer):
    """Inserts the marks of one tree. Code outside of functions runs as a module is loaded, and is left alone."""

    def __init__(self, marks: BranchMarks, file: str, first_line: int, left_out: frozenset[str]) -> None:
        self._marks = marks
        self._file = file
        self._offset = first_line - 1
        self._left_out = left_out
        self._inside = False

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if node.name in self._left_out:
            return node
        outside, self._inside = self._inside, True
        node.body = [part for statement in node.body for part in _statements(self.visit(statement))]
        self._inside = outside
        return node

    def visit_If(self, node: ast.If) -> ast.AST:
        return self._tested(node, (_fails(node.body), _fails(node.orelse)))

    def visit_While(self, node: ast.While) -> ast.AST:
        return self._tested(node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        return self._tested(node)

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        texts = [_shortened(test) for test in node.ifs]
        self.generic_visit(node)
        node.ifs = [self._condition(test, text) for test, text in zip(node.ifs, texts, strict=True)]
        return node

    def visit_For(self, node: ast.For) -> ast.AST | list[ast.stmt]:
        fails = _fails(node.body)
        text = f"for {ast.unparse(node.target)} in {_shortened(node.iter)}"
        self.generic_visit(node)
        if not self._inside:
            return node
        if isinstance(node.iter, ast.Tuple | ast.List):  # has as many turns as stand there
            return [self._mark(node, "", text), node]
        node.body.insert(0, self._mark(node, "entered", text, fails=fails))
        twice = self._number(node, RUN_TWICE, text, fails=fails)
        node.iter = _placed(ast.Call(ast.Name(_TURNS, ast.Load()), [twice, node.iter], []), node.iter)
        return [self._mark(node, "", text), node]

    def visit_Match(self, node: ast.Match) -> ast.AST:
        fails = [_fails(case.body) for case in node.cases]
        self.generic_visit(node)
        for case, failing in zip(node.cases, fails, strict=True):
            if self._inside:
                text = f"case {_shortened(case.pattern)}"
                case.body.insert(0, self._mark(node, "taken", text, fails=failing))
        return node

    def _tested(self, node: _Tested, fails: tuple[bool, bool] = (False, False)) -> ast.AST:
        text = _shortened(node.test)
        self.generic_visit(node)
        node.test = self._condition(node.test, text, fails)
        return node

    def _condition(self, test: ast.expr, text: str, fails: tuple[bool, bool] = (False, False)) -> ast.expr:
        """Returns `test` with a mark of its outcome; a constant always has the same one."""
        if not self._inside or isinstance(test, ast.Constant):
            return test
        ways = zip(("true", "false"), fails, strict=True)
        given = [*(self._number(test, way, text, fails=failing) for way, failing in ways), test]
        return _placed(ast.Call(ast.Name(_WENT, ast.Load()), given, []), test)

    def _mark(self, node: ast.stmt, way: str, text: str, *, fails: bool = False) -> ast.stmt:
        number = self._number(node, way, text, fails=fails)
        return _placed(ast.Expr(ast.Call(ast.Name(_CAME, ast.Load()), [number], [])), node)

    def _number(self, node: ast.expr | ast.stmt, way: str, text: str, *, fails: bool) -> ast.Constant:
        side = Side(self._file, node.lineno + self._offset, node.col_offset, way, text, fails)
        return ast.Constant(self._marks.number(side))


_Tested = ast.If | ast.While | ast.IfExp
_Made = TypeVar("_Made", ast.Call, ast.Expr)


def _placed(made: _Made, at: ast.AST) -> _Made:
    """Returns what is `made` where `at` stands."""
    return ast.fix_missing_locations(ast.copy_location(made, at))


def _kernels(tree: ast.Module) -> frozenset[str]:
    """Returns the names of functions that `jit` makes kernels of, as a decorator or called on them."""
    found = set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and any(map(_is_jit, node.decorator_list)):
            found.add(node.name)
        elif isinstance(node, ast.Call) and _is_jit(node.func):
            found |= {given.id for given in node.args if isinstance(given, ast.Name)}
    return frozenset(found)


def _is_jit(node: ast.expr) -> bool:
    called = node.func if isinstance(node, ast.Call) else node
    return (called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")) == "jit"


def _statements(visited: ast.AST | list[ast.stmt]) -> list[ast.stmt]:
    return visited if isinstance(visited, list) else [visited]  # type: ignore[list-item]


def _fails(body: Sequence[ast.stmt]) -> bool:
    """Returns whether what a side leads to ends in an error."""
    if not body:
        return False
    last = body[-1]
    refuses = isinstance(last, ast.Assert) and isinstance(last.test, ast.Constant) and not last.test.value
    both = isinstance(last, ast.If) and _fails(last.body) and _fails(last.orelse)
    return isinstance(last, ast.Raise) or refuses or both


def _shortened(node: ast.AST) -> str:
    text = ast.unparse(node)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
