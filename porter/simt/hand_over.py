"""Kernels as a planning executable has them: in the place of its body, each hands its arguments to the recorder.

So the process that runs host code holds no code of kernels, and knows which instance was launched, with which bytes for
each parameter: the compiler chose and converted them. Works on tokens, as `translate` does, so that kernels in macros
are found, too; every line and every directive stays where it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from porter.source.directives import directives, macros
from porter.source.edit import Edit, apply_edits
from porter.source.lexer import Token, TokenKind, inside_directive, match_bracket, significant, split_arguments, tokens
from porter.source_text import Source

_GLOBAL = "__global__"
_HANDED = "::porter::simt::handed_over({}){}, "
# Words with brackets behind them that are no parameters.
_ATTRIBUTES = frozenset(
    ("__launch_bounds__", "__attribute__", "noexcept", "__cluster_dims__", "__maxnreg__", "alignas")
)
_QUALIFIERS = frozenset(("const", "volatile", "__restrict__", "__restrict", "restrict", "__grid_constant__", "struct",
                         "typename", "unsigned", "signed", "enum", "class"))  # fmt: skip
_BUILT_IN = frozenset(("int", "float", "double", "bool", "char", "short", "long", "void", "auto", "wchar_t"))


def without_bodies(files: Sequence[Source]) -> tuple[Source, ...]:
    """`files` with kernels that hand over their arguments. A macro of one may begin the kernels of another."""
    words = _kernel_words(files)
    return tuple(Source(f.path, apply_edits(f.text, _edits(f.text, words)), f.first_line) for f in files)


def _kernel_words(files: Iterable[Source]) -> frozenset[str]:
    """Returns what a kernel begins with: `__global__`, and macros that stand for it and have no body themselves."""
    found = {m.name: m.body for file in files for m in macros(file, directives(file.text))}
    words = {_GLOBAL}
    while more := {n for n, body in found.items() if "{" not in body and words & set(_words(body))} - words:
        words |= more
    return frozenset(words)


def _words(text: str) -> Iterator[str]:
    return (t.text for t in tokens(text) if t.kind is TokenKind.IDENTIFIER)


def _edits(text: str, words: frozenset[str]) -> list[Edit]:
    stream = tokens(text)
    edits = _of_stretch(text, significant(stream), words)
    for directive in (t for t in stream if t.kind is TokenKind.DIRECTIVE):
        inner = significant(inside_directive(directive, text))
        if len(inner) > 1 and inner[0].text == "define" and inner[1].text not in words:
            edits += _of_stretch(text, inner[2:], words)
    return edits


def _of_stretch(text: str, stream: Sequence[Token], words: frozenset[str]) -> list[Edit]:
    code = [t for t in stream if t.kind is not TokenKind.DIRECTIVE]
    edits: list[Edit] = []
    index = 0
    while index < len(code):
        found = _definition(code, index) if code[index].text in words else None
        if found is None:
            index += 1
            continue
        opening, body, end = found
        edits += _of_kernel(text, code, opening, body, end)
        index = end
    return edits


def _definition(code: Sequence[Token], start: int) -> tuple[int, int, int] | None:
    """Returns where the parameters of the kernel that begins at `start` open, and its body opens and closes; None
    for none.
    """
    parameters, index = None, start + 1
    while index < len(code):
        text = code[index].text
        if text == "{":
            end = match_bracket(code, index)
            return (parameters, index, end) if parameters is not None and end is not None else None
        if text in (";", "}", "="):
            return None
        if text in ("(", "["):
            if text == "(" and code[index - 1].text not in _ATTRIBUTES:
                parameters = index
            close = match_bracket(code, index)
            if close is None:
                return None
            index = close
        index += 1
    return None


def _of_kernel(text: str, code: Sequence[Token], opening: int, body: int, end: int) -> Iterator[Edit]:
    handed = ""
    for number, parameter in enumerate(split_arguments(code, opening)):
        name, is_pack = _name(parameter)
        if [t.text for t in parameter] in ([], ["void"]):
            continue
        if not name:
            name = f"porter_unnamed_{number}"
            yield Edit(parameter[-1].end, parameter[-1].end, f" {name}")
        handed += _HANDED.format(name, "..." if is_pack else "")
    start, stop = code[body].end, code[end].start
    yield Edit(start, stop, f" PORTER_HAND_OVER({handed}) {_layout(text[start:stop])}")


def _layout(body: str) -> str:
    """The lines and directives of `body`; inside of a macro its lines go on."""
    kept = list[str]()
    for token in tokens(body):
        if token.kind is TokenKind.DIRECTIVE:
            kept.append(token.text)
            continue
        lines = (line for line in token.text.splitlines(keepends=True) if line.endswith("\n"))
        kept.extend("\\\n" if line.rstrip().endswith("\\") else "\n" for line in lines)
    return "".join(kept)


def _name(parameter: Sequence[Token]) -> tuple[str, bool]:
    """The name of a parameter, empty where it has none, and whether it stands for several."""
    declared = list(_before_default(parameter))
    is_pack = any(t.text == "..." for t in declared)
    for index, token in enumerate(declared[:-1]):
        if token.text == "(" and declared[index + 1].text in ("*", "&") and index + 2 < len(declared):
            return declared[index + 2].text, is_pack  # a pointer to a function, or a reference to an array
    identifiers = [i for i, t in enumerate(declared) if t.kind is TokenKind.IDENTIFIER]
    if not identifiers:
        return "", is_pack
    last = identifiers[-1]
    rest = declared[:last]
    if declared[last].text in _QUALIFIERS | _BUILT_IN or (rest and rest[-1].text in ("::", "<", ",")):
        return "", is_pack
    is_typed = any(t.text not in _QUALIFIERS - {"unsigned", "signed"} for t in rest)
    return (declared[last].text if is_typed and last == len(declared) - 1 else ""), is_pack


def _before_default(parameter: Sequence[Token]) -> Iterator[Token]:
    depth = 0
    for token in parameter:
        depth += (token.text in "([{<") - (token.text in ")]}>")
        if depth == 0 and token.text == "=":
            return
        if token.text == "[":
            return  # an array is a pointer
        yield token
