"""Takes several turns of a loop at a time: loads for all of them before the first is computed.

Only for innermost loops that go in steps up to a bound, as threads share out elements, and only for tensors that they
read by the loop's index alone and that nobody writes. The turns themselves keep their order, so that a sum stays the
sum it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from porter.evolve.candidate import Value
from porter.evolve.proposing.edited import EditedKnob, edited_knob
from porter.source.edit import Edit
from porter.source.lexer import Token, match_bracket, significant, tokens
from porter.source.program import Function, Program
from porter_maca.schedules.reading import TOGETHER, WRITES, is_member, read_at

_TURNS = (2, 4, 8)
_FIRST, _TURN, _AT, _HELD = "first_", "turn_", "at_", "_held"
_NEVER = frozenset(("for", "while", "do", "break", "goto", "asm", "auto"))


@dataclass(frozen=True)
class _Loop:
    """`for (TYPE index = begin; index < bound; index += step)`, from `start` to `head`, whose body ends at `end`.

    `read` are the element types of tensors that are loaded for all turns, by name.
    """

    start: int
    head: int
    end: int
    type: str
    index: str
    begin: str
    bound: str
    step: str
    body: Sequence[Token]
    read: Mapping[str, str]


def batches(program: Program) -> Iterator[EditedKnob]:
    """Yields a knob for each kernel that has such loops in its own text."""
    words = significant(tokens(program.source.text))
    known = {word.text for word in words}
    for kernel in program.kernels:
        found = list(_loops(program.source.text, words, kernel))
        names = {_FIRST, _TURN, _AT, *(name + _HELD for loop in found for name in loop.read)}
        if found and known.isdisjoint(names):
            yield edited_knob(f"{kernel.qualified}.batch", _TURNS, partial(_batched, found))


def _loops(text: str, words: Sequence[Token], kernel: Function) -> Iterator[_Loop]:
    for i, word in enumerate(words):
        if word.text == "for" and kernel.body.start <= word.start < kernel.body.end:
            loop = _loop(text, words, i, kernel)
            if loop is not None and loop.read:
                yield loop


def _loop(text: str, words: Sequence[Token], at: int, kernel: Function) -> _Loop | None:
    close = match_bracket(words, at + 1) if words[at + 1].text == "(" else None
    end = None if close is None else _end(words, close + 1)
    if close is None or end is None:
        return None
    parts, body = _parts(words[at + 2 : close]), words[close + 1 : end]
    index = _index(parts)
    if not index or _is_other((*parts[0], *body), index):
        return None
    equal = [word.text for word in parts[0]].index("=")
    before = [word for word in words[:at] if word.start >= kernel.body.start]
    return _Loop(
        start=words[at].start,
        head=words[close].end,
        end=body[-1].end,
        type=_said(text, parts[0][: equal - 1]),
        index=index,
        begin=_said(text, parts[0][equal + 1 :]),
        bound=_said(text, parts[1][2:]),
        step=_said(text, parts[2][2:]),
        body=body,
        read=dict(read_at(kernel, before, body, index)),
    )


def _index(parts: Sequence[Sequence[Token]]) -> str:
    """Returns the counter of `TYPE index = begin; index < bound; index += step`; empty for any other parts."""
    if len(parts) != 3 or any(len(part) < 3 for part in parts):
        return ""
    first = [word.text for word in parts[0]]
    equal = first.index("=") if "=" in first else 0
    index = first[equal - 1]
    heads = [[word.text for word in part[:2]] for part in parts[1:]]
    is_form = 2 <= equal < len(first) - 1 and heads == [[index, "<"], [index, "+="]]
    return index if is_form and _is_clear((*parts[1][2:], *parts[2][2:])) else ""


def _parts(words: Sequence[Token]) -> list[Sequence[Token]]:
    """Returns what a loop's head says, between its semicolons."""
    ends = [i for i, word in enumerate(words) if word.text == ";"]
    return [words[a:b] for a, b in zip([0, *(e + 1 for e in ends)], [*ends, len(words)], strict=True)]


def _end(words: Sequence[Token], first: int) -> int | None:
    """Returns the place behind the statement that begins with the word `first`."""
    if words[first].text == "{":
        close = match_bracket(words, first)
        return None if close is None else close + 1
    return next((i + 1 for i in range(first, len(words)) if words[i].text == ";"), None)


def _is_clear(words: Sequence[Token]) -> bool:
    """Returns whether they are simple enough to be repeated: they only say how far the loop goes."""
    return not any(word.text in WRITES or word.text in ("&&", "||", ",", "?") for word in words)


def _is_other(words: Sequence[Token], index: str) -> bool:
    """Returns whether the loop holds another, ends before its bound, meets other lanes, or turns its own index."""
    for i, word in enumerate(words):
        if word.text in _NEVER or word.text.startswith(TOGETHER):
            return True
        written = {w.text for w in (*words[max(0, i - 1) : i], *words[i + 1 : i + 2])} & WRITES
        if word.text == index and i > 0 and words[i - 1].text == "&":
            return True
        if word.text == index and written - {"="}:
            return True
    return sum(w.text == index and words[i + 1 : i + 2][0].text == "=" for i, w in enumerate(words[:-1])) != 1


def _said(text: str, words: Sequence[Token]) -> str:
    return text[words[0].start : words[-1].end]


def _batched(found: Sequence[_Loop], value: Value) -> Iterator[Edit]:
    for loop in found:
        yield Edit(loop.start, loop.head, _head(loop, f"{value}"))
        for i, word in enumerate(loop.body):
            if word.text in loop.read and not is_member(loop.body, i):
                yield Edit(word.start, loop.body[i + 3].end, f"{word.text}{_HELD}[{_TURN}]")
        yield Edit(loop.end, loop.end, " } } }")


def _head(loop: _Loop, count: str) -> str:
    """Returns the loop over batches, the loads of one, and the head of the loop over its turns, which counts in 64
    bits.
    """
    over = f"#pragma unroll\nfor (unsigned {_TURN} = 0; {_TURN} < {count}u; ++{_TURN}) {{\n"
    at = f"const long long {_AT} = {_FIRST} + {_TURN} * static_cast<long long>({loop.step});\n"
    held = "".join(f"{type_} {name}{_HELD}[{count}];\n" for name, type_ in loop.read.items())
    loads = " ".join(f"{name}{_HELD}[{_TURN}] = {name}[{_AT}];" for name in loop.read)
    return (
        f"for (long long {_FIRST} = {loop.begin}; {_FIRST} < {loop.bound}; {_FIRST} += {count}ll * ({loop.step})) {{\n"
        f"{held}{over}{at}if ({_AT} < {loop.bound}) {{ {loads} }}\n}}\n"
        f"{over}{at}if ({_AT} < {loop.bound}) {{ const {loop.type} {loop.index} = {_AT}; "
    )
