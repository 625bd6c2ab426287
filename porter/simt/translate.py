"""CUDA or MACA text → C++ text for the executor, by edits of tokens: every line stays where it was.

A token-level translation also reaches the bodies of macros, where no parser sees a launch. What it rewrites:
    k<T><<<grid, block, shared, stream>>>(args)   → a call of porter::simt::launcher
    __shared__ T x[N];                            → static storage that each block enters, and a reference to it
    extern __shared__ T x[];                      → a pointer to the launch's dynamic shared memory
    asm("…" : … );                                → the C++ function that does the same
    int main(…)                                   → a function the driver calls
Everything else of CUDA's language is macros, functions and types of the shim headers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from porter.simt.launch_edits import launch_edits
from porter.simt.shared_edits import SharedNames, shared_edits
from porter.source.edit import Edit, apply_edits
from porter.source.lexer import Token, TokenKind, inside_directive, match_bracket, significant, tokens
from porter.source.text import Source

USER_MAIN = "porter_user_main"


def translate(source: Source) -> str:
    """The C++ text of `source`, beginning with a `#line` so that compilers and faults name the user's lines."""
    edits = _Translation(source.text).edits()
    path = str(source.path).replace("\\", "\\\\").replace('"', '\\"')
    return f'#line {source.first_line} "{path}"\n{apply_edits(source.text, edits)}'


@dataclass
class _Translation:
    text: str
    names: SharedNames = field(default_factory=SharedNames)

    def edits(self) -> list[Edit]:
        """All edits of the text, those inside macro bodies included."""
        stream = tokens(self.text)
        edits = [edit for t in stream if t.kind is TokenKind.DIRECTIVE for edit in self._directive(t)]
        return [*edits, *self._stretch(significant(stream), macro=None)]

    def _directive(self, directive: Token) -> list[Edit]:
        inner = significant(inside_directive(directive, self.text))
        if len(inner) < 2 or inner[0].text != "define":
            return []
        body, parameters = _macro_body(inner)
        if body and self.names.is_spelling(body):
            self.names.spellings.add(inner[1].text)
            return []
        return self._stretch(body, macro=parameters)

    def _stretch(self, stream: Sequence[Token], macro: frozenset[str] | None) -> list[Edit]:
        code = [t for t in stream if t.kind is not TokenKind.DIRECTIVE]
        return [
            *launch_edits(self.text, code),
            *shared_edits(self.text, code, self.names, macro),
            *_main_edits(code),
        ]


def _macro_body(inner: Sequence[Token]) -> tuple[Sequence[Token], frozenset[str]]:
    """The tokens after a macro's name and parameters, and the parameters' names."""
    if len(inner) > 2 and inner[2].text == "(" and inner[2].start == inner[1].end:
        close = match_bracket(inner, 2)
        if close is not None:
            names = frozenset(t.text for t in inner[3:close] if t.kind is TokenKind.IDENTIFIER)
            return inner[close + 1 :], names
    return inner[2:], frozenset()


def _main_edits(code: Sequence[Token]) -> list[Edit]:
    """The definition of main, which follows its return type and precedes its parameters."""
    return [
        Edit(token.start, token.end, USER_MAIN)
        for before, token, after in zip(code, code[1:], code[2:], strict=False)
        if token.text == "main" and after.text == "(" and before.text in ("int", "void", "auto")
    ]
