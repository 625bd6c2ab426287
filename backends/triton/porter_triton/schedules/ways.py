"""Which kernels one call launches: a launcher that chooses between kernels launches one of them, and not both."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from porter_triton.schedules.text import ModuleText

Way = frozenset[str]
_MOST_WAYS = 64  # of a launcher with more all kernels count as launched together
_DEEPEST = 8  # calls of one host function by another


def launched_together(module: ModuleText) -> frozenset[Way]:
    """The sets of kernels that a call of one of the host functions launches; none that is empty."""
    hosts = [function for name, function in module.functions.items() if name not in module.jitted]
    called = {name for host in hosts for name in _called(host) if name != host.name}
    entries = [host for host in hosts if host.name not in called] or hosts
    found = (way for host in entries for way in _Ways(module).through(host.body, _DEEPEST))
    return frozenset(way for way in found if way)


def _called(host: ast.FunctionDef) -> Iterator[str]:
    return (n.func.id for n in ast.walk(host) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name))


class _Ways:
    """The ways through statements of a module."""

    def __init__(self, module: ModuleText) -> None:
        self._module = module

    def through(self, body: Sequence[ast.stmt], depth: int) -> set[Way]:
        """All ways through the body of a function."""
        ended, going = self._body(body, depth)
        return _few(ended | going)

    def _body(self, body: Sequence[ast.stmt], depth: int) -> tuple[set[Way], set[Way]]:
        """The ways that end within `body`, and those that go on behind it."""
        ended: set[Way] = set()
        going: set[Way] = {frozenset()}
        for statement in body:
            ends, on = self._statement(statement, depth)
            ended |= _joined(going, ends)
            going = _joined(going, on)
        return _few(ended), going

    def _statement(self, statement: ast.stmt, depth: int) -> tuple[set[Way], set[Way]]:
        match statement:
            case ast.If(test=test, body=body, orelse=orelse):
                first, second, before = self._body(body, depth), self._body(orelse, depth), self._launched(test, depth)
                return _joined(before, first[0] | second[0]), _joined(before, first[1] | second[1])
            case ast.For(body=body) | ast.While(body=body) | ast.With(body=body):
                return self._body(body, depth)
            case ast.Return() | ast.Raise():
                return self._launched(statement, depth), set()
        return set(), self._launched(statement, depth)

    def _launched(self, node: ast.AST, depth: int) -> set[Way]:
        """The ways through all calls in `node`."""
        ways: set[Way] = {frozenset()}
        for call in (inner for inner in ast.walk(node) if isinstance(inner, ast.Call)):
            match call.func:
                case ast.Subscript(value=ast.Name(id=name)) if name in self._module.jitted:
                    ways = _joined(ways, {frozenset({name})})
                case ast.Name(id=name) if depth and name in self._module.functions and name not in self._module.jitted:
                    ways = _joined(ways, self.through(self._module.functions[name].body, depth - 1))
        return ways


def _joined(first: Iterable[Way], then: Iterable[Way]) -> set[Way]:
    behind = list(then)
    return _few({one | other for one in first for other in behind})


def _few(ways: set[Way]) -> set[Way]:
    return {frozenset().union(*ways)} if len(ways) > _MOST_WAYS else ways
