"""Lists variables and macros of a CUDA source with the tokens of their values, each at its place in the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from porter.source.lexer import Token, TokenKind, inside_directive, match_bracket, significant, tokens
from porter.source.program import Function, Program

_ASSIGNMENTS = frozenset(("=", "+=", "-=", "*=", "/=", "<<=", ">>=", "|=", "&=", "^=", "%="))
_STEPS = frozenset(("++", "--"))
_NO_TYPE = frozenset(("return", "else", "new", "case", "goto", "throw", "delete", "using", "namespace"))


@dataclass(frozen=True, slots=True)
class Declaration:
    """A variable, or a macro without parameters, and its value.

    `inside` is the function that declares it, None for the file; `assigned` says whether it is set anywhere else.
    """

    name: str
    value: tuple[Token, ...]
    inside: Function | None
    assigned: bool = False

    @property
    def title(self) -> str:
        """The variable's name, preceded by its function's."""
        return f"{self.inside.name}.{self.name}" if self.inside else self.name


def number_of(declaration: Declaration) -> Token | None:
    """Returns the value, where it is just a number."""
    value = declaration.value
    return value[0] if len(value) == 1 and value[0].kind is TokenKind.NUMBER and value[0].text.isdecimal() else None


def declarations(program: Program) -> Iterator[Declaration]:
    """Yields the declarations of `program`, in order; of `int a = 1, b = 2` only the first."""
    text = program.source.text
    stream = significant(tokens(text))
    words = [t for t in stream if t.kind is not TokenKind.DIRECTIVE]
    for directive in (t for t in stream if t.kind is TokenKind.DIRECTIVE):
        yield from _macro(directive, text)
    functions = (*program.kernels, *program.device_functions, *program.host_functions)
    for i in range(1, len(words) - 1):
        if value := _initialiser(words, i):
            inside = next((f for f in functions if f.span.start <= words[i].start < f.span.end), None)
            yield Declaration(words[i].text, value, inside, _is_assigned(words, i, inside))


def _macro(directive: Token, text: str) -> Iterator[Declaration]:
    words = significant(inside_directive(directive, text))
    if len(words) > 2 and words[0].text == "define" and words[1].end < words[2].start:
        value = words[2:]
        if len(value) > 2 and value[0].text == "(" and match_bracket(value, 0) == len(value) - 1:
            value = value[1:-1]
        yield Declaration(words[1].text, tuple(value), None)


def _initialiser(words: Sequence[Token], index: int) -> tuple[Token, ...]:
    """Returns the value of the variable declared at `index`; nothing where none is declared there."""
    before, name, after = words[index - 1], words[index], words[index + 1]
    typed = before.kind is TokenKind.IDENTIFIER and before.text not in _NO_TYPE
    if name.kind is not TokenKind.IDENTIFIER or not typed:
        return ()
    if before.text == "dim3" and after.text in ("(", "{"):
        close = match_bracket(words, index + 1)
        return () if close is None else (before, *words[index + 1 : close + 1])
    if after.text == "{":
        close = match_bracket(words, index + 1)
        ends = close is not None and [t.text for t in words[close + 1 : close + 2]] == [";"]
        return tuple(words[index + 2 : close]) if ends else ()
    return tuple(_until_end(words, index + 2)) if after.text == "=" else ()


def _until_end(words: Sequence[Token], index: int) -> Iterator[Token]:
    depth = 0
    for token in words[index:]:
        depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
        if depth < 0 or (depth == 0 and token.text in (";", ",")):
            return
        yield token


def _is_assigned(words: Sequence[Token], index: int, inside: Function | None) -> bool:
    """Returns whether the variable at `index` gets a value a second time, or its address is taken."""
    name = words[index].text
    for i, token in enumerate(words[1:-1], start=1):
        elsewhere = inside is not None and not inside.span.start <= token.start < inside.span.end
        if token.text != name or i == index or elsewhere:
            continue
        if words[i + 1].text in _ASSIGNMENTS | _STEPS or words[i - 1].text in _STEPS:
            return True
    return False
