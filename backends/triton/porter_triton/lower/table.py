"""Calls of CUDA's device functions that the device room's table knows."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from porter.source.qualified import unqualified
from porter.syntax.nodes import Call
from porter_triton.device.functions import Overload, overload, overloads, vector
from porter_triton.device.helper_calls import calls_in
from porter_triton.device.source import tree_of
from porter_triton.lower import access, expressions, lvalues, operators, powers
from porter_triton.lower.context import Context
from porter_triton.lower.conversions import cast_text, convert, narrowed, settled
from porter_triton.lower.emit import Line
from porter_triton.lower.places import LocalArray, SharedArray
from porter_triton.lower.types import BUILT_IN, DOUBLE, FLOAT, Arithmetic, Record, Type, components
from porter_triton.lower.values import ATOM, LEVELS, Address, Fields, Nothing, Scalar, Value
from porter_triton.refusal import Refusal

_BY_DTYPE = {type_.dtype: type_ for type_ in BUILT_IN.values() if isinstance(type_, Arithmetic) and type_.bits}
# Functions of doubles whose result on floats is a float exactly: `fmax(x, 0.0)` needs no double.
_EXACT = frozenset({"min", "max", "fmin", "fmax", "abs", "fabs", "floor", "ceil", "trunc", "rint", "round"})
_SIGNATURES = {"float16x2": "half2", "bfloat16x2": "__nv_bfloat162"}


@dataclass(frozen=True, slots=True)
class _Parts:
    """A vector argument in an expression: `{0.x}`."""

    x: str = ""
    y: str = ""
    z: str = ""
    w: str = ""


def call(cx: Context, name: str, node: Call) -> Value | None:
    """The value of a call that the table knows; None for an unknown name or arguments it does not take."""
    values = tuple(operators.computed(expressions.value(cx, a), node.line) for a in node.arguments)
    return powers.call(cx, name, values, node.line) or apply(cx, name, values, node)


def knows(name: str) -> bool:
    """Returns whether CUDA has a function of this name for some arguments."""
    return bool(overloads(unqualified(name)))


def exactly(name: str, types: tuple[Type | None, ...]) -> bool:
    """Returns whether CUDA has a function of this name for arguments of just these types."""
    wanted = [t.dtype if isinstance(t, Arithmetic) else "" for t in types]
    found = overload(name, wanted) if "" not in wanted else None
    return found is not None and list(found.parameters) == wanted


def apply(cx: Context, name: str, values: tuple[Value, ...], node: Call) -> Value | None:
    """A function of the table on `values`."""
    exact = _as_floats(cx, name, values, node) if name in _EXACT else None
    if exact is not None:
        return exact
    kinds = [_kind(value) for value in values]
    if None in kinds:
        return None
    found = overload(name, [k for k in kinds if k is not None])
    if found is None:
        return None
    if found.result in _BY_DTYPE and _IS_CAST.fullmatch(found.expressions[0]) and isinstance(values[0], Scalar):
        return convert(convert(values[0], _BY_DTYPE[found.parameters[0]]), _BY_DTYPE[found.result])
    return _applied(cx, name, found, values, node)


def _as_floats(cx: Context, name: str, values: tuple[Value, ...], node: Call) -> Value | None:
    scalars = [v for v in values if isinstance(v, Scalar)]
    if len(scalars) < len(values) or not any(v.type is DOUBLE for v in scalars):
        return None
    singles = [narrowed(v) for v in scalars]
    if any(v is None for v in singles):
        return None
    value = apply(cx, name, tuple(v for v in singles if v is not None), node)
    return convert(value, DOUBLE, node.line) if isinstance(value, Scalar) and value.type is FLOAT else None


def _kind(value: Value) -> str | None:
    """Returns how the table calls the type of a value."""
    if isinstance(value, Scalar):
        if isinstance(value.type, Arithmetic):
            return value.type.dtype
        return f"{value.type.element.dtype}*" if isinstance(value.type.element, Arithmetic) else None
    if isinstance(value, Fields):
        parts = components(value.type)
        return f"{parts[0].dtype}x{parts[1]}" if parts is not None and parts[1] <= 4 else None
    if isinstance(value, Address):
        place = value.place
        held = place.element if isinstance(place, LocalArray | SharedArray) else access.place_type(place)
        type_ = value.view or held
        return f"{type_.dtype}*" if isinstance(type_, Arithmetic) else None
    return None


def _applied(cx: Context, name: str, found: Overload, values: tuple[Value, ...], node: Call) -> Value:
    function = found.function
    width = next((parts[1] for p in found.parameters if (parts := vector(p)) is not None), 0)
    result = vector(found.result) if found.result else None
    outputs = set(function.outputs)
    inputs = [(v, p) for i, (v, p) in enumerate(zip(values, found.parameters, strict=True)) if i not in outputs]
    results: list[Value] = []
    kinds = ([found.result] if found.result else []) + [found.parameters[i].rstrip("*") for i in function.outputs]
    if result is not None and len(found.expressions) == 1 and width:
        fields = [_expression(cx, found, found.expressions[0], _texts(inputs, found, k, node), result[0], inputs=inputs)
                  for k in range(result[1])]  # fmt: skip
        results.append(_record(found.result, fields))
    elif result is not None:
        texts = _texts(inputs, found, None, node)
        fields = [_expression(cx, found, e, texts, result[0], inputs=inputs) for e in found.expressions[: result[1]]]
        results.append(_record(found.result, fields))
    else:
        texts = _texts(inputs, found, None, node)
        for expression, kind in zip(found.expressions, kinds, strict=True):
            results.append(_expression(cx, found, expression, texts, kind, inputs=inputs))
        if not kinds:
            _effect(cx, found.expressions[0], texts)
    _write_outputs(cx, values, function.outputs, results[len(results) - len(outputs) :], node)
    return _bounded(name, results[0], values) if found.result else Nothing()


def _texts(inputs: list[tuple[Value, str]], found: Overload, component: int | None, node: Call) -> list[str | _Parts]:
    return [_text(value, parameter, found, component, node) for value, parameter in inputs]


def _text(value: Value, parameter: str, found: Overload, component: int | None, node: Call) -> str | _Parts:
    parts = vector(parameter)
    if parts is None:
        return _scalar_text(access.scalar(value, node.line), parameter, found, node)
    if not isinstance(value, Fields):
        raise Refusal(node.line, "a number where a vector is needed")
    texts = [_scalar_text(access.scalar(v, node.line), parts[0], found, node) for _, v in value.values]
    return texts[component] if component is not None else _Parts(*texts)


def _scalar_text(value: Scalar, parameter: str, found: Overload, node: Call) -> str:
    if parameter == "any":
        return settled(value).within(ATOM)
    wanted = _BY_DTYPE[found.function.computed or parameter]
    held = settled(convert(value, wanted, node.line))
    if held.loose and not found.function.number:
        held = cast_text(held, wanted)
    return held.within(ATOM)


def _expression(
    cx: Context, found: Overload, text: str, texts: list[str | _Parts], kind: str, *, inputs: list[tuple[Value, str]]
) -> Scalar:
    types = {
        f"hole_{k}": f"tl.{_component(found.function.computed or p)}" for k, (_, p) in enumerate(inputs) if p != "any"
    }
    cx.helpers.update(calls_in(_HOLE.sub(r"hole_\1", text), types, tree_of))
    type_ = _BY_DTYPE[kind]
    computed = found.function.computed
    level = LEVELS.get(found.function.level, ATOM if not found.function.level else 0)
    made = _BY_DTYPE[computed] if computed and type_.kind != "bool" else type_
    value = Scalar(_filled(text, texts), made, any(_varies(v) for v, _ in inputs), level)
    if found.function.number and all(_is_loose(v) for v, _ in inputs):
        value = Scalar(value.text, made, False, level, loose=True)
    if not found.function.pure:
        value = cx.temporary(value, "value", effect=True)
    return value if made == type_ else convert(value, type_)


def _component(parameter: str) -> str:
    parts = vector(parameter)
    return parts[0] if parts is not None else parameter


_IS_CAST = re.compile(r"\{0\}\.to\(tl\.\w+\)")
_HOLE = re.compile(r"\{(\d+)(?:\.([xyzw]))?\}")


def _filled(template: str, texts: list[str | _Parts]) -> str:
    """The template with its arguments, which are in brackets only where something binds to them."""

    def argument(found: re.Match[str]) -> str:
        value = texts[int(found[1])]
        text = value if isinstance(value, str) else getattr(value, found[2])
        before, after = template[: found.start()], template[found.end() :]
        alone = before.endswith(("(", ", ")) and after[:1] in {",", ")"}
        return text[1:-1] if alone and _wrapped(text) else text

    return _HOLE.sub(argument, template)


def _wrapped(text: str) -> bool:
    """Returns whether the first bracket closes with the last."""
    depth = 0
    for i, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return i == len(text) - 1 and text.startswith("(")
    return False


def _varies(value: Value) -> bool:
    if isinstance(value, Fields):
        return any(_varies(v) for _, v in value.values)
    return isinstance(value, Scalar) and value.varying


def _is_loose(value: Value) -> bool:
    return isinstance(value, Scalar) and value.loose


def _effect(cx: Context, text: str, texts: list[str | _Parts]) -> None:
    cx.emit(Line(_filled(text, texts), effect=True))


def _record(kind: str, fields: list[Scalar]) -> Fields:
    parts = vector(kind)
    assert parts is not None
    name = _SIGNATURES.get(kind, f"{_BY_DTYPE[parts[0]].name}{parts[1]}")
    type_ = BUILT_IN[name]
    assert isinstance(type_, Record)
    return Fields(type_, tuple(zip("xyzw", fields, strict=False)))


def _write_outputs(
    cx: Context, values: tuple[Value, ...], outputs: tuple[int, ...], results: list[Value], node: Call
) -> None:
    for position, result in zip(outputs, results, strict=True):
        access.store(cx, lvalues.pointee(values[position], node.line), result, node.line)


def _bounded(name: str, value: Value, values: tuple[Value, ...]) -> Value:
    """`min` and `max` of integers stay within their arguments."""
    if name not in {"min", "max"} or not isinstance(value, Scalar):
        return value
    intervals = [v.interval for v in values if isinstance(v, Scalar) and v.interval is not None]
    if len(intervals) < len(values):
        return value
    pick = min if name == "min" else max
    return replace(value, interval=(pick(i[0] for i in intervals), pick(i[1] for i in intervals)))
