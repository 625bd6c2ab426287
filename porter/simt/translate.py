"""CUDA or MACA text → C++ text for the executor, by edits of tokens: every line stays where it was.

A token-level translation also reaches the bodies of macros, where no parser sees a launch. What it rewrites:
    k<T><<<grid, block, shared, stream>>>(args)   → a call of porter::simt::launcher
    __shared__ T x[N];                            → static storage that each block enters, and a reference to it
    extern __shared__ T x[];                      → a pointer to the launch's dynamic shared memory
    asm("…" : … );                                → the C++ function that does the same
    cudaLaunchKernel((void*)k, …)                 → the same without the cast, which loses what k takes
    #define UNROLL #pragma unroll                 → the same with _Pragma("unroll")
    UNROLL 4                                      → the same without what that pragma is told
    __device__ void __syncthreads(void);          → nothing: CUDA has its functions
    extern "C" static int f()                     → the same without `extern "C"`
    int main(…)                                   → a function the driver calls
Everything else of CUDA's language is macros, functions and types of the shim headers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from porter.simt.asm_edits import asm_edits
from porter.simt.branch_edits import BranchMarks
from porter.simt.launch_edits import launch_edits
from porter.simt.redeclared_edits import is_keyword_of_c, linkage_edits, prototype_edits
from porter.simt.shared_edits import SharedNames, shared_edits
from porter.source.edit import Edit, apply_edits
from porter.source.lexer import Token, TokenKind, inside_directive, match_bracket, significant, tokens
from porter.source.pragmas import pragma_argument_edits, pragma_edits
from porter.source_text import Source

USER_MAIN = "porter_user_main"

_LAUNCHING = re.compile(r"(?:cuda|mc|hc)Launch(?:Cooperative)?Kernel")
_FLOAT = re.compile(r"(?!0[xX])[\d.']+(?:[eE][+-]?\d+)?[fF]")


def translate(source: Source, *, double_precision: bool = False, marks: BranchMarks | None = None) -> str:
    """The C++ text of `source`, beginning with a `#line` so that compilers and faults name the user's lines.

    `double_precision` also makes literals of float ones of double; with `marks` the sides of branches are marked.
    """
    text = apply_edits(source.text, _Translation(source, marks).edits())
    path = str(source.path).replace("\\", "\\\\").replace('"', '\\"')
    return f'#line {source.first_line} "{path}"\n{widen_literals(text) if double_precision else text}'


def widen_literals(text: str) -> str:
    """`text` with `1.5f` as `1.5`, in macros, too."""
    stream = tokens(text)
    inner = [t for d in stream if d.kind is TokenKind.DIRECTIVE for t in inside_directive(d, text)]
    floats = (t for t in (*stream, *inner) if t.kind is TokenKind.NUMBER and _FLOAT.fullmatch(t.text))
    return apply_edits(text, (Edit(t.end - 1, t.end, "") for t in floats))


@dataclass
class _Translation:
    source: Source
    marks: BranchMarks | None = None
    names: SharedNames = field(default_factory=SharedNames)

    @property
    def text(self) -> str:
        return self.source.text

    def edits(self) -> list[Edit]:
        """All edits of the text, those inside macro bodies included."""
        stream = tokens(self.text)
        edits = [edit for t in stream if t.kind is TokenKind.DIRECTIVE for edit in self._directive(t)]
        return [*edits, *self._stretch(significant(stream), macro=None)]

    def _directive(self, directive: Token) -> list[Edit]:
        inner = significant(inside_directive(directive, self.text))
        if len(inner) < 2 or inner[0].text != "define":
            return []
        if is_keyword_of_c(inner):
            return [Edit(directive.start, directive.end, "")]
        body, parameters = _macro_body(inner)
        if body and self.names.is_spelling(body):
            self.names.spellings.add(inner[1].text)
            return []
        return [*pragma_edits(directive, inner), *self._stretch(body, macro=parameters)]

    def _stretch(self, stream: Sequence[Token], macro: frozenset[str] | None) -> list[Edit]:
        code = [t for t in stream if t.kind is not TokenKind.DIRECTIVE]
        edits = [
            *asm_edits(self.text, code),
            *launch_edits(self.text, code, macro),
            *shared_edits(self.text, code, self.names, macro),
            *_untyped_edits(code),
            *_main_edits(code),
            *prototype_edits(code),
            *linkage_edits(code),
            *pragma_argument_edits(code),
        ]
        return [*edits, *self.marks.edits(self.source, code, edits)] if self.marks else edits


def _macro_body(inner: Sequence[Token]) -> tuple[Sequence[Token], frozenset[str]]:
    """The tokens after a macro's name and parameters, and the parameters' names."""
    if len(inner) > 2 and inner[2].text == "(" and inner[2].start == inner[1].end:
        close = match_bracket(inner, 2)
        if close is not None:
            names = frozenset(t.text for t in inner[3:close] if t.kind is TokenKind.IDENTIFIER)
            return inner[close + 1 :], names
    return inner[2:], frozenset()


def _untyped_edits(code: Sequence[Token]) -> list[Edit]:
    """The casts to `void*` of kernels that are launched by a call."""
    edits: list[Edit] = []
    for index, token in enumerate(code[:-3]):
        if not _LAUNCHING.fullmatch(token.text) or code[index + 1].text != "(":
            continue
        first, second = index + 2, index + 3
        named = code[first].text in ("reinterpret_cast", "static_cast") and code[second].text == "<"
        begin = second if named else first
        end = next((i for i in range(begin + 1, len(code)) if code[i].text not in ("const", "void", "*")), begin)
        if code[begin].text in ("(", "<") and code[end].text in (")", ">") and code[end - 1].text == "*":
            edits.append(Edit(code[first].start, code[end].end, ""))
    return edits


def _main_edits(code: Sequence[Token]) -> list[Edit]:
    """The definition of main, which follows its return type and precedes its parameters.

    Any other function must return its result itself: what main does without a `return` is written at its end.
    """
    edits: list[Edit] = []
    for index, token in enumerate(code[1:-1], 1):
        before = code[index - 1].text
        if token.text != "main" or code[index + 1].text != "(" or not before.isidentifier() or before == "return":
            continue
        edits.append(Edit(token.start, token.end, USER_MAIN))
        end = None if before == "void" else _body_end(code, index + 1)
        if end is not None:
            edits.append(Edit(code[end].start, code[end].start, "return 0; "))
    return edits


def _body_end(code: Sequence[Token], parameters: int) -> int | None:
    """Index of the brace that ends the function whose parameters open at `parameters`; None for a declaration."""
    close = match_bracket(code, parameters)
    opening = next((i for i in range(close, len(code)) if code[i].text in ("{", ";")), None) if close else None
    return match_bracket(code, opening) if opening is not None and code[opening].text == "{" else None
