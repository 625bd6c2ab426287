"""Finds where the lanes of a warp exchange values through volatile shared memory without a barrier in between."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tree_sitter import Node

from porter.source.program import Program
from porter.warp.conditions import stays_ahead
from porter.warp.flow import Flow
from porter.warp.tree import FunctionTree, declared_name, walk, written
from porter.warp.values import INDEX, callee

_BARRIERS = frozenset({"__syncthreads", "__syncwarp", "__syncthreads_count", "__syncthreads_and", "__syncthreads_or"})
_GROUP_BARRIERS = frozenset({"sync"})  # block.sync(), cg::sync(tile)


@dataclass(frozen=True, slots=True)
class Access:
    """A statement's use of one array: whether it reads other lanes' elements and whether it writes the lane's own.

    `reads_ahead`: it reads elements that none of the lanes here writes, only those that came before.
    `meets` are the statements before it that other lanes may still be at, so that a barrier must come first; with
    `enters` there may be some in the caller. A statement that reads and writes is split by a barrier and ends with one.
    """

    statement: Node
    array: str
    reads_other: bool
    reads_ahead: bool
    writes: bool
    meets: frozenset[Node] = frozenset()
    enters: bool = False

    @property
    def needs_barrier_before(self) -> bool:
        """Returns whether lanes must meet in front of the statement."""
        return self.enters or bool(self.meets)

    @property
    def must_split(self) -> bool:
        """Returns whether other lanes' reads and the lane's own write stand in one statement."""
        return self.reads_other and self.writes


@dataclass(frozen=True, slots=True)
class Pending:
    """The statements since the last barrier at which lanes may still be; `entering` where the caller's may be, too."""

    readers: frozenset[Node] = frozenset()
    writers: frozenset[Node] = frozenset()
    entering: bool = False

    def join(self, other: Pending) -> Pending:
        """Returns what may be pending where two paths meet."""
        entering = self.entering or other.entering
        return Pending(self.readers | other.readers, self.writers | other.writers, entering)


def volatile_shared(function: FunctionTree, flow: Flow, program: Program) -> tuple[str, ...]:
    """The volatile pointers and arrays of a device function that may lie in shared memory."""
    if not function.is_device:
        return ()
    shared = {a.name for f in (*program.kernels, *program.device_functions) for a in f.shared}
    is_kernel = any(k.name == function.name for k in program.kernels)
    names: dict[str, None] = {}
    for declaration in (*function.parameters, *(n for n in function.nodes if n.type == "declaration")):
        if not any(c.type == "type_qualifier" and c.text == b"volatile" for c in declaration.children):
            continue
        if declaration in function.parameters:
            if not is_kernel and _given_shared(function, declaration, flow, shared):
                names[declared_name(declaration)] = None
            continue
        for declarator in declaration.children_by_field_name("declarator"):
            name, value = declared_name(declarator), declarator.child_by_field_name("value")
            if name in shared or (value is not None and _mentions(value, function, shared)):
                names[name] = None
    return tuple(names)


def accesses_without_barrier(function: FunctionTree, flow: Flow, program: Program, array: str) -> tuple[Access, ...]:
    """The statements of `function` that trust in lockstep, in the order of the source; none where barriers do it all.

    A device function that does trust in it may be called while its caller's writes are still under way.
    """
    body = function.node.child_by_field_name("body")
    if body is None:
        return ()
    alone = _Walker(function, flow, array)
    alone.walk(body, Pending())
    if not alone.found or any(k.name == function.name for k in program.kernels):
        return alone.in_order()
    called = _Walker(function, flow, array)
    called.walk(body, Pending(entering=True))
    return called.in_order()


def _given_shared(function: FunctionTree, parameter: Node, flow: Flow, shared: set[str]) -> bool:
    """Returns whether some call gives `parameter` shared memory, or nobody in this source calls."""
    calls = flow.calls_of(function)
    position = function.parameters.index(parameter)
    return not calls or any(
        position < len(c.arguments)
        and (_mentions(c.arguments[position], c.caller, shared) or c.arguments[position].type == "identifier")
        for c in calls
    )


def _mentions(node: Node, function: FunctionTree, names: set[str]) -> bool:
    return any(n.type == "identifier" and written(n, function.text) in names for n in walk(node))


class _Walker:
    """Goes through the statements of a function for one array; `found` are those that need a barrier, by place."""

    def __init__(self, function: FunctionTree, flow: Flow, array: str) -> None:
        self.function = function
        self.flow = flow
        self.array = array
        self.found: dict[int, Access] = {}
        self.own = frozenset(self._text(i) for n in function.nodes for i, is_target in self._elements(n) if is_target)

    def in_order(self) -> tuple[Access, ...]:
        """Returns what was found, in the order of the source."""
        return tuple(self.found[start] for start in sorted(self.found))

    def walk(self, node: Node, pending: Pending) -> Pending:
        """Returns what is pending after `node`, given what was before it."""
        match node.type:
            case "compound_statement":
                for child in node.named_children:
                    pending = self.walk(child, pending)
                return pending
            case "if_statement":
                yes, no = node.child_by_field_name("consequence"), node.child_by_field_name("alternative")
                after_yes = self.walk(yes, pending) if yes is not None else pending
                return after_yes.join(self.walk(no, pending) if no is not None else pending)
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

    def _statement(self, node: Node, pending: Pending) -> Pending:
        if any(n.type == "call_expression" and _is_barrier(n) for n in walk(node)):
            return Pending()
        access = self._access(node)
        reads = access.reads_other or access.reads_ahead
        meets = (pending.writers if reads else frozenset()) | (pending.readers if access.writes else frozenset())
        enters = pending.entering and reads
        if meets or enters or access.must_split:
            known = self.found.get(node.start_byte, access)
            self.found[node.start_byte] = replace(known, meets=known.meets | meets, enters=known.enters or enters)
        if access.must_split:
            return Pending()
        before = Pending() if meets or enters else pending
        here = frozenset({node})
        return before.join(Pending(here if access.reads_other else frozenset(), here if access.writes else frozenset()))

    def _access(self, node: Node) -> Access:
        """Returns how the statement `node` uses the array. An element is the lane's own where its index is one it
        writes at.
        """
        elements = [element for part in walk(node) for element in self._elements(part)]
        others = [indices for indices, is_target in elements if not is_target and self._text(indices) not in self.own]
        ahead = [stays_ahead(indices, self.function, self.flow) for indices in others]
        writes = any(is_target for _, is_target in elements)
        return Access(node, self.array, not all(ahead), any(ahead), writes)

    def _text(self, node: Node) -> str:
        return written(node, self.function.text)

    def _elements(self, node: Node) -> Iterator[tuple[Node, bool]]:
        """The index of `node` where it is an element that the thread chooses, and whether it is assigned to."""
        base, indices = node.child_by_field_name("argument"), node.child_by_field_name("indices")
        if node.type != "subscript_expression" or base is None or indices is None:
            return
        if self._text(base) != self.array or not self._chosen_by_thread(indices):
            return
        above = node.parent
        is_target = above is not None and above.type == "assignment_expression"
        is_target = is_target and above is not None and above.child_by_field_name("left") == node
        yield indices, is_target

    def _chosen_by_thread(self, indices: Node) -> bool:
        """Returns whether an index depends on the thread, or may: through a parameter that nobody in this source
        gives.
        """
        if self.flow.value(indices, self.function).facts & INDEX:
            return True
        return not self.flow.calls_of(self.function) and _mentions(
            indices, self.function, set(self.function.parameter_names())
        )


def _is_barrier(call: Node) -> bool:
    return callee(call.child_by_field_name("function")) in _BARRIERS | _GROUP_BARRIERS
