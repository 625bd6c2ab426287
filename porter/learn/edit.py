"""The files of a candidate as a reply of a model that changes those of its parent: SEARCH/REPLACE, or whole files."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from porter.agent.complaint import ReplyError
from porter.agent.question import Answer
from porter.agent.reply import read_reply
from porter.agent.splice import splice
from porter.evolve.candidate import File


@dataclass(frozen=True, slots=True)
class _Hunk:
    """The lines `before` of the old text that become the lines `after` of the new one; ends are excluded."""

    before: tuple[int, int]
    after: tuple[int, int]


def edit(old: Sequence[File], new: Sequence[File], idea: str = "") -> str:
    """Returns the reply that makes `new` of `old`, as `porter.agent.reply` reads it; empty where no reply does.

    The edits are as short as they can be found: a SEARCH has no more lines than it takes to stand there once.
    """
    head = f"IDEA: {' '.join(idea.split())}\n" if idea.strip() else ""
    for changes in (_swaps(old, new), _whole(old, new)):
        text = head + "".join(changes)
        if _makes(text, old, new):
            return text
    return ""


def _makes(text: str, old: Sequence[File], new: Sequence[File]) -> bool:
    try:
        return splice(old, read_reply(Answer(text)).changes) == tuple(new)
    except ReplyError:
        return False


def _swaps(old: Sequence[File], new: Sequence[File]) -> Iterator[str]:
    for before, after in zip(old, new, strict=False):
        if before.text != after.text:
            yield f"FILE: {before.name}\n"
            left, right = (file.text.removesuffix("\n").split("\n") for file in (before, after))
            for hunk in _hunks(left, right):
                parts = left[slice(*hunk.before)], right[slice(*hunk.after)]
                search, replace = ("".join(f"{line}\n" for line in part) for part in parts)
                yield f"<<<<<<< SEARCH\n{search}=======\n{replace}>>>>>>> REPLACE\n"


def _whole(old: Sequence[File], new: Sequence[File]) -> Iterator[str]:
    for before, after in zip(old, new, strict=False):
        if before.text != after.text:
            yield f"FILE: {before.name}\nEVOLVE-BLOCK-START\n{after.text.rstrip(chr(10))}\nEVOLVE-BLOCK-END\n"


def _hunks(old: Sequence[str], new: Sequence[str]) -> list[_Hunk]:
    """Returns the changes, each with as many equal lines around it as make it the only place of its kind."""
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    left = [_Hunk((a, b), (c, d)) for kind, a, b, c, d in matcher.get_opcodes() if kind != "equal"]
    found: list[_Hunk] = []
    while left:
        hunk = left.pop(0)
        while not _stands_once(old[slice(*hunk.before)], old):
            first = found[-1].before[1] if found else 0
            last = left[0].before[0] if left else len(old)
            wider = _wider(hunk, first, last)
            if wider is None and not left and not found:  # all of the text
                break
            if wider is None:  # it touches the next one: both are one
                wider = _joined(hunk, left.pop(0)) if left else _joined(found.pop(), hunk)
            hunk = wider
        found.append(hunk)
    return found


def _stands_once(lines: Sequence[str], text: Sequence[str]) -> bool:
    if not any(line.strip() for line in lines):
        return False
    places = range(len(text) - len(lines) + 1)
    stripped, wanted = [line.rstrip() for line in text], [line.rstrip() for line in lines]
    return sum(stripped[at : at + len(wanted)] == wanted for at in places) == 1


def _wider(hunk: _Hunk, first: int, last: int) -> _Hunk | None:
    """Returns `hunk` with the line before and the line behind it, as far as these are in `first` to `last`."""
    above, below = int(hunk.before[0] > first), int(hunk.before[1] < last)
    if not above and not below:
        return None
    (a, b), (c, d) = hunk.before, hunk.after
    return _Hunk((a - above, b + below), (c - above, d + below))


def _joined(one: _Hunk, other: _Hunk) -> _Hunk:
    return _Hunk((one.before[0], other.before[1]), (one.after[0], other.after[1]))
