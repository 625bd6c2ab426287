"""Finds the kernels that one call of a source's host functions launches together."""

from __future__ import annotations

from collections.abc import Sequence

from porter.evolve.proposing.ways import Way, Ways, in_sequence, launching
from porter.source.program import Program
from porter.syntax.expression_nodes import Call, Lambda, Launch, Name
from porter.syntax.nodes import Block, For, ForEach, If, Return, Switch, Throw, While
from porter.syntax.read import read_unit
from porter.syntax.unit import FunctionTree
from porter.syntax.walk import walk

_DEEPEST = 8  # calls of one host function by another
_HOST = "host"


def launched_together(program: Program) -> frozenset[Way]:
    """Returns the sets of kernels that a call of one of the host functions launches, by name; none is empty."""
    hosts = {f.head.name: f for f in read_unit(program).functions if f.head.space == _HOST}
    called = {name for host in hosts.values() for name in _called(host) if name != host.head.name}
    entries = [host for name, host in hosts.items() if name not in called] or list(hosts.values())
    found = (way for host in entries for way in _Reader(hosts).block(host.body, _DEEPEST).every)
    return frozenset(way for way in found if way)


def _called(host: FunctionTree) -> set[str]:
    return {node.callee.name for node in walk(host.body) if isinstance(node, Call) and isinstance(node.callee, Name)}


class _Reader:
    """Reads the ways through statements of functions, `hosts` by name."""

    def __init__(self, hosts: dict[str, FunctionTree]) -> None:
        self._hosts = hosts

    def block(self, block: Block | None, depth: int) -> Ways:
        """Returns the ways through a block; host functions are followed up to this depth."""
        statements: Sequence[object] = block.statements if block is not None else ()
        return in_sequence(self._statement(statement, depth) for statement in statements)

    def _statement(self, statement: object, depth: int) -> Ways:
        match statement:
            case If(condition=condition, yes=yes, no=no):
                return self._launched(condition, depth).then(self.block(yes, depth).either(self.block(no, depth)))
            case Switch(cases=cases):
                found = Ways()
                for case in cases:
                    found = found.either(self.block(case.body, depth))
                return found
            case For(body=body) | ForEach(body=body) | While(body=body):
                return self.block(body, depth)
            case Block():
                return self.block(statement, depth)
            case Return() | Throw():
                return self._launched(statement, depth).and_end()
        return self._launched(statement, depth)

    def _launched(self, node: object, depth: int) -> Ways:
        """Returns the ways through an expression; the body of a lambda counts as called, as dispatch macros do."""
        within = next((inner for inner in walk(node) if isinstance(inner, Lambda)), None)
        if within is not None:
            return self.block(within.body, depth).called()
        return in_sequence(self._call(inner, depth) for inner in walk(node))

    def _call(self, node: object, depth: int) -> Ways:
        match node:
            case Launch(kernel=Name(name=name)):
                return launching([name.rpartition("::")[2]])
            case Call(callee=Name(name=name)) if depth and name in self._hosts:
                return self.block(self._hosts[name].body, depth - 1).called()
        return Ways()
