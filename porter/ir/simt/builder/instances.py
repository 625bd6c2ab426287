"""The instances of a source's kernels that somebody may look at: those that its launches name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from porter.ir.simt.builder import resolve
from porter.ir.simt.builder.errors import NotExpressibleError
from porter.ir.simt.builder.kernel import build, instance_name
from porter.ir.simt.builder.spelling import taken_apart
from porter.ir.simt.builder.state import Builder
from porter.ir.simt.ops import Function
from porter.source.program import Launch, TemplateParam
from porter.source.qualified import unqualified
from porter.syntax.nodes import Expression, Literal, Name, TypeName
from porter.syntax.type_resolution import Types
from porter.syntax.unit import FunctionTree, Unit

Argument = TypeName | Expression
_ANY_TYPE = TypeName("float")


@dataclass(frozen=True, slots=True)
class BuiltKernel:
    """An instance of a kernel: its function, or why the IR does not express it."""

    name: str
    line: int
    function: Function | NotExpressibleError


def built_kernels(unit: Unit, launches: Sequence[Launch], asked: Sequence[str] = ()) -> tuple[BuiltKernel, ...]:
    """The instances of kernels that launches name, or those `asked` for, as `name` or `name<arguments>`."""
    found: dict[str, BuiltKernel] = {}
    for kernel in unit.kernels:
        if kernel.arguments:
            continue
        for template in _instances(unit, kernel, launches, asked):
            name = instance_name(kernel, template)
            if name not in found:
                found[name] = BuiltKernel(name, kernel.body.line, _built(unit, kernel, template))
    return tuple(found.values())


def _built(unit: Unit, kernel: FunctionTree, template: tuple[Argument, ...]) -> Function | NotExpressibleError:
    for argument in template:
        if isinstance(argument, Name) and not unit.named(argument.name):
            because = f"the template argument '{argument.name}' is known to its launcher alone; name the instance"
            return NotExpressibleError(because, kernel.body.line)
    try:
        return build(unit, kernel, template)
    except NotExpressibleError as error:
        return error


def _instances(
    unit: Unit, kernel: FunctionTree, launches: Sequence[Launch], asked: Sequence[str]
) -> Iterator[tuple[Argument, ...]]:
    types = Types(unit)
    for name in asked:
        plain, arguments, _ = taken_apart(name)
        if _is_named(kernel, plain):
            yield tuple(types.argument(argument) for argument in arguments)
    if asked:
        return
    if not kernel.head.template:
        yield ()
        return
    written = [launch.template_args for launch in launches if _is_named(kernel, launch.kernel)]
    for arguments in written or [()]:
        pairs = zip(kernel.head.template, arguments, strict=False)
        yield tuple(_settled(unit, parameter, types.argument(argument)) for parameter, argument in pairs)


def _is_named(kernel: FunctionTree, name: str) -> bool:
    return unqualified(name) == kernel.head.name


def _settled(unit: Unit, parameter: TemplateParam, argument: Argument) -> Argument:
    """A template argument of a launch: a number that is known, and `float` for a type that the launcher leaves open."""
    b = Builder(unit, Types(unit))
    found = resolve.argument(b, argument)
    if parameter.kind in ("typename", "class") and isinstance(found, Name) and not unit.named(found.name):
        return _ANY_TYPE
    if isinstance(found, TypeName):
        try:
            resolve.type_of(b, found)
        except NotExpressibleError:
            return _ANY_TYPE
        return found
    return found if isinstance(found, Literal) else argument
