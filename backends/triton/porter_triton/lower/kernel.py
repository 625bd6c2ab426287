"""A kernel's tree to the text of a Triton function."""

from __future__ import annotations

from itertools import product

from porter.contract.records import symbol
from porter.syntax.nodes import Parameter
from porter.syntax.unit import FunctionTree, Unit
from porter_triton.device.source import helpers
from porter_triton.lower import (
    access,
    accessors,
    coordinates,
    lanes,
    leaving,
    resolve,
    rows,
    several,
    statements,
    structs,
)
from porter_triton.lower.barriers import settle_barriers
from porter_triton.lower.context import Context
from porter_triton.lower.decisions import Decisions
from porter_triton.lower.emit import Suite, names_in, render
from porter_triton.lower.launch import CONSTEXPRS, LaunchInfo, LoweredKernel, LoweredParameter, ParameterKind
from porter_triton.lower.naming import Names, settle
from porter_triton.lower.places import Held, LocalArray, Members, Place, Slot, Variable
from porter_triton.lower.prune import drop_dead, prune
from porter_triton.lower.shorten import shorten
from porter_triton.lower.types import FLOAT, Array, Pointer, Record, Type, components
from porter_triton.lower.values import Scalar, number
from porter_triton.refusal import Refusal

_MOST_PASSES = 64
_MOST_ELEMENTS = 64  # of an array that a struct holds, each a parameter


def lower_kernel(unit: Unit, kernel: FunctionTree, launch: LaunchInfo) -> LoweredKernel:
    """`kernel` as a Triton function for launches like `launch`; raises `Refusal` with line and reason.

    A pass assumes of every variable that all threads agree on it, until an assignment shows otherwise; the next pass
    knows better, until one finds nothing new.
    """
    decisions = Decisions()
    for _ in range(_MOST_PASSES):
        known = decisions.size
        cx = Context(unit, kernel, launch, decisions, Names(frozenset(helpers())))
        refusal = _attempt(cx)
        if decisions.size == known:
            if refusal is not None:
                raise refusal.within(kernel.file)
            return _written(cx)
    raise Refusal(kernel.head.header.line, "the analysis of the kernel does not come to an end")


def _attempt(cx: Context) -> Refusal | None:
    """One pass; a refusal counts only if the pass has found nothing new."""
    try:
        _lower(cx)
    except Refusal as refusal:
        return refusal
    return None


def _lower(cx: Context) -> None:
    kernel = cx.kernel
    body = kernel.body
    cx.changes.append(cx.assigned(body))
    cx.namespaces.append(kernel.head.scope)
    with cx.scope(wall=True):
        for i, parameter in enumerate(kernel.head.template):
            if i < len(cx.launch.template):
                given = structs.arguments(cx, (cx.launch.template[i],), kernel.head.header.line)
                cx.bind(parameter.name, given[0])
            elif parameter.default:
                known = {n: b for n, b in cx.scopes[-1].names.items() if isinstance(b, structs.Argument)}
                default = resolve.default_argument(cx, parameter.default, known, kernel.head.header.line)
                if default is not None:
                    cx.bind(parameter.name, default)
        cx.thread = cx.names.reserve("tid", "thread")
        for dimension in cx.launch.block:
            if dimension.name:
                cx.names.reserve(dimension.name, "constexpr")
        places = [(p.name, _parameter(cx, p)) for p in kernel.parameters]
        coordinates.begin(cx)
        for name, place in places:
            cx.bind(name, _copied(cx, name, place))
        with cx.scope():
            leaving.push_target(cx, "return", node=body, kernel=True)
            cx.frames = [type(f)(f.mask, 0) for f in cx.frames]
            statements.run(cx, body.statements)
            cx.targets.pop()


def _parameter(cx: Context, node: Parameter) -> Place:
    line = cx.kernel.head.header.line
    return _received(cx, node.name, resolve.type_of(cx, node.type, line), node.name, line)


def _received(cx: Context, name: str, type_: Type, source: str, line: int) -> Place:
    """A parameter of the Triton function; a struct's fields are parameters of their own."""
    structs.demand_no_union(type_, line)
    if isinstance(type_, Record):
        fields = {f: _received(cx, symbol(f"{name}_{f}"), t, f"{source}.{f}", line) for f, t in type_.fields}
        return Members(type_, fields)
    if isinstance(type_, Array):
        return _received_array(cx, name, type_, source, line)
    if isinstance(type_, Pointer):
        parts = components(type_.element)
        if parts is None:
            raise Refusal(line, f"the parameter `{source}` points to what is not an array of one scalar type")
        python = cx.names.declare(name, "parameter")
        cx.parameters.append(LoweredParameter(python, ParameterKind.POINTER, parts[0].dtype, source))
        cx.unchanged.add(python)
        return Held(Scalar(python, type_, held=Pointer(parts[0]), bases=frozenset({_buffer(cx, python, source)})))
    if type_.is_coded:
        raise Refusal(line, f"the parameter `{source}` is an 8-bit float, which no launcher can pass")
    python = cx.names.declare(name, "parameter")
    cx.parameters.append(LoweredParameter(python, ParameterKind.SCALAR, type_.dtype, source))
    cx.unchanged.add(python)
    return Held(Scalar(python, type_, loose=type_ is FLOAT or type_.is_float))


def _received_array(cx: Context, name: str, type_: Array, source: str, line: int) -> Place:
    """An array of a struct: its elements are parameters of their own."""
    indices = list(product(*map(range, type_.extents)))
    if len(indices) > _MOST_ELEMENTS:
        raise Refusal(line, f"the parameter `{source}` is an array of {len(indices)} elements")
    elements = [
        _received(cx, "_".join((name, *map(str, i))), type_.element, source + "".join(f"[{n}]" for n in i), line)
        for i in indices
    ]
    array = LocalArray(name, type_.element, len(elements), (), cx.depth, elements, settled=True)
    return Slot(array, number(0), type_.extents) if len(type_.extents) > 1 else array


def _buffer(cx: Context, python: str, source: str) -> str:
    """Returns what the memory behind a pointer is called: by the first parameter that every launch gives it to."""
    first = dict(cx.launch.same).get(source)
    return next((p.name for p in cx.parameters if p.source == first), python)


def _copied(cx: Context, name: str, place: Place) -> Place:
    """A parameter that the kernel changes is a variable."""
    if name not in cx.changes[-1] or accessors.held(access.place_type(place)):
        return place
    if isinstance(place, Members):
        return Members(place.type, {f: _copied_field(cx, p) for f, p in place.fields.items()})
    return _copied_field(cx, place)


def _copied_field(cx: Context, place: Place) -> Place:
    if not isinstance(place, Held) or not isinstance(place.value, Scalar):
        raise Refusal(cx.kernel.head.header.line, "a struct parameter that holds structs is changed")
    value = place.value
    key = ("parameter", value.text)
    variable = Variable(value.text, value.type, key, cx.depth, key in cx.decisions.varying, bases=value.bases)
    cx.unchanged.discard(value.text)
    access.assign(cx, variable, value, cx.kernel.head.header.line)
    return variable


def _written(cx: Context) -> LoweredKernel:
    suite = Suite(cx.prologue.nodes + cx.suite.nodes)
    drop_dead(suite)
    rows.as_rows(cx, suite)
    if cx.launch.together:
        several.together(cx, suite)
    settle_barriers(suite)
    prune(suite)
    shorten(suite, cx.names)
    lines = render(suite) or ["    pass"]
    body = settle("\n".join(lines))
    used = names_in(body)
    parameters = _ordered([p for p in cx.parameters if p.name in used or not _may_go(p)])
    name = cx.kernel.head.name
    text = f"@triton.jit\n{signature(name, parameters)}\n{body}\n"
    helpers_used = tuple(sorted(call for call in cx.helpers if call.name in used))
    source, remarks = cx.kernel.head.qualified, tuple(cx.remarks)
    held = lanes.threads_per_lane(cx, body, {call.name for call in helpers_used})
    return LoweredKernel(name, text, tuple(parameters), helpers_used, source, remarks, held)


def _may_go(parameter: LoweredParameter) -> bool:
    """Returns whether the launcher need not pass what no line reads: the CUDA kernel has no parameter of its own for
    it.
    """
    return parameter.kind is ParameterKind.SHARED or "." in parameter.source


def signature(name: str, parameters: list[LoweredParameter]) -> str:
    """The head of the Triton function `name`."""
    declared = [_declared(p) for p in parameters]
    line = f"def {name}({', '.join(declared)}):"
    return line if len(line) <= 100 else "\n".join([f"def {name}(", *(f"    {d}," for d in declared), "):"])


def _ordered(parameters: list[LoweredParameter]) -> list[LoweredParameter]:
    return sorted(parameters, key=lambda p: p.kind in CONSTEXPRS)


def _declared(parameter: LoweredParameter) -> str:
    if parameter.kind in CONSTEXPRS:
        return f"{parameter.name}: tl.constexpr"
    if parameter.kind is ParameterKind.SCALAR:
        return f"{parameter.name}: tl.{parameter.dtype}"
    return parameter.name
