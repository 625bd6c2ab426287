"""Marks in CUDA and MACA text that tell which sides of its branches run (`include/porter/branches.h`).

    if (n > 4)            → if (::porter::simt::went<6>(static_cast<bool>(n > 4)))    6: it is true, 7: it is false
    ? :                     the same
    while (n > 4)         → PORTER_LOOP(10) while (::porter::simt::turned<10>(porter_turn_10, …))   13: once more
    for                     the same
    min(n, 64)            → ::porter::simt::picked<14>(min(n, 64), 64)                14: it is 64, 15: it is n
    a && b, a || b        → went<16>(static_cast<bool>(a)) && went<18>(…)             17: a is false, 19: b is false
    blockIdx.x            → ::porter::simt::placed<20>(blockIdx.x)                    21: it is above 0
    case 3:               → case 3: ::porter::simt::came<8>();                        so does `if constexpr (…) {`
    __global__ … {        → __global__ … { PORTER_INSTANCE(9)                         each instance of a template counts

Operands of `&&` and `||` are marked in conditions, in what is returned and in what a number begins with. Short-circuit
evaluation stays, and only the outcome by which an operand decides alone is a side: the other one is that of the whole.
An axis of `blockIdx` has one place in a function, that of its first mention.

A place whose condition cannot be told apart from a declaration stays as it is. What the compiler finds unreachable, as
behind a constant, has no mark in what it makes, and so no side.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from porter.branch_coverage import ABOVE_ZERO, LAUNCHED, RUN_TWICE, Side
from porter.simt.failing import fails_if, fails_in_case, statement_end
from porter.simt.limits import Limit, limits
from porter.simt.operands import operands
from porter.source.edit import Edit
from porter.source.lexer import Token, TokenKind, match_bracket
from porter.source_text import Source

INSTANCE = "instance"
_LONGEST = 60
# What a condition of `? :` begins behind.
_BEFORE_CONDITION = frozenset(
    ("(", "[", "{", ";", ",", "?", ":", "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=",
     "return", "else", "do", "throw", "case", "}")
)  # fmt: skip
_BEFORE_NAME = frozenset(("*", "&", "&&", ">"))
_NUMBERS = frozenset(("bool", "auto", "int", "unsigned"))
_SPECIFIERS = frozenset(("const", "constexpr", "static"))
_BLOCK, _AXES = "blockIdx", frozenset("xyz")
_OF_DEVICES = frozenset(("__global__", "__device__"))
_ENDS = frozenset((";", "{", "}", ")", ":", ""))  # of what a statement may follow


@dataclass(frozen=True, slots=True)
class _Around:
    """A stretch of the text between two offsets, with what is put in front of it and behind it.

    A condition of a loop needs what is `declared` at the offset of the loop's own word.
    """

    start: int
    end: int
    before: str
    behind: str = "))"
    loop: int | None = None
    declared: str = ""

    @property
    def offsets(self) -> tuple[int, ...]:
        """Returns where text is inserted."""
        return self.start, self.end, *(() if self.loop is None else (self.loop,))


class BranchMarks:
    """The marks of the files of one executable: `sides` by their numbers."""

    def __init__(self) -> None:
        self.sides: list[Side] = []

    def edits(self, source: Source, code: Sequence[Token], others: Iterable[Edit]) -> list[Edit]:
        """The edits that mark a stretch of the tokens of `source`, but for what one of the `others` replaces."""
        replaced = [edit for edit in others if edit.start < edit.end]
        found = _Finder(source, code, self)
        every = (*found.conditions(), *found.values(), *found.limits(), *found.blocks())
        around = [a for a in every if not any(_replaced(at, replaced) for at in a.offsets)]
        behind = [(at, text) for at, text in found.places() if not _replaced(at, replaced)]
        behind += [(a.loop, a.declared) for a in around if a.loop is not None]
        return [Edit(at, at, text) for at, text in _insertions(around, behind).items()]

    def add(self, side: Side) -> int:
        """The number of a side, a new one."""
        self.sides.append(side)
        return len(self.sides) - 1


def _replaced(at: int, edits: Sequence[Edit]) -> bool:
    return any(edit.start < at < edit.end for edit in edits)


def _insertions(around: Sequence[_Around], behind: Sequence[tuple[int, str]]) -> dict[int, str]:
    """Returns what is inserted at each offset: statements, then what opens, the widest first."""
    texts: dict[int, str] = {}
    for mark in sorted(around, key=lambda a: (a.end, -a.start)):
        texts[mark.end] = texts.get(mark.end, "") + mark.behind
    for at, text in behind:
        texts[at] = texts.get(at, "") + text
    for mark in sorted(around, key=lambda a: (a.start, -a.end)):
        texts[mark.start] = texts.get(mark.start, "") + mark.before
    return texts


@dataclass(frozen=True, slots=True)
class _Finder:
    source: Source
    code: Sequence[Token]
    marks: BranchMarks

    def conditions(self) -> Iterator[_Around]:
        """Yields the marks of `if`, `while`, `for` and `? :`."""
        for i, token in enumerate(self.code):
            if token.text == "?" and token.kind is TokenKind.PUNCTUATION:
                yield from self._condition(self._chooser(i), i, (False, False))
            elif token.text in ("if", "while", "for") and (opening := self._opening(i + 1)):
                close = match_bracket(self.code, opening)
                if close is not None:
                    first, last = self._tested(token.text, opening, close)
                    fails = fails_if(self.code, first, last, close + 1) if token.text == "if" else (False, False)
                    loop = i if self._is_loop(i, close) else None
                    yield from self._condition(first, last, fails, loop)

    def values(self) -> Iterator[_Around]:
        """Operands of what is returned, and of what a number begins with: `bool inside = x >= 0 && x < n;`."""
        for i, token in enumerate(self.code):
            if token.text == "return" or (token.text == "=" and self._is_declared(i)):
                yield from self._operands(i + 1, statement_end(self.code, i + 1))

    def limits(self) -> Iterator[_Around]:
        """Yields the marks of what `min` and `max` pick from."""
        for limit in limits(self.code):
            yield self._limit(limit)

    def blocks(self) -> Iterator[_Around]:
        """Yields the marks of `blockIdx.x`, `.y` and `.z`, of which a function has one number each."""
        numbers: dict[str, int] = {}
        for i, token in enumerate(self.code):
            if token.text in _OF_DEVICES:
                numbers.clear()
            axis = self._text(i + 2)
            if token.text == _BLOCK and self._text(i + 1) == "." and axis in _AXES:
                if axis not in numbers:
                    sides = (self._side(i, way, f"{_BLOCK}.{axis}", fails=False) for way in ("", ABOVE_ZERO))
                    numbers[axis], _ = map(self.marks.add, sides)
                before = f"::porter::simt::placed<{numbers[axis]}>("
                yield _Around(token.start, self.code[i + 2].end, before, ")")

    def places(self) -> Iterator[tuple[int, str]]:
        """Yields where a statement is inserted: behind labels, at the beginning of kernels and of what constants
        select.
        """
        for i, token in enumerate(self.code):
            if token.text == "switch":
                yield from self._cases(i)
            elif token.text == "__global__" and (body := self._body(i)) is not None:
                side = self._side(i, LAUNCHED, INSTANCE, fails=False)
                yield self.code[body].end, f" PORTER_INSTANCE({self.marks.add(side)}) "
            elif token.text == "if" and self._text(i + 1) == "constexpr":
                yield from self._constant(i)

    def _is_loop(self, at: int, close: int) -> bool:
        """Returns whether a loop begins at `at`: not the end of a `do`, nor where a pragma wants the word itself."""
        before = self.source.text[self.code[at - 1].end : self.code[at].start] if at else ""
        tail = self.code[at].text == "while" and self._text(close + 1) == ";"
        return self.code[at].text != "if" and not tail and "#" not in before

    def _limit(self, limit: Limit) -> _Around:
        first, last = self.code[limit.first], self.code[limit.last]
        text = _shortened(self.source.text[first.start : last.end])
        one = self.source.text[self.code[limit.one[0]].start : self.code[limit.one[1] - 1].end]
        other = self.source.text[self.code[limit.other[0]].start : self.code[limit.other[1] - 1].end]
        number, _ = (
            self.marks.add(self._side(limit.first, _shortened(way), text, fails=False)) for way in (one, other)
        )
        return _Around(first.start, last.end, f"::porter::simt::picked<{number}>(", f", {one})")

    def _is_declared(self, equals: int) -> bool:
        """Returns whether a statement declares a number and gives it what stands behind the `=`."""
        first = equals - 2
        while first > 0 and self.code[first - 1].text in _SPECIFIERS:
            first -= 1
        return first >= 0 and self.code[equals - 2].text in _NUMBERS and self._text(first - 1) in _ENDS

    def _opening(self, at: int) -> int:
        """`at` where a parenthesis opens; 0 where none does."""
        return at if self._text(at) == "(" else 0

    def _text(self, at: int) -> str:
        return self.code[at].text if 0 <= at < len(self.code) else ""

    def _tested(self, keyword: str, opening: int, close: int) -> tuple[int, int]:
        """The tokens of the condition: the middle of a `for`, what follows the last statement in others."""
        ends = [i for i in self._top_level(opening + 1, close) if self.code[i].text == ";"]
        if keyword == "for":
            return (ends[0] + 1, ends[1]) if len(ends) == 2 else (close, close)
        return (ends[-1] + 1 if ends else opening + 1), close

    def _top_level(self, first: int, last: int) -> Iterator[int]:
        depth = 0
        for i in range(first, last):
            text = self.code[i].text
            depth += (text in "([{") - (text in ")]}") if self.code[i].kind is TokenKind.PUNCTUATION else 0
            if depth == 0:
                yield i

    def _chooser(self, question: int) -> int:
        """Returns where the condition in front of a `?` begins."""
        i = question - 1
        while i >= 0 and self.code[i].text not in _BEFORE_CONDITION:
            i = self._matching(i) - 1 if self.code[i].text in (")", "]") else i - 1
        return i + 1

    def _matching(self, closing: int) -> int:
        depth = 0
        for i in range(closing, -1, -1):
            if self.code[i].kind is TokenKind.PUNCTUATION:
                depth += (self.code[i].text in ")]}") - (self.code[i].text in "([{")
            if depth == 0:
                return i
        return 0

    def _condition(self, first: int, last: int, fails: tuple[bool, bool], loop: int | None = None) -> Iterator[_Around]:
        words = self.code[first:last]
        if not words or _declares(words) or [w.text for w in words] in (["true"], ["false"], ["0"], ["1"]):
            return
        text = _shortened(self.source.text[words[0].start : words[-1].end])
        true, _ = (
            self.marks.add(self._side(first, way, text, fails=failing))
            for way, failing in zip(("true", "false"), fails, strict=True)
        )
        start, end = words[0].start, words[-1].end
        if loop is None:
            yield _Around(start, end, f"::porter::simt::went<{true}>(static_cast<bool>(")
        else:
            for way in ("", RUN_TWICE):
                self.marks.add(self._side(loop, way, text, fails=False))
            before = f"::porter::simt::turned<{true}>(porter_turn_{true}, static_cast<bool>("
            yield _Around(start, end, before, loop=self.code[loop].start, declared=f"PORTER_LOOP({true}) ")
        yield from self._operands(first, last, text)

    def _operands(self, first: int, last: int, condition: str = "") -> Iterator[_Around]:
        """Yields the marks of an expression, which is a `condition` or has no marks of its own."""
        found = list(operands(self.code, first, last))
        if found and not condition:
            condition = self._text_of(first, last)
            yield self._went(first, last, ("true", "false"), condition)
        for operand in found:
            ways = ("true", "") if operand.decides else ("", "false")
            yield self._went(operand.first, operand.last, ways, condition)

    def _went(self, first: int, last: int, ways: tuple[str, str], condition: str) -> _Around:
        """The mark of a part of a condition, of which each of the `ways` is one outcome."""
        text = self._text_of(first, last)
        sides = [replace(self._side(first, way, text, fails=False), part_of=condition) for way in ways]
        true, _ = map(self.marks.add, sides)
        before = f"::porter::simt::went<{true}>(static_cast<bool>("
        return _Around(self.code[first].start, self.code[last - 1].end, before)

    def _text_of(self, first: int, last: int) -> str:
        return _shortened(self.source.text[self.code[first].start : self.code[last - 1].end])

    def _side(self, at: int, way: str, text: str, *, fails: bool) -> Side:
        span = self.source.span(self.code[at].start, self.code[at].end)
        return Side(self.source.path.name, span.line, span.column, way, text, fails)

    def _cases(self, switch: int) -> Iterator[tuple[int, str]]:
        """The labels of a `switch`, without those of another one inside."""
        opening = self._opening(switch + 1)
        close = match_bracket(self.code, opening) if opening else None
        end = match_bracket(self.code, close + 1) if close is not None and self._text(close + 1) == "{" else None
        if close is None or end is None:
            return
        i = close + 2
        while i < end:
            if self.code[i].text == "switch":
                i = statement_end(self.code, i)
            elif self.code[i].text in ("case", "default"):
                colon = next((j for j in self._top_level(i + 1, end) if self.code[j].text == ":"), end)
                if colon == end:
                    return
                text = _shortened(self.source.text[self.code[i].start : self.code[colon - 1].end])
                side = self._side(switch, "taken", text, fails=fails_in_case(self.code, colon + 1, end))
                yield self.code[colon].end, f" ::porter::simt::came<{self.marks.add(side)}>();"
                i = colon
            i += 1

    def _constant(self, keyword: int) -> Iterator[tuple[int, str]]:
        """The two sides of `if constexpr` that are in braces."""
        opening = self._opening(keyword + 2)
        close = match_bracket(self.code, opening) if opening else None
        if close is None:
            return
        text = _shortened(self.source.text[self.code[opening].end : self.code[close].start])
        end = statement_end(self.code, close + 1)
        arms = [(close + 1, "true"), (end + 2, "false")] if self._text(end + 1) == "else" else [(close + 1, "true")]
        for at, way in arms:
            if self._text(at) == "{":
                yield (
                    self.code[at].end,
                    f" ::porter::simt::came<{self.marks.add(self._side(keyword, way, text, fails=False))}>();",
                )

    def _body(self, at: int) -> int | None:
        """The brace that opens the function whose specifiers include the word at `at`; None for a declaration."""
        i = at
        while i < len(self.code):
            text = self.code[i].text
            if text == "{":
                return i
            if text in (";", "}", "#", "##") or (text == "=" and self._text(i - 1) != "operator"):
                return None
            if text in ("(", "["):
                found = match_bracket(self.code, i)
                if found is None:
                    return None
                i = found
            i += 1
        return None


def _declares(words: Sequence[Token]) -> bool:
    """Returns whether a condition may be a declaration: `T* p = f()`."""
    for before, name, equals in zip(words, words[1:], words[2:], strict=False):
        if equals.text == "=" and name.kind is TokenKind.IDENTIFIER:
            return before.kind is TokenKind.IDENTIFIER or before.text in _BEFORE_NAME
    return False


def _shortened(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
