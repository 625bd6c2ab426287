"""Gives a thread several elements where a kernel handles one: a block does the work of several, and loads first.

A thread that loads one element waits for it with nothing else on its way. Here elements at its own index are loaded for
all turns before the first is computed. That is only offered for kernels of one form: an index from block and
thread, then its bound, and whatever else follows of it; without barriers, exchanges between lanes, or a grid's size.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from porter.evolve.candidate import Value
from porter.evolve.proposing.edited import EditedKnob, edited_knob
from porter.source.edit import Edit
from porter.source.lexer import Token, TokenKind, match_bracket, significant, tokens
from porter.source.program import Function, Launch, Program
from porter.source.vocabulary import STATEMENT_ENDS
from porter_maca.schedules.reading import TOGETHER, WRITES, is_member, read_at

_TURNS = (2, 4, 8)
_TURN, _FEWER, _HELD = "turn_", "fewer_", "_held"
_NEVER = frozenset(("gridDim", "asm", "goto", "static", "this_thread_block", "cooperative_groups"))


@dataclass(frozen=True)
class _Form:
    """A kernel of the form: its index and the bound of that, the words of its declaration and of what follows.

    `read` are the element types of the tensors that are only read, and only at the index, by their names.
    """

    kernel: Function
    index: str
    bound: str
    declared: Sequence[Token]
    rest: Sequence[Token]
    read: dict[str, str]

    @property
    def names(self) -> frozenset[str]:
        """The names that the kernel gets."""
        return frozenset((_TURN, f"{_FEWER}{self.kernel.name}", *(name + _HELD for name in self.read)))


def turns(program: Program) -> Iterator[EditedKnob]:
    """Yields a knob for each kernel of the form, launched from one text."""
    words = significant(tokens(program.source.text))
    known = {word.text for word in words}
    if any(_is_together(function.body_text) or "blockIdx" in function.body_text for function in _devices(program)):
        return
    for kernel in program.kernels:
        launches = program.launches_of(kernel)
        named = sum(word.text == kernel.name for word in words)
        form = _form(program, words, kernel) if launches and named == 1 + len(launches) else None
        if form is not None and form.read and known.isdisjoint(form.names):
            yield edited_knob(f"{kernel.qualified}.turns", _TURNS, partial(_turned, program, form, launches))


def _devices(program: Program) -> Sequence[Function]:
    return program.device_functions


def _is_together(text: str) -> bool:
    return any(word.text.startswith(TOGETHER) or word.text in _NEVER for word in significant(tokens(text)))


def _form(program: Program, words: Sequence[Token], kernel: Function) -> _Form | None:
    """Returns the kernel's form; None where it has another."""
    body = [word for word in words if kernel.body.start < word.start < kernel.body.end - 1]
    blocks = [i for i, word in enumerate(body) if word.text == "blockIdx"]
    if len(blocks) != 1 or _is_together(kernel.body_text) or any(w.kind is TokenKind.DIRECTIVE for w in body):
        return None
    begin, end = _statement(body, blocks[0])
    declared, rest = body[begin:end], body[end:]
    at = next((i for i, word in enumerate(declared) if word.text == "="), 0)
    x = [word.text for word in body[blocks[0] : blocks[0] + 3]] == ["blockIdx", ".", "x"]
    if not x or at < 2 or any(word.text in ("return", "{", "}") for word in body[:begin]):
        return None
    index = declared[at - 1].text
    bound = _bound(program.source.text, rest, index)
    return (
        _Form(kernel, index, bound, declared, rest, dict(read_at(kernel, body[:begin], body, index))) if bound else None
    )


def _statement(body: Sequence[Token], inside: int) -> tuple[int, int]:
    """Returns where the statement with the word `inside` begins and ends, behind its semicolon."""
    begin = next((i + 1 for i in range(inside, -1, -1) if body[i].text in STATEMENT_ENDS), 0)
    return begin, next((i + 1 for i in range(inside, len(body)) if body[i].text == ";"), len(body))


def _bound(text: str, rest: Sequence[Token], index: str) -> str:
    """Returns what the index stays below: by a return for all others, or as all that follows is of those below."""
    if [word.text for word in rest[:2]] != ["if", "("] or (close := match_bracket(rest, 1)) is None:
        return ""
    condition = rest[2:close]
    if len(condition) < 3 or condition[0].text != index or _unclear(condition[2:], index):
        return ""
    bound, after = text[condition[2].start : condition[-1].end], [word.text for word in rest[close + 1 :]]
    if condition[1].text == ">=":
        returns = after[:2] == ["return", ";"] or after[:4] == ["{", "return", ";", "}"]
        return bound if returns else ""
    return bound if condition[1].text == "<" and _is_all(rest, close + 1) else ""


def _unclear(condition: Sequence[Token], index: str) -> bool:
    """Returns whether a bound does more than bound, or is of the index itself."""
    return any(word.text in WRITES or word.text in ("&&", "||", "?", index) for word in condition)


def _is_all(rest: Sequence[Token], first: int) -> bool:
    """Returns whether one statement, or one in braces, is all from the word `first` on."""
    if first < len(rest) and rest[first].text == "{":
        return match_bracket(rest, first) == len(rest) - 1
    return [word.text for word in rest[first:]].count(";") == 1 and rest[-1].text == ";"


def _turned(program: Program, form: _Form, launches: Sequence[Launch], value: Value) -> Iterator[Edit]:
    """Yields the body in a loop over the turns, behind one that loads; grids with as many blocks fewer."""
    text, count = program.source.text, f"{value}"
    block = next(i for i, word in enumerate(form.declared) if word.text == "blockIdx")
    start, end = form.declared[block].start, form.declared[block + 2].end
    own = f"(blockIdx.x * {count}u + {_TURN})"
    first, last = form.declared[0].start, form.declared[-1].end
    index = text[first:start] + own + text[end:last]
    over = f"#pragma unroll\n    for (unsigned {_TURN} = 0; {_TURN} < {count}u; ++{_TURN}) {{\n        "
    held = "".join(f"{type_} {name}{_HELD}[{count}];\n    " for name, type_ in form.read.items())
    loads = " ".join(f"{name}{_HELD}[{_TURN}] = {name}[{form.index}];" for name in form.read)
    loading = f"{over}{index}\n        if ({form.index} < {form.bound}) {{ {loads} }}\n    }}\n"
    returns = any(word.text == "return" for word in form.rest)
    yield Edit(first, first, f"{held.rstrip(' ')}{loading}{over}")
    yield Edit(start, end, own)
    yield Edit(last, last, " [&]() {" if returns else "")
    yield from _held(form)
    close = form.kernel.body.end - 1
    yield Edit(close, close, f"{' }();' if returns else ''} }}\n")
    yield from _fewer(program, form.kernel, launches, count)


def _held(form: _Form) -> Iterator[Edit]:
    """Yields what was loaded, where it was loaded before."""
    for i, word in enumerate(form.rest):
        if word.text in form.read and not is_member(form.rest, i):
            yield Edit(word.start, form.rest[i + 3].end, f"{word.text}{_HELD}[{_TURN}]")


def _fewer(program: Program, kernel: Function, launches: Sequence[Launch], count: str) -> Iterator[Edit]:
    text, name = program.source.text, f"{_FEWER}{kernel.name}"
    includes = [t for t in tokens(text) if t.kind is TokenKind.DIRECTIVE and t.text.lstrip("# ").startswith("include")]
    at = max((include.end for include in includes if include.end <= kernel.span.start), default=0)
    body = f"grid.x = (grid.x + {count} - 1) / {count}; return grid;"
    yield Edit(at, at, f"\nstatic inline dim3 {name}(dim3 grid) {{ {body} }}\n")
    for launch in launches:
        span = launch.grid.span
        yield Edit(span.start, span.end, f"{name}({text[span.start : span.end]})")
