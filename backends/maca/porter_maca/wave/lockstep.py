"""Barriers for code that trusts the lanes of a warp to run in lockstep.

    if (tid < 32) { volatile float* s = sdata; s[tid] += s[tid + 32]; s[tid] += s[tid + 16]; ... }

Each statement is right only when all lanes read before any writes, and all have written before any reads again. The
rewrite walks the statements in order and remembers what other lanes may still be reading or writing; where that meets
an access of the other kind it puts a `__syncwarp` of the lanes that take part. A statement that reads another lane's
element and writes its own is split in two. Only memory reached through `volatile` is treated so: that is how such code
says what it trusts in.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from tree_sitter import Node

from porter.source.edit import Edit
from porter_maca.wave.conditions import lanes_at
from porter_maca.wave.danger import Change, Danger
from porter_maca.wave.flow import Flow
from porter_maca.wave.nesting import Wrap
from porter_maca.wave.tree import FunctionTree, declared_name, walk, written
from porter_maca.wave.values import INDEX, callee

_BARRIERS = frozenset({"__syncthreads", "__syncwarp", "__syncthreads_count", "__syncthreads_and", "__syncthreads_or"})
_CARRIED = "carried"


@dataclass(frozen=True, slots=True)
class Access:
    """A statement's use of one volatile array: `reads_other` another lane's element, `writes` the lane's own."""

    statement: Node
    array: str
    reads_other: bool
    writes: bool


@dataclass(frozen=True, slots=True)
class Pending:
    """What lanes may still be doing to an array since the last barrier."""

    reading: bool = False
    writing: bool = False

    def join(self, other: Pending) -> Pending:
        """What may be pending when two paths meet."""
        return Pending(self.reading or other.reading, self.writing or other.writing)


def lockstep_changes(function: FunctionTree, flow: Flow) -> Iterator[Change]:
    """The barriers `function` lacks, for each array it reaches through `volatile`."""
    for array in _volatile_arrays(function):
        walker = _Walker(function, flow, array)
        body = function.node.child_by_field_name("body")
        if body is not None:
            is_kernel = not flow.calls_of(function)
            walker.walk(body, Pending() if is_kernel else Pending(writing=True))
        if walker.exchanges:
            yield from _mended(function, flow, walker)


def _volatile_arrays(function: FunctionTree) -> tuple[str, ...]:
    """Pointers and arrays declared `volatile` in `function` whose elements its threads index by themselves."""
    declarations = (*function.parameters, *(n for n in function.nodes if n.type == "declaration"))
    names: dict[str, None] = {}
    for declaration in declarations:
        if not any(c.type == "type_qualifier" and c.text == b"volatile" for c in declaration.children):
            continue
        for child in (declaration, *declaration.named_children):
            if name := declared_name(child):
                names[name] = None
    return tuple(names)


class _Walker:
    """Goes through the statements of a function for one array and collects where lanes trust in lockstep.

    `before` holds the statements that need a barrier in front, `split` those that need one between read and write.
    """

    def __init__(self, function: FunctionTree, flow: Flow, array: str) -> None:
        self.function = function
        self.flow = flow
        self.array = array
        self.before: dict[int, Access] = {}
        self.split: dict[int, Access] = {}
        self.own = frozenset(i for n in function.nodes for i, is_target in self._elements(n) if is_target)

    @property
    def exchanges(self) -> tuple[Access, ...]:
        """All statements that need a barrier, in the order of the source."""
        both = {**self.before, **self.split}
        return tuple(both[start] for start in sorted(both))

    def walk(self, node: Node, pending: Pending) -> Pending:
        """What is pending after `node`, given what was before it."""
        match node.type:
            case "compound_statement":
                for child in node.named_children:
                    pending = self.walk(child, pending)
                return pending
            case "if_statement":
                return self._branches(node, pending)
            case "for_statement" | "while_statement" | "do_statement":
                body = node.child_by_field_name("body")
                once = self.walk(body, pending) if body is not None else pending
                again = self.walk(body, pending.join(once)) if body is not None else once
                return pending.join(again)
            case "else_clause" | "labeled_statement":
                return self.walk(node.named_children[-1], pending)
            case "expression_statement" | "declaration":
                return self._statement(node, pending)
        return pending

    def _branches(self, node: Node, pending: Pending) -> Pending:
        yes, no = node.child_by_field_name("consequence"), node.child_by_field_name("alternative")
        after_yes = self.walk(yes, pending) if yes is not None else pending
        after_no = self.walk(no, pending) if no is not None else pending
        return after_yes.join(after_no)

    def _statement(self, node: Node, pending: Pending) -> Pending:
        if any(
            n.type == "call_expression" and callee(n.child_by_field_name("function")) in _BARRIERS for n in walk(node)
        ):
            return Pending()
        access = self._access(node)
        if (access.reads_other and pending.writing) or (access.writes and not access.reads_other and pending.reading):
            self.before[node.start_byte] = access
            pending = Pending()
        if access.reads_other and access.writes:
            self.split[node.start_byte] = access
            return Pending(writing=True)
        return Pending(pending.reading or access.reads_other, pending.writing or access.writes)

    def _access(self, node: Node) -> Access:
        """How the statement `node` uses the array. An element is the lane's own where its index is one it writes at."""
        elements = [element for part in walk(node) for element in self._elements(part)]
        return Access(
            node,
            self.array,
            reads_other=any(not is_target and index not in self.own for index, is_target in elements),
            writes=any(is_target for _, is_target in elements),
        )

    def _elements(self, node: Node) -> Iterator[tuple[str, bool]]:
        """The index of `node` where it is an element that the thread chooses, and whether it is assigned to."""
        base, indices = node.child_by_field_name("argument"), node.child_by_field_name("indices")
        if node.type != "subscript_expression" or base is None or indices is None:
            return
        if written(base, self.function.text) != self.array or not self.flow.value(indices, self.function).facts & INDEX:
            return
        above = node.parent
        is_target = (
            above is not None and above.type == "assignment_expression" and above.child_by_field_name("left") == node
        )
        yield written(indices, self.function.text), is_target


def _mended(function: FunctionTree, flow: Flow, walker: _Walker) -> Iterator[Change]:
    """The changes for all exchanges of one array; all of them or none."""
    masks = [_participants(a.statement, function, flow) for a in walker.exchanges]
    splits = [_split_parts(a.statement) for a in walker.split.values()]
    reason = ""
    if None in masks:
        reason = "which lanes take part could not be proved"
    elif None in splits:
        reason = "a statement that reads and writes has no plain form"
    elif any(later and earlier and later & ~earlier for earlier, later in pairwise(masks)):
        reason = "more lanes take part later than earlier"
    for access, lanes in zip(walker.exchanges, masks, strict=True):
        start, end = access.statement.start_byte, access.statement.end_byte
        if reason or lanes is None:
            yield Change(Danger.UNCLEAR_LOCKSTEP, start, end, access.array, reason=reason)
        else:
            yield _barriers(access.statement, function, lanes, walker)


def _participants(node: Node, function: FunctionTree, flow: Flow) -> int | None:
    """The lanes that come to `node`, through the calls of its function where it is a device function."""
    lanes = lanes_at(node, function, flow)
    for call in flow.calls_of(function):
        at_call = _participants(call.node, call.caller, flow) if call.caller is not function else None
        lanes = None if lanes is None or at_call is None else lanes & at_call
    return lanes


def _barriers(statement: Node, function: FunctionTree, lanes: int, walker: _Walker) -> Change:
    """One statement with the barriers it needs."""
    barrier = f"__syncwarp(warp32::lanes({lanes:#x}));"
    start, end = statement.start_byte, statement.end_byte
    before = f"{barrier} " if start in walker.before else ""
    what = walker.array
    if start not in walker.split:
        return Change(Danger.LOCKSTEP, start, end, what, (Wrap(start, end, f"{{ {before}", " }"),))
    target, operator, value = _split_parts(statement) or (statement, statement, statement)
    name = _fresh_name(written(statement, function.text))
    element = function.text[target.start_byte : target.end_byte]
    after = f" {barrier} {element} = {name}; }}"
    wraps = [Wrap(start, end, f"{{ {before}const auto {name} = ", after)]
    compound = written(operator, function.text)[:-1]
    if not compound:
        return Change(Danger.LOCKSTEP, start, end, what, tuple(wraps), (Edit(start, value.start_byte, ""),))
    if value.type not in {"subscript_expression", "identifier", "call_expression", "parenthesized_expression"}:
        wraps.append(Wrap(value.start_byte, value.end_byte, "(", ")"))
    edit = Edit(operator.start_byte, operator.end_byte, compound)
    return Change(Danger.LOCKSTEP, start, end, what, tuple(wraps), (edit,))


def _split_parts(statement: Node) -> tuple[Node, Node, Node] | None:
    """Target, operator and value of a statement that is one assignment."""
    inner = statement.named_children
    if statement.type != "expression_statement" or len(inner) != 1 or inner[0].type != "assignment_expression":
        return None
    parts = tuple(inner[0].child_by_field_name(name) for name in ("left", "operator", "right"))
    target, operator, value = parts
    return (target, operator, value) if target and operator and value else None


def _fresh_name(statement: str) -> str:
    name = _CARRIED
    while name in statement:
        name += "_"
    return name
