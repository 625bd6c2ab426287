"""Types that templates of the source name: members of specialisations, alias templates, the standard's choices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from porter.source.qualified import unqualified
from porter.syntax.nodes import Expression, Literal, Name, TypeName
from porter.syntax.type_traits import named_by_library
from porter.syntax.unit import StructTree
from porter_triton.host import expressions, matching
from porter_triton.host.c_types import Arithmetic, Pointer, Record, Type
from porter_triton.host.scope import Context
from porter_triton.kernels import template_argument
from porter_triton.refusal import Refusal

Bindings = tuple[tuple[str, TypeName | Expression], ...]
_CHOICES = ("std::conditional::type", "std::conditional_t")


def named(cx: Context, name: TypeName) -> TypeName | None:
    """Returns the type `name` by its definition; None if it is no member, alias template or choice."""
    if name.name in _CHOICES and len(name.arguments) == 3:
        return _chosen(cx, name)
    for alias in reversed(cx.unit.aliases):
        if alias.template and alias.name == unqualified(name.name) and len(alias.template) <= len(name.arguments):
            return _within(cx, tuple(zip(alias.template, name.arguments, strict=False)), alias.type)
    if (told := named_by_library(name.name, name.arguments)) is not None and told.name != name.name:
        return told
    owner, _, member = name.name.rpartition("::")
    found = definition(cx, TypeName(owner, name.arguments)) if owner else None
    if found is None:
        return None
    struct, bindings = found
    meant = next((alias.type for alias in struct.aliases if alias.name == member and not alias.template), None)
    return None if meant is None else _within(cx, bindings, meant)


def _chosen(cx: Context, name: TypeName) -> TypeName | None:
    """Returns the type of `std::conditional<test, A, B>`."""
    test, yes, no = name.arguments
    asked = expressions.expression(cx, test).constant if not isinstance(test, TypeName) else _value(cx, test)
    chosen = no if not asked else yes
    return chosen if asked is not None and isinstance(chosen, TypeName) else None


def _value(cx: Context, name: TypeName) -> float | None:
    """Returns the number of a template parameter or enumerator, which reads as a type where it is an argument."""
    meaning = cx.find(name.name)
    if meaning is None and not cx.unit.variables_named(name.name, cx.function.head.scope):
        return None
    return None if isinstance(meaning, TypeName) else expressions.expression(cx, Name(name.name)).constant


def _within(cx: Context, bindings: Bindings, meant: TypeName) -> TypeName:
    """Returns `meant` with the parameters of a template as `bindings` say."""
    with cx.scope():
        bind(cx, bindings)
        return cx.type(meant)


def bind(cx: Context, bindings: Bindings) -> None:
    """Bind template parameters in the innermost scope."""
    settled = [(n, cx.type(a) if isinstance(a, TypeName) else expressions.expression(cx, a)) for n, a in bindings]
    for name, meaning in settled:
        cx.bind(name, meaning)


def definition(cx: Context, kind: TypeName) -> tuple[StructTree, Bindings] | None:
    """Returns the struct that `kind` names, the most specialised one for its arguments, and its parameters.

    None where the source has no such struct; raises `Refusal` where several fit.
    """
    structs = cx.unit.struct(kind.name)
    primary = next((s for s in structs if not s.arguments), None)
    given = tuple(cx.type(a) if isinstance(a, TypeName) else a for a in kind.arguments)
    given = (*given, *_left_out(primary, len(given)))
    fitting = [(s, bound) for s in structs if s.arguments and (bound := _match(cx, s, given)) is not None]
    if fitting:
        patterns = [(f, matching.Patterns(f[0].arguments, frozenset(p.name for p in f[0].template))) for f in fitting]
        chosen = matching.most_specialised(patterns)
        if chosen is None:
            raise Refusal(cx.function.head.span.line, f"several specialisations of '{kind.name}' fit")
        return chosen
    if primary is None:
        return None
    return primary, tuple((p.name, a) for p, a in zip(primary.template, given, strict=False))


def _left_out(primary: StructTree | None, given: int) -> tuple[TypeName | Expression, ...]:
    """Returns the defaults of the template's parameters behind the first `given`."""
    rest = primary.template[given:] if primary is not None else ()
    return tuple(template_argument(p.default) for p in takewhile(lambda p: bool(p.default), rest))


def _match(cx: Context, struct: StructTree, given: Sequence[TypeName | Expression]) -> Bindings | None:
    """Returns what the parameters of a specialisation are for it to be that of the arguments; None where it is not."""
    if len(struct.arguments) > len(given):
        return None
    bound: matching.Bound = {}
    meant = [_meaning(cx, argument) for argument in given]
    open_ = frozenset(p.name for p in struct.template)
    pairs = zip(struct.arguments, meant, strict=False)
    if not all(matching.matched(pattern, a, open_, bound, lambda p: _meaning(cx, p)) for pattern, a in pairs):
        return None
    return tuple((name, _written(meaning)) for name, meaning in bound.items())


def _meaning(cx: Context, argument: TypeName | Expression) -> object:
    """Returns a template argument in a form that can be compared: a type, the name of another one, or a number."""
    if not isinstance(argument, TypeName):
        return expressions.expression(cx, argument).constant
    found: Type | None = cx.built_in(TypeName(argument.name, argument.arguments))
    if found is None and (value := _value(cx, argument)) is not None:
        return value
    meant = cx.type(argument)
    if found is None:
        return meant
    for _ in range(meant.pointers):
        found = Pointer(found)
    return found


def _written(meaning: object) -> TypeName | Expression:
    """Returns a template argument as the source would write it."""
    if isinstance(meaning, Pointer):
        inner = _written(meaning.element)
        assert isinstance(inner, TypeName)
        return replace(inner, pointers=inner.pointers + 1)
    if isinstance(meaning, Arithmetic):
        torch = {"__half": "at::Half", "__nv_bfloat16": "at::BFloat16"}
        return TypeName(torch[meaning.name] if meaning.owner else meaning.name)
    if isinstance(meaning, Record):
        return TypeName(meaning.name)
    if isinstance(meaning, TypeName):
        return meaning
    assert isinstance(meaning, int | float)
    return Literal(meaning, "bool" if isinstance(meaning, bool) else "float" if isinstance(meaning, float) else "int")
