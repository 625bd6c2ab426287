"""Finds the function that a call means among several, and its template arguments there."""

from __future__ import annotations

from collections.abc import Sequence

from porter.ir.simt.builder import resolve
from porter.ir.simt.builder.c_types import VOID, ArrayOf, CType, PointerTo, Record, are_extents, spelled
from porter.ir.simt.builder.errors import NotExpressibleError
from porter.ir.simt.builder.state import Builder
from porter.ir.simt.types import Scalar
from porter.source.program import TemplateParam
from porter.source.qualified import unqualified
from porter.syntax.nodes import Expression, Literal, Name, TypeName
from porter.syntax.type_resolution import is_same
from porter.syntax.unit import FunctionTree

Argument = TypeName | Expression
Bindings = dict[str, Argument]
_OWN_TYPE = TypeName("void")
_EXACT, _TEMPLATE, _KIND, _NEVER = 4, 3, 1, -1000


def chosen(
    b: Builder,
    candidates: Sequence[FunctionTree],
    given: tuple[Argument, ...],
    types: Sequence[CType | None],
    line: int,
) -> tuple[FunctionTree, Bindings]:
    """Returns the function that fits arguments of these types best, and its template parameters."""
    fitting: list[tuple[int, int, FunctionTree, Bindings]] = []
    for number, candidate in enumerate(candidates):
        needed = sum(p.default is None for p in candidate.parameters)
        if not needed <= len(types) <= len(candidate.parameters):
            continue
        bound = _bound(b, candidate, given, types)
        if bound is not None:
            score = _score(b, candidate, bound, types)
            if score > _NEVER // 2:
                fitting.append((score, -number, candidate, bound))
    if not fitting:
        raise b.problem(f"no function '{candidates[0].head.name}' fits the arguments", line)
    _, _, found, bound = max(fitting, key=lambda one: one[:2])
    special = _specialised(b, candidates, found, bound)
    return special or (found, bound)


def _specialised(
    b: Builder, candidates: Sequence[FunctionTree], found: FunctionTree, bound: Bindings
) -> tuple[FunctionTree, Bindings] | None:
    """The explicit specialisation for the template arguments that were found; None without."""
    if not found.head.template or found.arguments:
        return None
    own = [bound.get(parameter.name) for parameter in found.head.template]
    for candidate in candidates:
        if candidate.arguments and not candidate.head.template:
            wanted = resolve.arguments(b, candidate.arguments)
            if len(wanted) <= len(own) and all(is_same(a, c) for a, c in zip(wanted, own, strict=False)):
                return candidate, {}
    return None


def _bound(
    b: Builder, candidate: FunctionTree, given: tuple[Argument, ...], types: Sequence[CType | None]
) -> Bindings | None:
    """Returns what the template parameters are; None where some are not told."""
    parameters = candidate.head.template
    if candidate.arguments and not parameters:
        wanted = resolve.arguments(b, candidate.arguments)
        return {} if all(is_same(a, c) for a, c in zip(wanted, given, strict=False)) else None
    if any("..." in p.kind for p in parameters) or len(given) > len(parameters):
        return None
    bound: Bindings = dict(zip((p.name for p in parameters), given, strict=False))
    for template, argument in zip(parameters, given, strict=False):
        if (template.kind in ("typename", "class")) != isinstance(argument, TypeName) and template.kind != "auto":
            return None
    open_ = frozenset(p.name for p in parameters[len(given) :])
    for parameter, type_ in zip(candidate.parameters, types, strict=False):
        if type_ is None and parameter.type.name in open_:  # a function or a lambda, which is its own type
            bound.setdefault(parameter.type.name, _OWN_TYPE)
        elif type_ is not None and not _deduced(parameter.type, type_, open_, bound):
            return None
    return bound if _defaulted(b, parameters, bound) else None


def _defaulted(b: Builder, parameters: Sequence[TemplateParam], bound: Bindings) -> bool:
    """Puts the defaults of template parameters that nothing told into `bound`; False where one has none."""
    for template in parameters:
        if template.name in bound or not template.name:
            continue
        if not template.default:
            return False
        with b.scope():
            for name, argument in bound.items():
                b.bind(name, argument)
            bound[template.name] = resolve.argument(b, b.types.argument(template.default))
    return True


def _deduced(pattern: TypeName, given: CType, open_: frozenset[str], bound: Bindings) -> bool:
    """Puts what a parameter's type says of template parameters into `bound`; False where it does not fit."""
    for _ in range(pattern.pointers):
        given = _decayed(given)
        if not isinstance(given, PointerTo):
            return pattern.name not in open_
        given = given.element
    if pattern.name == "[]" and isinstance(given, ArrayOf) and isinstance(pattern.arguments[0], TypeName):
        for wanted, extent in zip(pattern.arguments[1:], given.extents, strict=False):
            name = getattr(wanted, "name", "")
            if name in open_ and not is_same(bound.setdefault(name, Literal(extent, "int")), Literal(extent, "int")):
                return False
        return _deduced(pattern.arguments[0], given.element, open_, bound)
    if pattern.name == "[]" and not pattern.pointers and isinstance(pattern.arguments[0], TypeName):
        return len(pattern.arguments) == 1 or not pattern.reference  # `T (&items)[N]` takes arrays alone
    if pattern.name in open_ and not pattern.arguments:
        if isinstance(given, ArrayOf):
            given = PointerTo(given.element)
        name = spelled(given)
        return name is not None and is_same(bound.setdefault(pattern.name, name), name)
    if pattern.arguments and isinstance(given, Record) and unqualified(given.name) == unqualified(pattern.name):
        fits = True
        for wanted, own in zip(pattern.arguments, given.arguments, strict=False):
            name_of = getattr(wanted, "name", "")
            if name_of in open_ and isinstance(wanted, TypeName | Name) and not getattr(wanted, "pointers", 0):
                fits = fits and is_same(bound.setdefault(name_of, own), own)
        return fits
    return True


def _has_arguments_of(one: Record, other: Record) -> bool:
    """Returns whether two structs of one name have the same template arguments, as far as both say them."""
    return all(map(is_same, one.arguments, other.arguments))


def _decayed(type_: CType) -> CType:
    """Returns the pointer to its first element, or row, that an array becomes where it is passed."""
    if not isinstance(type_, ArrayOf):
        return type_
    return PointerTo(type_.element if len(type_.extents) == 1 else ArrayOf(type_.element, type_.extents[1:]))


def _score(b: Builder, candidate: FunctionTree, bound: Bindings, types: Sequence[CType | None]) -> int:
    """Returns how well argument types fit: exact beats template beats conversion."""
    total = -1 if bound else 0
    own = frozenset(p.name for p in candidate.head.template)
    for parameter, type_ in zip(candidate.parameters, types, strict=False):
        if type_ is None:
            continue
        try:
            with b.scope():
                for name, argument in bound.items():
                    b.bind(name, argument)
                wanted = resolve.type_of(b, parameter.type)
        except NotExpressibleError:
            continue
        total += _fit(wanted, type_, is_open=parameter.type.name in own)
    return total


def _fit(wanted: CType, given: CType, *, is_open: bool) -> int:
    if isinstance(wanted, PointerTo | ArrayOf):
        wanted, given = _decayed(wanted), _decayed(given)
    if wanted == given:
        return _TEMPLATE if is_open else _EXACT
    if isinstance(wanted, Scalar) and isinstance(given, Scalar):
        return _KIND + 1 if wanted.is_float == given.is_float else _KIND
    if isinstance(wanted, Record) and isinstance(given, Record):
        if unqualified(wanted.name) == unqualified(given.name) and _has_arguments_of(wanted, given):
            return _EXACT
        converts = are_extents(wanted, given) or wanted.constructors(1) or given.conversions
        return 0 if converts else _NEVER
    if isinstance(wanted, PointerTo) and isinstance(given, PointerTo):
        is_void = wanted.element == VOID
        return _KIND if is_void else _NEVER
    if isinstance(wanted, Record):
        return 0 if wanted.constructors(1) or wanted.name == "dim3" else _NEVER
    if isinstance(given, Record) and given.conversions:
        return 0
    return _KIND if isinstance(wanted, PointerTo) and isinstance(given, Scalar) and not given.is_float else _NEVER
