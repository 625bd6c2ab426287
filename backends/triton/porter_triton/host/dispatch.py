"""PyTorch's dispatch macros: the body once for each dtype, where the bodies differ."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache

from porter.resources import resource
from porter.syntax.nodes import Assign, Block, Call, Evaluate, Expression, Lambda, Name, Return, TypeName
from porter_triton.host import expressions, statements
from porter_triton.host.codes import Kind
from porter_triton.host.scope import Context, plain
from porter_triton.host.suites import Line, Suite, laid_out
from porter_triton.refusal import Refusal

Translate = Callable[[Context, Block], object]

_DISPATCH = re.compile(r"AT_DISPATCH_(?:CASE_)?(?P<group>[A-Z_]+?)(?:_AND(?P<more>\d?))?$")


@cache
def _table() -> Mapping[str, Mapping[str, object]]:
    return tomllib.loads((resource("grammars") / "torch_dispatch.toml").read_text("utf-8"))


def is_dispatch(name: str) -> bool:
    """Returns whether `name` is one of PyTorch's dispatch macros."""
    return name.startswith("AT_DISPATCH_")


def dispatch(cx: Context, node: Call, *, returns: bool = False) -> None:
    """Emits the branches of `AT_DISPATCH_*(dtype, "name", [&] { ... })`; `returns` says that a `return` precedes it."""
    assert isinstance(node.callee, Name)
    if node.callee.name == "AT_DISPATCH_SWITCH":
        subject, _, *rest = node.arguments
        cases = [c for case in rest for c in _case(case, node.line)]
    else:
        types, subject, name, body = _parts(node)
        cases = [(t, name, body) for t in types]
    translate = statements.block if returns else statements.inlined
    chosen = _subject(cx, subject)
    named = [case for case in cases if chosen == f"torch.{cx.dtype(case[0], node.line)}"]
    if named:  # the source itself names the type
        cx.body.extend(_instance(cx, named[0][0], (named[0][1], chosen), named[0][2], translate))
    else:
        _branches(cx, chosen, cases, translate, node.line)


def _subject(cx: Context, node: Expression) -> str:
    """Returns what a dispatch chooses by: the dtype of a tensor, or one that the source names, be it among options."""
    found = expressions.expression(cx, node)
    if found.kind is not Kind.OPTIONS:
        return found.text
    dtypes = [part.text for part in found.parts if part.kind is Kind.DTYPE]
    if not dtypes:
        raise Refusal(node.line, "the type that a dispatch chooses by is not known")
    return dtypes[-1]


def dispatched(value: Expression | None) -> Call | None:
    """Returns `value` as a call of a dispatch macro; None for any other expression."""
    is_call = isinstance(value, Call) and isinstance(value.callee, Name) and is_dispatch(value.callee.name)
    return value if is_call else None  # type: ignore[return-value]


def dispatch_into(cx: Context, target: Expression, node: Call) -> None:
    """Translates `target = AT_DISPATCH_*(dtype, "name", [&] { ...; return value; })`: each branch assigns its value."""
    dispatch(cx, _assigning(node, target))


def _assigning(node: Call, target: Expression) -> Call:
    """Returns `node`, with `target = value` for `return value` in its lambdas, also those of its cases."""
    given = tuple(
        replace(a, body=_with_assignment(a.body, target))
        if isinstance(a, Lambda)
        else _assigning(case, target)
        if (case := dispatched(a)) is not None
        else a
        for a in node.arguments
    )
    return replace(node, arguments=given)


def _with_assignment(body: Block, target: Expression) -> Block:
    *before, last = body.statements or (Block((), body.line),)
    if not isinstance(last, Return) or last.value is None:
        raise Refusal(body.line, "a lambda whose value is needed does not end with a value")
    return replace(body, statements=(*before, Evaluate(Assign("", target, last.value, last.line), last.line)))


def _parts(node: Call) -> tuple[list[TypeName], Expression, str, Lambda]:
    """Returns the types, the expression that chooses, the name given to the type, and the body."""
    assert isinstance(node.callee, Name)
    *before, body = node.arguments
    if not isinstance(body, Lambda) or len(before) < 2:
        raise Refusal(node.line, f"'{node.callee.name}' is not understood")
    types = _types(node.callee.name, before[:-2], node.line)
    name = "index_t" if node.callee.name == "AT_DISPATCH_INDEX_TYPES" else "scalar_t"
    return types, before[-2], name, body


def _case(node: Expression, line: int) -> Iterator[tuple[TypeName, str, Lambda]]:
    """Yields the types of one `AT_DISPATCH_CASE*(..., [&] { ... })`."""
    if not isinstance(node, Call) or not isinstance(node.callee, Name) or not isinstance(node.arguments[-1], Lambda):
        raise Refusal(line, "this case of a dispatch is not understood")
    types = _types(node.callee.name, node.arguments[:-1], line)
    yield from ((t, "scalar_t", node.arguments[-1]) for t in types)


def _types(name: str, more: tuple[Expression, ...] | list[Expression], line: int) -> list[TypeName]:
    """Returns the types that a macro gives to `scalar_t`, complex ones left out: Triton has none."""
    groups, scalars = _table()["groups"], _table()["scalar_types"]
    group = name.removeprefix("AT_DISPATCH_").removeprefix("CASE_")
    found = _DISPATCH.match(name)
    names: list[str] = []
    if name != "AT_DISPATCH_CASE":
        listed = groups.get(group) or (groups.get(found["group"]) if found else None)
        if not isinstance(listed, list):
            raise Refusal(line, f"'{name}' is not known")
        names.extend(map(str, listed))
    for extra in more:
        scalar = plain(extra.name).removeprefix("ScalarType::").removeprefix("k") if isinstance(extra, Name) else ""
        if scalar not in scalars:
            raise Refusal(line, "this type of a dispatch is not known")
        names.append(str(scalars[scalar]))
    return [TypeName(n) for n in dict.fromkeys(names) if "complex" not in n and "Float8" not in n]


def _branches(
    cx: Context, subject: str, cases: list[tuple[TypeName, str, Lambda]], translate: Translate, line: int
) -> None:
    """Emits one branch for each different text; dtypes without a lowered kernel are refused at run time."""
    texts: dict[str, tuple[list[str], list[Line | Suite]]] = {}
    refused: dict[str, Refusal] = {}
    for type_, name, body in cases:
        try:
            lines = _instance(cx, type_, (name, subject), body, translate)
        except Refusal as refusal:
            refused[cx.dtype(type_, line)] = refusal
            continue
        key = "\n".join(laid_out(lines, ""))
        texts.setdefault(key, ([], lines))[0].append(f"torch.{cx.dtype(type_, line)}")
    if not texts:
        raise next(iter(refused.values()))
    cx.lacking |= refused
    _chain(cx, subject, list(texts.values()))


def _chain(cx: Context, subject: str, groups: list[tuple[list[str], list[Line | Suite]]]) -> None:
    """Emits a branch for each group of dtypes; for a single one only a guard."""
    if len(groups) == 1:
        dtypes, lines = groups[0]
        cx.body.extend([Suite(f"if {_is_not(subject, dtypes)}:", [Line(_unsupported(subject))]), *lines])
        return
    for i, (dtypes, lines) in enumerate(groups):
        cx.body.append(Suite(f"{'el' if i else ''}if {_is(subject, dtypes)}:", lines))
    cx.body.append(Suite("else:", [Line(_unsupported(subject))]))


def _instance(
    cx: Context, type_: TypeName, named: tuple[str, str], body: Lambda, translate: Translate
) -> list[Line | Suite]:
    """Returns the statements of the body for one type; `named` is its name in the body, and its dtype."""
    name, subject = named
    with cx.aside() as lines:
        cx.bind(name, type_)
        cx.dtypes.subjects[name] = subject
        translate(cx, body.body)
    return lines


def _is(subject: str, dtypes: list[str]) -> str:
    return f"{subject} == {dtypes[0]}" if len(dtypes) == 1 else f"{subject} in ({', '.join(dtypes)})"


def _is_not(subject: str, dtypes: list[str]) -> str:
    return f"{subject} != {dtypes[0]}" if len(dtypes) == 1 else f"{subject} not in ({', '.join(dtypes)})"


def _unsupported(subject: str) -> str:
    return f'raise NotImplementedError(f"not implemented for {{{subject}}}")'
