"""Both sides of an `if` that store to one place: one store of a choice, which is one access for all lanes."""

from __future__ import annotations

from porter_triton.lower import access, choices, memory
from porter_triton.lower.context import Context
from porter_triton.lower.conversions import convert
from porter_triton.lower.emit import Comment, Line, Node, Store
from porter_triton.lower.types import Arithmetic, Pointer
from porter_triton.lower.values import Scalar


def join(cx: Context, condition: Scalar, masks: tuple[Scalar | None, Scalar | None], begin: int, middle: int) -> None:
    """Make one store of the last of one side and the first of the other, where nothing else happens between them.

    The sides are the statements from `begin` and from `middle`, under `masks`; the lanes of both run now. What one side
    loads may stand between: a thread of one that read what a thread of the other wrote would race.
    """
    nodes = cx.suite.nodes
    first = next((k for k in reversed(range(begin, middle)) if _happens(nodes[k])), None)
    second = next((k for k in range(middle, len(nodes)) if _happens(nodes[k])), None)
    if first is None or second is None:
        return
    one, other = _store(nodes[first], masks[0]), _store(nodes[second], masks[1])
    if one is None or other is None or one.pointer.text != other.pointer.text or not one.pointer.varying:
        return
    if _assigned(nodes[first:second]) & (one.pointer.names | one.value.names):
        return
    assert masks[0] is not None
    chosen = masks[0] if _assigned(nodes[begin:second]) & condition.names else condition
    nodes[second] = memory.written(cx, one.pointer, _choice(chosen, one, other))
    del nodes[first]


def _happens(node: Node) -> bool:
    """Whether this is more than a value."""
    return not isinstance(node, Comment) and (not isinstance(node, Line) or node.effect)


def _store(node: Node, mask: Scalar | None) -> Store | None:
    """What `node` stores in just the lanes of `mask`."""
    held = node.store if isinstance(node, Line) else None
    return held if held is not None and held.mask is not None and held.mask == mask else None


def _assigned(nodes: list[Node]) -> frozenset[str]:
    return frozenset(node.target for node in nodes if isinstance(node, Line) and node.target)


def _choice(chosen: Scalar, yes: Store, no: Store) -> Scalar:
    """The value of either store, converted first where one conversion of both would not do."""
    assert isinstance(yes.pointer.type, Pointer)
    element = yes.pointer.type.element
    left, right = yes.value, no.value
    if left.type != right.type and isinstance(element, Arithmetic):
        left, right = convert(left, element), convert(right, element)
    return access.scalar(choices.choose(chosen, left, right, 0), 0)
