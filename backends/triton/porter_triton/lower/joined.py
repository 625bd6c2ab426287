"""Both sides of an `if` that set one place: one store or assignment of a choice, which is one access for all lanes."""

from __future__ import annotations

from porter_triton.lower import access, choices, memory
from porter_triton.lower.context import Context
from porter_triton.lower.conversions import convert
from porter_triton.lower.emit import Change, Comment, Line, Node, Store, Suite, assigned
from porter_triton.lower.types import Arithmetic, Pointer
from porter_triton.lower.values import Scalar

Masks = tuple[Scalar | None, Scalar | None]


def join(cx: Context, condition: Scalar, masks: Masks, begin: int, middle: int) -> None:
    """Make one of what both sides set: the statements from `begin` and from `middle`, under `masks`.

    The lanes of both run now.
    """
    middle -= _join_assignments(cx, condition, masks, begin, middle)
    _join_stores(cx, condition, masks, begin, middle)


def _join_assignments(cx: Context, condition: Scalar, masks: Masks, begin: int, middle: int) -> int:
    """Make one assignment of two to a variable that nobody reads between them; how many statements are gone."""
    nodes, gone = cx.suite.nodes, 0
    for at in reversed(range(begin, middle)):
        one = nodes[at]
        assert masks[0] is not None
        if not isinstance(one, Line) or one.change is None or one.change.mask != masks[0]:
            continue
        second = _counterpart(nodes, at, begin, middle, masks[1])
        other = nodes[second] if second is not None else None
        if second is None or not isinstance(other, Line) or other.change is None:
            continue
        chosen = masks[0] if _assigned(nodes[begin:second]) & condition.names else condition
        nodes[second] = one.change.again(_chosen(cx, chosen, one.change, other.change))
        del nodes[at]
        gone, middle = gone + 1, middle - 1
    return gone


def _chosen(cx: Context, chosen: Scalar, yes: Change, no: Change) -> Scalar:
    """The value of either assignment: a load with a number in other lanes where one is a load, the other a number."""
    for one, other in ((yes, no), (no, yes)):
        loaded = memory.with_other(cx, one.value, other.value, one.mask)
        if loaded is not None:
            return loaded
    return access.scalar(choices.choose(chosen, yes.value, no.value, 0), 0)


def _counterpart(nodes: list[Node], at: int, begin: int, middle: int, mask: Scalar | None) -> int | None:
    """Returns where the other side sets what the assignment at `at` does, if either side does so once and both could
    there.
    """
    one = nodes[at]
    assert isinstance(one, Line)
    assert one.change is not None
    setting = [k for k in range(begin, len(nodes)) if one.target in _assigned([nodes[k]])]
    if len(setting) != 2 or setting[0] != at or setting[1] < middle:
        return None
    between, other = nodes[at + 1 : setting[1]], nodes[setting[1]]
    if not all(isinstance(n, Comment) or (isinstance(n, Line) and one.target not in n.reads) for n in between):
        return None
    if _assigned(between) & one.change.value.names:
        return None
    same = isinstance(other, Line) and other.change is not None and other.change.mask == mask
    return setting[1] if same else None


def _join_stores(cx: Context, condition: Scalar, masks: Masks, begin: int, middle: int) -> None:
    """Make one store of the last of one side and the first of the other, where nothing else happens between them.

    What one side loads may stand between: a thread of one that read what a thread of the other wrote would race.
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
    """Returns whether this is more than a value."""
    return not isinstance(node, Comment) and (not isinstance(node, Line) or node.effect)


def _store(node: Node, mask: Scalar | None) -> Store | None:
    """Returns what `node` stores in just the lanes of `mask`."""
    held = node.store if isinstance(node, Line) else None
    return held if held is not None and held.mask is not None and held.mask == mask else None


def _assigned(nodes: list[Node]) -> frozenset[str]:
    """Returns what `nodes` assign, however deep."""
    return assigned(Suite(nodes))


def _choice(chosen: Scalar, yes: Store, no: Store) -> Scalar:
    """The value of either store, converted first where one conversion of both would not do."""
    assert isinstance(yes.pointer.type, Pointer)
    element = yes.pointer.type.element
    left, right = yes.value, no.value
    if left.type != right.type and isinstance(element, Arithmetic):
        left, right = convert(left, element), convert(right, element)
    return access.scalar(choices.choose(chosen, left, right, 0), 0)
