"""Finds the kernels that one call of a module's host functions launches together."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from porter.evolve.proposing.ways import Way, Ways, in_sequence, launching
from porter_triton.schedules.text import ModuleText

_DEEPEST = 8  # calls of one host function by another


def launched_together(module: ModuleText) -> frozenset[Way]:
    """Returns the sets of kernels that a call of one of the host functions launches; none that is empty."""
    hosts = [function for name, function in module.functions.items() if name not in module.jitted]
    called = {name for host in hosts for name in _called(host) if name != host.name}
    entries = [host for host in hosts if host.name not in called] or hosts
    found = (way for host in entries for way in _Reader(module).body(host.body, _DEEPEST).every)
    return frozenset(way for way in found if way)


def _called(host: ast.FunctionDef) -> Iterator[str]:
    return (n.func.id for n in ast.walk(host) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name))


class _Reader:
    """Reads the ways through statements of a module."""

    def __init__(self, module: ModuleText) -> None:
        self._module = module

    def body(self, statements: Sequence[ast.stmt], depth: int) -> Ways:
        """Returns the ways through `statements`; host functions are followed up to this depth."""
        return in_sequence(self._statement(statement, depth) for statement in statements)

    def _statement(self, statement: ast.stmt, depth: int) -> Ways:
        match statement:
            case ast.If(test=test, body=yes, orelse=no):
                return self._launched(test, depth).then(self.body(yes, depth).either(self.body(no, depth)))
            case ast.For(body=body) | ast.While(body=body) | ast.With(body=body):
                return self.body(body, depth)
            case ast.Return() | ast.Raise():
                return self._launched(statement, depth).and_end()
        return self._launched(statement, depth)

    def _launched(self, node: ast.AST, depth: int) -> Ways:
        return in_sequence(self._call(call, depth) for call in ast.walk(node) if isinstance(call, ast.Call))

    def _call(self, call: ast.Call, depth: int) -> Ways:
        module = self._module
        match call.func:
            case ast.Subscript(value=ast.Name(id=name)) if name in module.jitted:
                return launching([name])
            case ast.Name(id=name) if depth and name in module.functions and name not in module.jitted:
                return self.body(module.functions[name].body, depth - 1).called()
        return Ways()
