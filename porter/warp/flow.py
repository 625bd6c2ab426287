"""Def-use over a whole source: what each name of each function may hold, through assignments, calls and constants.

Flow-insensitive: a name has everything that is ever given to it. Facts only grow and constants only get lost, so the
iteration ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace

from tree_sitter import Node

from porter.source.program import Macro, Program
from porter.warp.tree import FunctionTree, declared_name, functions_of, root_of, walk
from porter.warp.values import UNKNOWN, Fact, Value, callee, evaluate

_MAX_ROUNDS = 8


@dataclass(frozen=True)
class Call:
    """A call of a function of this source."""

    caller: FunctionTree
    node: Node
    arguments: tuple[Node, ...]


@dataclass
class Flow:
    """The functions of a source and what is known in each; built by `flow_of`."""

    functions: tuple[FunctionTree, ...]
    constants: dict[str, Value]
    known: dict[FunctionTree, dict[str, Value]] = field(default_factory=dict)
    returns: dict[str, Fact] = field(default_factory=dict)
    calls: dict[str, list[Call]] = field(default_factory=dict)

    def value(self, node: Node | None, function: FunctionTree) -> Value:
        """Returns what is known of the expression `node` of `function`."""
        return evaluate(node, self.known[function], self._returned)

    def constant(self, expression: str, known: dict[str, Value]) -> int | None:
        """The number the text `expression` stands for where `known` holds; a `dim3` stands for its threads."""
        return evaluate(_expression(expression), known, self._returned).constant

    def calls_of(self, function: FunctionTree) -> list[Call]:
        """Every call in this source that may mean `function`."""
        return self.calls.get(function.name, [])

    def _returned(self, name: str) -> Fact:
        return self.returns.get(name, Fact.NONE)


def flow_of(program: Program, around: Iterable[Program] = ()) -> Flow:
    """The flow of the source of `program`. A launch is no call: a kernel's arguments stay unknown.

    `around` are files it is compiled with: their functions are no part of the flow, but their calls are.
    """
    kernels = {k.name for p in (program, *around) for k in p.kernels}
    flow = _begun(program, kernels)
    for other in around:
        beside = _begun(other, kernels)
        flow.known.update(beside.known)
        for name, calls in beside.calls.items():
            flow.calls.setdefault(name, []).extend(calls)
    definitions = {f: tuple(_definitions(f)) for f in flow.known}
    for _ in range(_MAX_ROUNDS):
        changed = [_step(flow, function, definitions[function]) for function in flow.known]
        if not any(changed):
            break
    return flow


def _begun(program: Program, kernels: Set[str]) -> Flow:
    """The functions of one file, with its constants and the calls in it."""
    text = program.source.text
    root = root_of(text)
    constants = _constants(root, program.macros)
    flow = Flow(functions_of(root, text), constants)
    for function in flow.functions:
        flow.known[function] = {**constants, **_template_defaults(function, constants)}
        for call in _calls(function):
            if (name := callee(call.node.child_by_field_name("function"))) not in kernels:
                flow.calls.setdefault(name, []).append(call)
    return flow


def _step(flow: Flow, function: FunctionTree, definitions: Iterable[tuple[str, Node | None, bool]]) -> bool:
    """One round of `function`: its arguments, its definitions, its result. Whether anything new came out."""
    changed = False
    for position, name in enumerate(function.parameter_names()):
        for call in flow.calls_of(function):
            if name and position < len(call.arguments):
                changed |= _learn(flow.known[function], name, flow.value(call.arguments[position], call.caller))
    for name, node, replaces in definitions:
        value = flow.value(node, function)
        changed |= _learn(flow.known[function], name, value if replaces else Value(value.facts))
    result = flow.returns.get(function.name, Fact.NONE)
    for node in function.nodes:
        if node.type == "return_statement":
            result |= flow.value(node, function).facts
    changed |= result != flow.returns.get(function.name, Fact.NONE)
    flow.returns[function.name] = result
    return changed


def _learn(known: dict[str, Value], name: str, value: Value) -> bool:
    before = known.get(name)
    known[name] = value if before is None else before.join(value)
    return known[name] != before


def _definitions(function: FunctionTree) -> Iterator[tuple[str, Node | None, bool]]:
    """(name, expression, whether the expression is the whole value) for whatever gives a name a value."""
    for node in function.nodes:
        if node.type == "init_declarator":
            yield declared_name(node), node.child_by_field_name("value"), True
        elif node.type == "assignment_expression":
            left, sign = node.child_by_field_name("left"), node.child_by_field_name("operator")
            if left is not None and left.type == "identifier" and left.text:
                yield left.text.decode(), node.child_by_field_name("right"), sign is not None and sign.text == b"="
        elif node.type == "update_expression":
            changed = node.child_by_field_name("argument")
            if changed is not None and changed.type == "identifier" and changed.text:
                yield changed.text.decode(), None, False


def _calls(function: FunctionTree) -> Iterator[Call]:
    for node in function.nodes:
        arguments = node.child_by_field_name("arguments") if node.type == "call_expression" else None
        if arguments is not None:
            yield Call(function, node, tuple(a for a in arguments.named_children if a.type != "comment"))


def _constants(root: Node, macros: Iterable[Macro]) -> dict[str, Value]:
    """The object macros, constants and enumerators that are numbers, in terms of those before them."""
    constants: dict[str, Value] = {}
    for macro in macros:
        if macro.params is None and macro.body:
            _define(constants, macro.name, _expression(macro.body))
    for node in walk(root):
        if node.type == "function_definition":
            continue
        if node.type == "enumerator":
            name = node.child_by_field_name("name")
            _define(constants, name.text.decode() if name and name.text else "", node.child_by_field_name("value"))
        elif node.type == "init_declarator" and _is_global(node):
            _define(constants, declared_name(node), node.child_by_field_name("value"))
    return constants


def _define(constants: dict[str, Value], name: str, expression: Node | None) -> None:
    value = evaluate(expression, constants, lambda _: Fact.NONE)
    if name and (value.constant is not None or value.facts):
        constants[name] = value


def _expression(text: str) -> Node | None:
    """The tree of a macro's body read as an expression."""
    root = root_of(f"auto body = {text};")
    return next((n.child_by_field_name("value") for n in walk(root) if n.type == "init_declarator"), None)


def _is_global(declarator: Node) -> bool:
    """Returns whether an initialised variable stands outside every function."""
    above = declarator.parent
    while above is not None and above.type not in {"function_definition", "compound_statement"}:
        above = above.parent
    return above is None


def _template_defaults(function: FunctionTree, constants: dict[str, Value]) -> dict[str, Value]:
    """The template parameters that are numbers by default; the others hide constants of their name."""
    found: dict[str, Value] = {}
    for parameter in function.template:
        if name := declared_name(parameter):
            default = parameter.child_by_field_name("default_value")
            found[name] = evaluate(default, constants, lambda _: Fact.NONE) if default else UNKNOWN
    return found


def together(program: Program, around: Sequence[Program]) -> Program:
    """`program` with the functions of the files `around`, too."""
    files = (program, *around)
    kernels, device = (k for p in files for k in p.kernels), (f for p in files for f in p.device_functions)
    return replace(program, kernels=tuple(kernels), device_functions=tuple(device))
