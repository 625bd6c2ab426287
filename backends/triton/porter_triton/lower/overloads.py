"""Which of several functions of one name a call means, from the types of its arguments."""

from __future__ import annotations

from porter.syntax.unit import FunctionTree
from porter_triton.lower import access, enabled, resolve, structs
from porter_triton.lower.context import Context
from porter_triton.lower.parameters import Argument
from porter_triton.lower.places import Columns, Held, LocalArray, Pointed, SharedArray, Slot
from porter_triton.lower.scopes import Closure, FunctionName
from porter_triton.lower.types import Arithmetic, Pointer, Type
from porter_triton.lower.values import Address, Scalar
from porter_triton.refusal import Refusal

_SAME = 3  # what a parameter of an argument's own type is worth


def best(
    cx: Context,
    candidates: tuple[FunctionTree, ...],
    template: tuple[object, ...],
    types: tuple[Type | None, ...],
    line: int,
) -> FunctionTree:
    """The one of `candidates` that fits arguments of these types best; raises `Refusal` where none takes so many."""
    fitting = [c for c in candidates if accepts(c, len(types))]
    if not fitting:
        raise Refusal(line, "a function is called with a number of arguments that it does not take")
    given = structs.arguments(cx, template, line)
    possible = [c for c in fitting if c.arguments or _takes(c, given)]
    if len(possible) > 1:
        possible = [c for c in possible if enabled.enabled(cx, c, given, types, line)]
    return max(_specialised(cx, possible or fitting, given, line), key=lambda c: _score(cx, c, types, line))


def _takes(candidate: FunctionTree, given: tuple[structs.Argument, ...]) -> bool:
    """Returns whether the template has parameters for these arguments: types where it wants types, numbers for
    numbers.
    """
    parameters = candidate.head.template
    if any("..." in p.kind for p in parameters):
        return True
    pairs = zip(parameters, given, strict=False)
    return len(given) <= len(parameters) and all((p.kind == "typename") != isinstance(a, Scalar) for p, a in pairs)


def _specialised(
    cx: Context, fitting: list[FunctionTree], given: tuple[structs.Argument, ...], line: int
) -> list[FunctionTree]:
    """An explicit specialisation where its own arguments are given; otherwise only where those are deduced."""
    plain = [c for c in fitting if not c.arguments]
    if not given:
        return fitting
    exact = [c for c in fitting if c.arguments and structs.arguments(cx, c.arguments, line)[: len(given)] == given]
    return exact or plain or fitting


def fits(cx: Context, candidates: tuple[FunctionTree, ...], arguments: tuple[Argument, ...], line: int) -> bool:
    """Returns whether one of `candidates` takes arguments of these types."""
    types = tuple(argument_type(a) for a in arguments)
    return any(_score(cx, c, types, line) >= 0 for c in candidates)


def fits_exactly(cx: Context, candidates: tuple[FunctionTree, ...], arguments: tuple[Argument, ...], line: int) -> bool:
    """Returns whether one of `candidates` that is no template takes just these types."""
    types = tuple(argument_type(a) for a in arguments)
    plain = (c for c in candidates if not c.head.template and len(c.parameters) == len(types))
    return any(_score(cx, c, types, line) == _SAME * len(types) for c in plain)


def argument_type(argument: Argument) -> Type | None:
    """The type of an argument: that of a pointer for an array; None for a function."""
    if isinstance(argument, Closure | FunctionName):
        return None
    if isinstance(argument, Slot) and argument.extents:
        return Pointer(argument.array.element)
    if isinstance(argument, LocalArray | SharedArray | Columns):
        return Pointer(argument.element)
    if isinstance(argument, Pointed) and argument.address is not None:
        argument = Held(argument.address)
    if isinstance(argument, Held) and isinstance(argument.value, Address):
        place = argument.value.place
        if argument.value.view is not None:
            return Pointer(argument.value.view)
        if isinstance(place, LocalArray | SharedArray | Columns):
            return Pointer(place.element)
        inner = access.place_type(place)
        return None if inner is None else Pointer(inner)
    return access.place_type(argument)


def accepts(candidate: FunctionTree, count: int) -> bool:
    """Returns whether a function takes so many arguments."""
    needed = sum(p.default is None for p in candidate.parameters)
    return needed <= count <= len(candidate.parameters)


def _score(cx: Context, candidate: FunctionTree, types: tuple[Type | None, ...], line: int) -> int:
    """Returns how well argument types fit: exact beats template beats conversion."""
    total = 0
    templates = {t.name for t in candidate.head.template}
    for parameter, type_ in zip(candidate.parameters, types, strict=False):
        if parameter.type.name in templates:
            depth = _pointer_depth(type_)
            total += 2 if depth >= parameter.type.pointers else -20
            continue
        try:
            wanted = resolve.type_of(cx, parameter.type, line)
        except Refusal:
            continue
        if wanted == type_:
            total += _SAME
        elif isinstance(wanted, Arithmetic) and isinstance(type_, Arithmetic):
            total += 1 if wanted.is_float == type_.is_float else 0
        else:
            total -= 20
    return total


def _pointer_depth(type_: Type | None) -> int:
    return 1 + _pointer_depth(type_.element) if isinstance(type_, Pointer) else 0
