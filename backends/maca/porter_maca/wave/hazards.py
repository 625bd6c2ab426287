"""Finds hazards of 32 lanes that need a reader, not an edit: arithmetic, partials, divided barriers, waiting loops."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from porter.source.program import Program
from porter.warp.conditions import conditions_at, inside_parentheses
from porter.warp.flow import Flow
from porter.warp.tree import FunctionTree, written
from porter.warp.values import INDEX, Fact, callee, warp_arithmetic
from porter_maca.wave.danger import Change, Danger

_WAVE = 64
_BARRIERS = frozenset({"__syncthreads", "__syncthreads_count", "__syncthreads_and", "__syncthreads_or"})
_HARMLESS_IN_A_WAIT = frozenset({"__nanosleep", "__threadfence", "__threadfence_block", "__threadfence_system"})
_READS_AGAIN = ("atomic", "ld_", "load", "__ldcg", "__ldcv")


def block_changes(flow: Flow, program: Program) -> Iterator[Change]:
    """Yields the launches whose block is known not to be made of whole waves."""
    for launch in program.launches:
        host = next((f for f in flow.functions if f.name == launch.inside), None)
        known = flow.known[host] if host else flow.constants
        threads = flow.constant(launch.block.text, known)
        if threads is not None and threads > 1 and threads % _WAVE:
            yield Change(Danger.HALF_WAVE_BLOCK, launch.block.span.start, launch.block.span.end, str(threads))


def hazard_changes(flow: Flow, program: Program) -> Iterator[Change]:
    """Yields the hazards in every function of `flow`."""
    partials = {a.name for f in (*program.kernels, *program.device_functions) for a in f.shared if not a.dynamic}
    for function in filter(lambda f: f.is_device, flow.functions):
        for node in function.nodes:
            if node.type == "binary_expression":
                yield from _arithmetic(node, function, flow)
            elif node.type == "subscript_expression":
                yield from _partials(node, function, flow, partials)
            elif node.type == "call_expression":
                yield from _divided_barrier(node, function, flow)
            elif node.type in {"while_statement", "do_statement"}:
                yield from _spin(node, function, flow)


def _arithmetic(node: Node, function: FunctionTree, flow: Flow) -> Iterator[Change]:
    """Yields `tid / 32`, `tid & 31` and the like, whatever name 32 has."""
    left, right = (flow.value(node.child_by_field_name(side), function) for side in ("left", "right"))
    sign = node.child_by_field_name("operator")
    if sign is not None and sign.text and warp_arithmetic(sign.text.decode(), left, right):
        yield _noted(Danger.WARP_SIZE_LITERAL, node, written(node, function.text))


def _partials(node: Node, function: FunctionTree, flow: Flow, shared: set[str]) -> Iterator[Change]:
    """Yields a shared array indexed by the warp."""
    array, indices = node.child_by_field_name("argument"), node.child_by_field_name("indices")
    if array is None or indices is None or array.type != "identifier" or written(array, function.text) not in shared:
        return
    facts = flow.value(indices, function).facts
    if facts & Fact.WARP and not facts & (Fact.THREAD | Fact.LANE):
        yield _noted(Danger.WARP_PARTIALS, node, written(array, function.text))


def _divided_barrier(node: Node, function: FunctionTree, flow: Flow) -> Iterator[Change]:
    """Yields a block barrier that only some warps reach."""
    if callee(node.child_by_field_name("function")) not in _BARRIERS:
        return
    for condition in conditions_at(node, function):
        if flow.value(condition.node, function).facts & Fact.WARP:
            yield _noted(Danger.DIVIDED_BARRIER, node, written(inside_parentheses(condition.node), function.text))


def _spin(node: Node, function: FunctionTree, flow: Flow) -> Iterator[Change]:
    """Yields a loop that only asks memory again and again, where one or several whole warps come to it."""
    condition, body = node.child_by_field_name("condition"), node.child_by_field_name("body")
    if condition is None or body is None or not _is_empty(body, function.text):
        return
    asked = written(inside_parentheses(condition), function.text)
    if not any(word in asked for word in _READS_AGAIN) and "volatile" not in asked:
        return
    around = [flow.value(c.node, function).facts for c in conditions_at(node, function)]
    if any(facts & Fact.WARP for facts in around) or not any(facts & INDEX for facts in around):
        yield _noted(Danger.SPIN_WAIT, node, f"while ({asked})")


def _is_empty(body: Node, text: str) -> bool:
    """Returns whether a loop's body does nothing but sleep or fence."""
    if body.type == "compound_statement":
        return all(_is_empty(c, text) for c in body.named_children if c.type != "comment")
    if body.type == "expression_statement":
        inner = body.named_children
        return not inner or (
            inner[0].type == "call_expression"
            and callee(inner[0].child_by_field_name("function")) in _HARMLESS_IN_A_WAIT
        )
    return False


def _noted(danger: Danger, node: Node, what: str) -> Change:
    return Change(danger, node.start_byte, node.end_byte, what)
