"""Shared arrays of which one element is left: a number that all threads share."""

from __future__ import annotations

from dataclasses import replace

from porter.syntax.nodes import Block, Declare, Name, Statement, Subscript, Unary, Variable
from porter.syntax.walk import walk
from porter_triton.lift.facts import Facts
from porter_triton.lift.trees import is_name, mapped, number


def shared_number(facts: Facts, block: Block, at: int) -> tuple[int, Block] | None:  # noqa: ARG001 - as all rules
    """`__shared__ T a[n];` of which nothing but `a[0]` is used, as `__shared__ T a;`."""
    declare, after = block.statements[at], block.statements[at + 1 :]
    if not isinstance(declare, Declare):
        return None
    single = {
        v.name for v in declare.variables if v.storage == "shared" and len(v.extents) == 1 and _is_first(v, after)
    }
    if not single:
        return None

    def named(node: object) -> object:
        return node.owner if isinstance(node, Subscript) and any(is_name(node.owner, name) for name in single) else node

    variables = tuple(replace(v, extents=()) if v.name in single else v for v in declare.variables)
    new = replace(declare, variables=variables)
    return 1, Block((*block.statements[:at], new, *mapped(after, named)), block.line)


def _is_first(variable: Variable, after: tuple[Statement, ...]) -> bool:
    """Returns whether statements use of an array the element 0 alone, by its value."""
    name, nodes = variable.name, list(walk(after))
    firsts = [n for n in nodes if isinstance(n, Subscript) and is_name(n.owner, name) and number(n.index) == 0]
    addressed = {id(n.operand) for n in nodes if isinstance(n, Unary) and n.operator == "&"}
    uses = sum(isinstance(n, Name) and n.name == name for n in nodes)
    again = any(isinstance(n, Variable) and n.name == name for n in nodes)
    return 0 < uses == len(firsts) and not again and addressed.isdisjoint(map(id, firsts))
