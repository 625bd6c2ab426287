"""Parts of a shared array that are told by their distance: names for them, as a source with pointers would have."""

from __future__ import annotations

from porter.syntax.nodes import (
    Binary,
    Block,
    Declare,
    Expression,
    For,
    Literal,
    Name,
    Statement,
    Subscript,
    TypeName,
    Variable,
)
from porter.syntax.walk import walk
from porter_triton.lift.blocks import fresh
from porter_triton.lift.facts import Facts
from porter_triton.lift.loops import steps
from porter_triton.lift.trees import bare, is_name, mapped


def named_parts(facts: Facts, block: Block, at: int) -> tuple[int, Block] | None:
    """`a[blockDim.x + i]` as `b[i]` with `T* b = a + blockDim.x;`, where a loop over powers of two has such indices."""
    declare, after = block.statements[at], block.statements[at + 1 :]
    if not isinstance(declare, Declare) or facts.threads is None:
        return None
    for variable in declare.variables:
        if not variable.storage.endswith("shared") or len(variable.extents) != 1 or variable.type.pointers:
            continue
        name, begins = variable.name, _begins(facts, after, variable.name)
        if not begins or not _is_indexed(after, name):
            continue
        names = {begin: fresh(f"{name}_{begin}", facts.function.body) for begin in sorted(begins)}

        def named(node: object, name: str = name, names: dict[int, str] = names) -> object:
            split = _split(facts, node, name)
            return Subscript(Name(names[split[0]]), split[1], _line(node)) if split and split[0] in names else node

        pointer = TypeName(variable.type.name, variable.type.arguments, pointers=1)
        line = declare.line
        parts = tuple(
            Declare((Variable(new, pointer, value=_behind(name, begin, line), line=line),), line)
            for begin, new in names.items()
        )
        return 1, Block((*block.statements[:at], declare, *parts, *mapped(after, named)), block.line)
    return None


def _begins(facts: Facts, after: tuple[Statement, ...], name: str) -> set[int]:
    """Returns how far behind the array's beginning loops over powers of two work on parts of it."""
    loops = [n for n in walk(after) if isinstance(n, For) and steps(n) is not None]
    splits = [_split(facts, node, name) for node in walk(tuple(loops))]
    return {split[0] for split in splits if split is not None}


def _split(facts: Facts, node: object, name: str) -> tuple[int, Expression] | None:
    """The begin of the part, a multiple of the number of threads, and the index within it, of `name[begin + index]`."""
    if not isinstance(node, Subscript) or not is_name(node.owner, name):
        return None
    begin, rest = 0, list[Expression]()
    for term in _terms(node.index):
        known = facts.value(bare(term))
        if known is None:
            rest.append(term)
        else:
            begin += known
    if begin <= 0 or begin % (facts.threads or 1):
        return None
    index: Expression = rest[0] if rest else Literal(0, "int", _line(node))
    for term in rest[1:]:
        index = Binary("+", index, term, _line(node))
    return begin, index


def _terms(node: Expression) -> list[Expression]:
    if isinstance(node, Binary) and node.operator == "+":
        return [*_terms(node.left), *_terms(node.right)]
    return [node]


def _is_indexed(after: tuple[Statement, ...], name: str) -> bool:
    """Returns whether statements use of an array nothing but its elements."""
    elements = sum(isinstance(n, Subscript) and is_name(n.owner, name) for n in walk(after))
    return elements == sum(isinstance(n, Name) and n.name == name for n in walk(after))


def _behind(name: str, begin: int, line: int) -> Expression:
    return Binary("+", Name(name, line=line), Literal(begin, "int", line), line)


def _line(node: object) -> int:
    return int(getattr(node, "line", 0))
