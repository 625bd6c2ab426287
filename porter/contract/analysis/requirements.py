"""Finds what a function demands before it goes on: its checks, and the opposite of what it refuses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from porter.contract.analysis.body import Body, clauses, negated, parsed, statement_end, written
from porter.contract.model.syntax import Binary, Node, Number, Unary
from porter.source.lexer import Token, TokenKind, match_bracket, split_arguments

# What `TORCH_CHECK_EQ(a, b)` and its like, which PyTorch also calls `CHECK_EQ`, compare with.
_COMPARING = {
    f"{check}_{ending}": operator
    for check in ("TORCH_CHECK", "CHECK")
    for ending, operator in {"EQ": "==", "NE": "!=", "LT": "<", "LE": "<=", "GT": ">", "GE": ">="}.items()
}
_CHECKS = frozenset((
    *_COMPARING, *(f"TORCH_CHECK{kind}" for kind in ("", "_INDEX", "_LINALG", "_NOT_IMPLEMENTED", "_TYPE", "_VALUE")),
    "STD_TORCH_CHECK", "STD_TORCH_CHECK_NOT_IMPLEMENTED", "TORCH_INTERNAL_ASSERT", "TORCH_INTERNAL_ASSERT_DEBUG_ONLY",
    "AT_ASSERTM", "AT_ASSERT", "AT_CHECK", "assert",
))  # fmt: skip
_REFUSALS = frozenset(("throw", "exit", "abort", "AT_ERROR"))
# Nothing but to give this back; what a name of success gives back is no refusal, nor is 0 or nothing, and what stands
# before it may be another way to do the work: `{ few(x, y, n); return false; }`.
_FAILURE = re.compile(
    r"\{?return ?\(?(?:false|nullptr|NULL|-\d+|(?:\w+::)*\w*(?i:error|invalid|fail|bad_|unsupported)\w*)\)?;?\}?"
)
_COMPLAINTS = frozenset(("printf", "fprintf", "cerr", "cout", "puts", "perror"))


def requirements(body: Body) -> tuple[Node, ...]:
    """Returns the conditions under which nothing written in `body` refuses to go on."""
    demands = (*_checked(body.words), *_unrefused(body.words), *_chosen(body.words))
    return tuple(_multiple(clause) for demand in demands for clause in clauses(demand))


def _multiple(clause: Node) -> Node:
    """Returns `!(n & 3)`, `(n & 3) == 0` and `!(n % 4)` as `n % 4 == 0`."""
    if isinstance(clause, Unary) and clause.operator == "!" and isinstance(clause.operand, Binary):
        return _multiple(Binary("==", clause.operand, Number(0))) if clause.operand.operator in "&%" else clause
    match clause:
        case Binary("==", Binary("&", size, Number(int() as mask)), Number(0)) if mask & (mask + 1) == 0:
            return Binary("==", Binary("%", size, Number(mask + 1)), Number(0))
        case _:
            return clause


def _checked(words: Sequence[Token]) -> Iterator[Node]:
    """Yields what `CHECK(condition, ...)` demands."""
    for i, word in enumerate(words[:-1]):
        if word.text not in _CHECKS or words[i + 1].text != "(" or match_bracket(words, i + 1) is None:
            continue
        first, second = (*(parsed(_valued(a)) for a in split_arguments(words, i + 1)), None, None)[:2]
        if (operator := _COMPARING.get(word.text)) is None:
            yield from (first,) if first is not None else ()
        elif first is not None and second is not None:
            yield Binary(operator, first, second)


def _valued(words: Sequence[Token]) -> Sequence[Token]:
    """Returns the last operand of commas in brackets, which is the value of `("a message", condition)`."""
    if words and words[0].text == "(" and match_bracket(words, 0) == len(words) - 1:
        return _valued(split_arguments(words, 0)[-1]) if len(words) > 2 else words
    return words


def _unrefused(words: Sequence[Token]) -> Iterator[Node]:
    """Yields the opposite of `if (condition) throw ...`."""
    for i, word in enumerate(words):
        close = _head(words, i) if word.text == "if" else None
        if close is not None and _refuses(words, close + 1):
            condition = parsed(words[i + 2 : close])
            if condition is not None:
                yield negated(condition)


def _chosen(words: Sequence[Token]) -> Iterator[Node]:
    """Yields one case of a `switch` that refuses all others; for several on the same value, a case of any."""
    choices: dict[Node, list[Binary]] = {}
    for i, word in enumerate(words):
        close = _head(words, i) if word.text == "switch" else None
        selector = parsed(words[i + 2 : close]) if close is not None else None
        if close is None or selector is None or close + 1 >= len(words) or words[close + 1].text != "{":
            continue
        end = match_bracket(words, close + 1)
        cases = _cases(words[close + 2 : end]) if end is not None else ()
        choices.setdefault(selector, []).extend(Binary("==", selector, case) for case in cases)
    for equalities in choices.values():
        if equalities:
            yield _any(equalities)


def _any(conditions: Sequence[Binary]) -> Binary:
    whole = conditions[0]
    for condition in conditions[1:]:
        whole = Binary("||", whole, condition)
    return whole


def _cases(words: Sequence[Token]) -> tuple[Node, ...]:
    """Returns the values of the cases, where `default` refuses; none of a `switch` with another inside."""
    labels = [parsed(words[i + 1 : _colon(words, i)]) for i, word in enumerate(words) if word.text == "case"]
    defaults = [_colon(words, i) for i, word in enumerate(words) if word.text == "default"]
    if len(defaults) != 1 or not _refuses(words, defaults[0] + 1) or any(w.text == "switch" for w in words):
        return ()
    return tuple(label for label in labels if label is not None)


def _colon(words: Sequence[Token], label: int) -> int:
    return next((i for i in range(label, len(words)) if words[i].text == ":"), len(words))


def _head(words: Sequence[Token], i: int) -> int | None:
    """Returns the bracket that closes the head of the statement at `i`."""
    return match_bracket(words, i + 1) if i + 1 < len(words) and words[i + 1].text == "(" else None


def _refuses(words: Sequence[Token], start: int) -> bool:
    """Returns whether the statement at `start` throws, ends the program, reports and leaves, or returns failure."""
    end = start + 1
    if start < len(words) and words[start].text == "{":
        end = match_bracket(words, start) or len(words)
    else:
        end = statement_end(words, start)
    stretch = words[start:end]
    if any(w.text == "{" or w.kind is TokenKind.LAUNCH_OPEN for w in stretch[1:]):
        return False  # it does more than refuse
    said = {w.text for w in stretch}
    if said & _REFUSALS or ("return" in said and said & _COMPLAINTS) or _FAILURE.fullmatch(written(stretch)):
        return True
    return any(w.text in _CHECKS and stretch[i + 2].text == "false" for i, w in enumerate(stretch[:-2]))
