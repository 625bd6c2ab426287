"""The head of a function, from its tokens: works whether or not a grammar understands what surrounds it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from porter.source.lexer import Token, TokenKind, match_bracket, split_arguments
from porter.source.mask import after_arguments
from porter.source.program import CType, Param, TemplateParam
from porter.source.reading import Reading
from porter.source.vocabulary import CALLS_IN_HEAD, CV, QUALIFIERS, SPACES, SPECIFIERS, TYPE_KEYS, TYPES, WITH_ARGUMENTS

_NOT_A_NAME = TYPES | CV | TYPE_KEYS


@dataclass(frozen=True, slots=True)
class Signature:
    """The head of a function. `words` are its tokens up to, not including, the body's brace."""

    name: str
    scope: tuple[str, ...]
    space: str
    template: tuple[TemplateParam, ...]
    returns: CType
    params: tuple[Param, ...]
    launch_bounds: tuple[str, ...]


def read_signature(reading: Reading, head: Sequence[Token]) -> Signature | None:
    """The signature in `head`; None when it is not the head of a function."""
    begin, template = _template(reading, head)
    name_at = _parameter_list(head, begin)
    if name_at is None:
        return None
    first, opening = name_at
    close = match_bracket(head, opening)
    if close is None:
        return None
    begin_of_scope, scope = _scope(head, first)
    name = (
        "".join(t.text for t in head[first:opening])
        if head[first].text != "operator"
        else _operator(head[first:opening])
    )
    params = tuple(_param(reading, a) for a in split_arguments(head, opening) if a and [t.text for t in a] != ["void"])
    return Signature(
        name=name.split("<")[0] if not name.startswith("operator") else name,
        scope=scope,
        space=_space(head),
        template=_with_concepts(template, params),
        returns=_returns(reading, head, begin, begin_of_scope, close),
        params=params,
        launch_bounds=_launch_bounds(reading, head),
    )


def read_type(reading: Reading, words: Sequence[Token]) -> CType:
    """A type from the tokens that spell it."""
    plain = [t for t in words if t.text not in SPECIFIERS]
    core = _unqualified(plain)
    if any(t.text == "*" and before.text == "(" for before, t in pairwise(core)):
        return CType(reading.written(plain), reading.written(core))  # a pointer to a function
    pointers = reference = 0
    depth = 0
    base: list[Token] = []
    const = False
    for token in core:
        depth += (token.text == "<") - (len(token.text) if token.text in (">", ">>") else 0)
        if depth == 0 and token.text == "*":
            pointers += 1
        elif depth == 0 and token.text in ("&", "&&"):
            reference += 1
        elif depth == 0 and token.text in CV:
            const = const or (token.text == "const" and pointers == 0)
        else:
            base.append(token)
    return CType(reading.written(plain), reading.written(base), pointers, const, bool(reference))


def _unqualified(words: Sequence[Token]) -> list[Token]:
    """`words` without CUDA's qualifiers and attributes."""
    kept: list[Token] = []
    index = 0
    while index < len(words):
        text = words[index].text
        if text in WITH_ARGUMENTS:
            index = after_arguments(words, index)
        elif text == "[" and index + 1 < len(words) and words[index + 1].text == "[":
            close = match_bracket(words, index)
            index = len(words) if close is None else close + 1
        else:
            if text not in QUALIFIERS:
                kept.append(words[index])
            index += 1
    return kept


def _template(reading: Reading, head: Sequence[Token]) -> tuple[int, tuple[TemplateParam, ...]]:
    """Index after `template <...>` (the last of several), and its parameters."""
    index = 0
    params: tuple[TemplateParam, ...] = ()
    while index + 1 < len(head) and head[index].text == "template" and head[index + 1].text == "<":
        close = match_bracket(head, index + 1)
        if close is None:
            break
        params = tuple(_template_param(reading, a) for a in split_arguments(head, index + 1))
        index = close + 1
    return index, params


def _template_param(reading: Reading, words: Sequence[Token]) -> TemplateParam:
    declared, default = _split_default(words)
    name = declared[-1].text if len(declared) > 1 and declared[-1].kind is TokenKind.IDENTIFIER else ""
    kind = declared[:-1] if name else declared
    return TemplateParam(reading.written(kind).replace("class", "typename"), name, reading.written(default))


def _with_concepts(template: Sequence[TemplateParam], params: Sequence[Param]) -> tuple[TemplateParam, ...]:
    """`template <Number T> void f(T x)`: what a parameter's type is by itself is a type, whatever is said of it."""
    types = {p.type.base for p in params}
    concepts = (t.name in types and not t.kind.startswith("typename") for t in template)
    return tuple(replace(t, kind="typename") if told else t for t, told in zip(template, concepts, strict=True))


def _parameter_list(head: Sequence[Token], begin: int) -> tuple[int, int] | None:
    """Index of the function's name and of the parenthesis of its parameters."""
    index = begin
    while index < len(head):
        token = head[index]
        if token.text == "operator" and index + 1 < len(head):
            return _operator_list(head, index)
        if token.text in CALLS_IN_HEAD:
            index = after_arguments(head, index)
            continue
        if token.text in ("[", "{"):
            close = match_bracket(head, index)
            index = len(head) if close is None else close + 1
            continue
        if token.kind is TokenKind.IDENTIFIER and index + 1 < len(head):
            if head[index + 1].text == "(":
                return index, index + 1
            if head[index + 1].text == "<" and (close := match_bracket(head, index + 1)) is not None:
                if close + 1 < len(head) and head[close + 1].text == "(":
                    return index, close + 1
                index = close
        index += 1
    return None


def _operator_list(head: Sequence[Token], index: int) -> tuple[int, int] | None:
    """Reads as `_parameter_list` does, for `operator` at `index`; the first `()` of `operator()(...)` is its name."""
    opening = index + 1
    if head[opening].text == "(":
        opening += 2
    while opening < len(head) and head[opening].text != "(":
        opening += 1
    return (index, opening) if opening < len(head) else None


def _operator(words: Sequence[Token]) -> str:
    symbol = "".join(t.text for t in words[1:])
    return f"operator {symbol}" if symbol[:1].isalpha() else f"operator{symbol}"


def _scope(head: Sequence[Token], name: int) -> tuple[int, tuple[str, ...]]:
    """Index where `a::b<T>::` before the name begins, and its parts."""
    parts: list[str] = []
    begin = name
    while begin >= 2 and head[begin - 1].text == "::":
        end = begin - 1
        begin = _back_over_angles(head, end - 1)
        parts.append(head[begin].text)
    if begin > 0 and head[begin - 1].text == "~":
        begin -= 1
    return begin, tuple(reversed(parts))


def _back_over_angles(words: Sequence[Token], last: int) -> int:
    """Index of the name whose `<...>` ends at `last`; `last` itself when no bracket ends there."""
    if words[last].text not in (">", ">>"):
        return last
    depth = 0
    for i in range(last, -1, -1):
        text = words[i].text
        depth += len(text) if text in (">", ">>") else -(text == "<")
        if depth <= 0:
            return max(0, i - 1)
    return last


def _space(head: Sequence[Token]) -> str:
    words = {t.text for t in head if t.text in SPACES}
    if "__global__" in words:
        return "global"
    if "__device__" in words:
        return "host device" if "__host__" in words else "device"
    return "host"


def _returns(reading: Reading, head: Sequence[Token], begin: int, end: int, close: int) -> CType:
    arrow = next((i for i in range(close + 1, len(head)) if head[i].text == "->"), None)
    if arrow is None:
        return read_type(reading, _unqualified(_after_linkage(head[begin:end])))
    stop = next((i for i in range(arrow, len(head)) if head[i].text == "requires"), len(head))
    return read_type(reading, head[arrow + 1 : stop])


def _after_linkage(words: Sequence[Token]) -> list[Token]:
    return [t for t in words if t.kind is not TokenKind.STRING]


def _launch_bounds(reading: Reading, head: Sequence[Token]) -> tuple[str, ...]:
    for i, token in enumerate(head[:-1]):
        if token.text == "__launch_bounds__" and head[i + 1].text == "(":
            return tuple(reading.written(a) for a in split_arguments(head, i + 1))
    return ()


def _split_default(words: Sequence[Token]) -> tuple[list[Token], list[Token]]:
    """A declaration's tokens before and after the first `=` outside brackets."""
    index = 0
    while index < len(words):
        text = words[index].text
        if text == "=":
            return list(words[:index]), list(words[index + 1 :])
        close = match_bracket(words, index) if text in ("(", "[", "{", "<") else None
        index = index + 1 if close is None else close + 1
    return list(words), []


def _param(reading: Reading, words: Sequence[Token]) -> Param:
    declared, default = _split_default(words)
    name, kind, extents = declarator(declared)
    ctype = read_type(reading, kind)
    if extents:
        suffix = "".join(reading.written(e) for e in extents)
        ctype = CType(ctype.text + suffix, ctype.base, ctype.pointers + 1, ctype.const, ctype.reference)
    return Param(name, ctype, reading.written(default), reading.span_of(words))


def declarator(words: Sequence[Token]) -> tuple[str, list[Token], list[Sequence[Token]]]:
    """Name (empty when there is none), the tokens of the type, and the array extents with their brackets."""
    for i in range(1, len(words) - 1):  # R (*name)(...), T (&name)[N]
        if words[i - 1].text == "(" and words[i].text in ("*", "&", "&&") and words[i + 1].kind is TokenKind.IDENTIFIER:
            return words[i + 1].text, [*words[: i + 1], *words[i + 2 :]], []
    end = len(words)
    extents: list[Sequence[Token]] = []
    while end > 1 and words[end - 1].text == "]":
        begin = next(i for i in range(end - 1, -1, -1) if words[i].text == "[" or i == 0)
        extents.insert(0, words[begin:end])
        end = begin
    last = words[end - 1] if end else None
    if (
        last is None
        or last.kind is not TokenKind.IDENTIFIER
        or last.text in _NOT_A_NAME
        or not _can_precede_name(words[: end - 1])
    ):
        return "", list(words[:end]), extents
    return last.text, list(words[: end - 1]), extents


def _can_precede_name(words: Sequence[Token]) -> bool:
    """Returns whether `words` are a whole type, so that an identifier after them is a name."""
    if not words or words[-1].text == "::":
        return False
    return any(t.text not in QUALIFIERS and t.text not in (_NOT_A_NAME - TYPES) for t in words)
