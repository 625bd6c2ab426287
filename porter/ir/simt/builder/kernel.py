"""Builds a function of one instance of a kernel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from porter.ir.simt.builder import access, inlining, resolve, statements
from porter.ir.simt.builder.c_types import (
    FUNCTION,
    CType,
    PointerTo,
    Record,
    element_of,
    leaves,
    lives_in_memory,
    paths,
)
from porter.ir.simt.builder.errors import NotExpressibleError
from porter.ir.simt.builder.state import Builder
from porter.ir.simt.builder.values import Fields, Held, Memory, Number, Place, RValue
from porter.ir.simt.cleanup import without_dead_code
from porter.ir.simt.library import with_libraries
from porter.ir.simt.ops import Block, Function, Op, Value
from porter.ir.simt.ops import Parameter as IRParameter
from porter.ir.simt.types import Pointer, Scalar, Space
from porter.syntax.nodes import Expression, Literal, Parameter, TypeName
from porter.syntax.type_resolution import Types
from porter.syntax.unit import FunctionTree, Unit

_MOST_PARAMETERS = 256


def build(unit: Unit, kernel: FunctionTree, template: Sequence[TypeName | Expression] = ()) -> Function:
    """Returns the instance of `kernel` for these template arguments. Raises `NotExpressibleError`."""
    whole = with_libraries(unit)
    b = Builder(whole, Types(whole))
    try:
        return _built(b, kernel, tuple(template))
    except RecursionError:
        raise NotExpressibleError("expressions that are nested too deeply", kernel.body.line) from None


@dataclass(frozen=True, slots=True)
class ParameterSource:
    """A number that a kernel is passed: `path` is what the source calls it, `n` or `shape.sizes[1]`."""

    path: str
    type: CType


def parameter_sources(
    unit: Unit, kernel: FunctionTree, template: Sequence[TypeName | Expression] = ()
) -> dict[tuple[int, int], ParameterSource]:
    """Returns what the parameters of the function are in the source, by argument and byte.

    Raises `NotExpressibleError`.
    """
    whole = with_libraries(unit)
    b = Builder(whole, Types(whole))
    found: dict[tuple[int, int], ParameterSource] = {}
    with _instance(b, kernel, tuple(template)):
        for number, parameter in enumerate(kernel.parameters):
            type_ = resolve.type_of(b, parameter.type, 0)
            held = dict(leaves(type_))
            for offset, path in paths(type_):
                found[number, offset] = ParameterSource(f"{parameter.name}{path}", held[offset])
    return found


@contextmanager
def in_instance(unit: Unit, kernel: FunctionTree, template: Sequence[TypeName | Expression]) -> Iterator[Builder]:
    """Gives a builder in the scope of a kernel for these template arguments. Raises `NotExpressibleError`."""
    whole = with_libraries(unit)
    b = Builder(whole, Types(whole))
    with _instance(b, kernel, tuple(template)):
        yield b


@contextmanager
def _instance(b: Builder, kernel: FunctionTree, template: tuple[TypeName | Expression, ...]) -> Iterator[None]:
    """The scope of a kernel, in which its template parameters are bound."""
    with b.scope(wall=True), inlining.entered(b, kernel, ()):
        for declared, given in zip(kernel.head.template, resolve.arguments(b, template), strict=False):
            b.bind(declared.name, given)
        _bind_defaults(b, kernel, len(template))
        yield


def _built(b: Builder, kernel: FunctionTree, template: tuple[TypeName | Expression, ...]) -> Function:
    parameters: list[IRParameter] = []
    with _instance(b, kernel, template), b.scope():
        for number, parameter in enumerate(kernel.parameters):
            if parameter.name:
                b.bind(parameter.name, _parameter(b, parameter, number, parameters))
        with inlining.returning(b, None):
            statements.run(b, kernel.body.statements)
    for name, place in b.variables.items():
        parameters.append(IRParameter(place.base, -1, variable=name))
    ops = (*b.emitter.prologue, *b.emitter.body, Op("return"))
    function = Function(instance_name(kernel, template), tuple(parameters), Block((), ops))
    return without_dead_code(function, b.replaced)


def _bind_defaults(b: Builder, kernel: FunctionTree, given: int) -> None:
    for declared in kernel.head.template[given:]:
        if not declared.default:
            raise b.problem(f"the template parameter '{declared.name}' is not given", kernel.body.line)
        b.bind(declared.name, resolve.argument(b, b.types.argument(declared.default)))


def instance_name(kernel: FunctionTree, template: Sequence[TypeName | Expression]) -> str:
    """The name of a kernel with its template arguments: `softmax<float, 256>`."""
    if not template:
        return kernel.head.qualified
    return f"{kernel.head.qualified}<{', '.join(map(_argument, template))}>"


def _argument(given: TypeName | Expression) -> str:
    if isinstance(given, TypeName):
        inner = f"<{', '.join(map(_argument, given.arguments))}>" if given.arguments else ""
        return f"{given.name}{inner}{'*' * given.pointers}"
    return str(given.value) if isinstance(given, Literal) else getattr(given, "name", "?")


def _parameter(b: Builder, parameter: Parameter, number: int, found: list[IRParameter]) -> Place:
    """A parameter of the kernel; of a struct all its numbers, and a variable if the kernel changes it."""
    type_ = resolve.type_of(b, parameter.type, 0)
    name = parameter.name
    with b.at(0):
        parts = list(leaves(type_))
        if len(parts) > _MOST_PARAMETERS:
            raise b.problem(f"the parameter '{name}' has {len(parts)} numbers")
        values = []
        for offset, kind in parts:
            value = Value(_ir_type(b, kind, name), name if kind is type_ else f"{name}_{offset}")
            found.append(IRParameter(value, number, offset))
            assert isinstance(kind, Scalar | PointerTo)
            values.append(Number(value, kind))
        changes = name in b.mutable[-1] or name in b.addressed[-1]
        if lives_in_memory(type_):
            memory = access.variable(b, name, type_, in_memory=True)
            assert isinstance(memory, Memory)
            for (offset, kind), held in zip(parts, values, strict=True):
                access.store(b, access.inside(b, memory, offset, kind), held)
            return memory
        whole = _assembled(type_, values)
        if not changes:
            return Held(whole)
        place = access.variable(b, name, type_, in_memory=name in b.addressed[-1])
        access.store(b, place, whole)
        return place


def _ir_type(b: Builder, kind: CType, name: str) -> Scalar | Pointer:
    if isinstance(kind, PointerTo):
        return Pointer(element_of(kind.element), Space.GLOBAL)
    if kind is FUNCTION:
        raise b.problem(f"'{name}' points to a function, which only a run knows: make it a template parameter")
    if not isinstance(kind, Scalar):
        raise b.problem("a parameter of type 'void'")
    return kind


def _assembled(type_: CType, values: list[Number]) -> RValue:
    """Returns a struct of its numbers, which are taken in order."""
    if isinstance(type_, Record):
        return Fields(type_, tuple((name, _assembled(kind, values)) for name, kind in type_.fields))
    return values.pop(0)


def named(unit: Unit, name: str) -> tuple[FunctionTree, ...]:
    """The kernels of a unit that are called `name`, plain or qualified."""
    return tuple(
        k for k in unit.kernels if name in (k.head.name, k.head.qualified) or k.head.qualified.endswith(f"::{name}")
    )
