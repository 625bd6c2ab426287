"""`kernel<<<grid, block, shared_bytes, stream>>>(args)` as a call."""

from __future__ import annotations

from collections.abc import Sequence

from porter.source.edit import Edit
from porter.source.lexer import Token, TokenKind, match_bracket, split_arguments

_CLOSING = {")": "(", "]": "[", "}": "{"}
# Passed on as they stand: held in a variable, 0 and NULL would no longer convert to a pointer, nor a brace to a struct.
_LITERALS = frozenset(("NULL", "nullptr", "true", "false", "{"))


def launch_edits(text: str, code: Sequence[Token], macro: frozenset[str] | None = None) -> list[Edit]:
    """Edits for every launch of `code`, a stretch of tokens without blanks, comments and directives.

    `macro` holds the parameters of the macro whose body `code` is.
    """
    edits: list[Edit] = []
    for index, token in enumerate(code):
        if token.kind is TokenKind.LAUNCH_OPEN:
            edits.extend(_launch(text, code, index, macro or frozenset()))
    return edits


def _launch(text: str, code: Sequence[Token], opening: int, macro: frozenset[str]) -> list[Edit]:
    begin = callee_start(code, opening)
    closing = match_bracket(code, opening)
    if begin == opening or closing is None or closing + 1 >= len(code) or code[closing + 1].text != "(":
        return []
    callee = text[code[begin].start : code[opening - 1].end]
    arguments = split_arguments(code, closing + 1)
    name = _name(code[begin:opening], macro)
    edits = [
        Edit(
            code[begin].start,
            code[opening].end,
            f'::porter::simt::launcher("{name}", {_call(text, callee, arguments)}).on(',
        ),
        Edit(code[closing].start, code[closing].end, ")"),
    ]
    end = match_bracket(code, closing + 1)
    if end is not None and any(map(_is_literal, arguments)):
        held = [_text(text, a) for a in arguments if not _is_literal(a)]
        edits.append(_same_lines(text, code[closing + 1].end, code[end].start, ", ".join(held)))
    return edits


def _name(callee: Sequence[Token], macro: frozenset[str]) -> str:
    """Returns what a string literal holds to name the kernel: the preprocessor fills in the macro's arguments."""
    inner = callee[1:-1] if callee[0].text == "(" and callee[-1].text == ")" else callee
    parts: list[str] = []
    for before, token in zip([None, *inner], inner, strict=False):
        if before is not None and before.end != token.start:
            parts.append(" ")
        parts.append(f'" #{token.text} "' if token.text in macro else token.text.replace('"', "'"))
    return "".join(parts).replace("##", "")


def _call(text: str, callee: str, arguments: Sequence[Sequence[Token]]) -> str:
    """A lambda that calls the kernel with the launch's arguments, which were evaluated once."""
    flat = " ".join(callee.replace("\\\n", " ").split())
    if not any(map(_is_literal, arguments)):
        return f"[&](auto&... porter_args) {{ return {flat}(porter_args...); }}"
    names = ["" if _is_literal(a) else f"porter_arg_{i}" for i, a in enumerate(arguments)]
    parameters = ", ".join(f"auto& {name}" for name in names if name)
    passed = ", ".join(name or " ".join(_text(text, a).split()) for name, a in zip(names, arguments, strict=True))
    return f"[&]({parameters}) {{ return {flat}({passed}); }}"


def _is_literal(argument: Sequence[Token]) -> bool:
    """Returns whether an argument stays where it is, as one that is missing does: the compiler says so at its line."""
    if not argument:
        return True
    first = argument[0]
    return first.text == "{" or (len(argument) == 1 and (first.kind is TokenKind.NUMBER or first.text in _LITERALS))


def _text(text: str, argument: Sequence[Token]) -> str:
    return text[argument[0].start : argument[-1].end] if argument else ""


def _same_lines(text: str, start: int, end: int, replacement: str) -> Edit:
    """Replaces `text[start:end]` without changing the number of its lines."""
    newline = "\\\n" if "\\\n" in text[start:end] else "\n"
    missing = text.count("\n", start, end) - replacement.count("\n")
    return Edit(start, end, replacement + newline * missing)


def callee_start(code: Sequence[Token], opening: int) -> int:
    """Index at which the kernel expression before `code[opening]` begins; `opening` when there is none."""
    index = opening - 1
    if index >= 0 and code[index].text in (">", ">>"):
        index = _open_angle(code, index) - 1
    while index >= 0 and code[index].text in _CLOSING:
        index = _open_bracket(code, index) - 1
        if index < 0 or code[index].kind is not TokenKind.IDENTIFIER or code[index].text == "return":
            return index + 1
    if index < 0 or code[index].kind is not TokenKind.IDENTIFIER:
        return opening
    return _qualified_start(code, index)


def _qualified_start(code: Sequence[Token], index: int) -> int:
    """First token of `a::b<c>::name`, `object->name` or `prefix##name` that ends at `index`."""
    while index >= 1 and code[index - 1].text in ("::", "##", ".", "->", "template"):
        index -= 1
        if code[index].text == "template":
            continue
        if index >= 1 and code[index - 1].text in (">", ">>"):
            index = _open_angle(code, index - 1)
        if index >= 1 and code[index - 1].kind is TokenKind.IDENTIFIER:
            index -= 1
    return index


def _open_bracket(code: Sequence[Token], index: int) -> int:
    depth = 0
    while index >= 0:
        if code[index].text in _CLOSING:
            depth += 1
        elif code[index].text in _CLOSING.values():
            depth -= 1
            if depth == 0:
                return index
        index -= 1
    return 0


def _open_angle(code: Sequence[Token], index: int) -> int:
    depth = 0
    while index >= 0:
        word = code[index].text
        if word in (">", ">>"):
            depth += len(word)
        elif word == "<":
            depth -= 1
            if depth == 0:
                return index
        elif word in _CLOSING:
            index = _open_bracket(code, index)
        index -= 1
    return 0
