"""A reply, read into blocks and edits. The text is a stranger's: it is cut into lines here, and nothing else.

FILE: name                          which file what follows belongs to; may be left out where there is only one
EVOLVE-BLOCK-START ... -END         the new text of what may evolve, or of the whole file, in any kind of comment
<<<<<<< SEARCH ======= >>>>>>> REPLACE
```                                 a fence alone is a whole file; around or inside a block it is dropped
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from porter.agent.complaint import CutOffError, MarkerError, NoCodeError
from porter.agent.question import Answer, Ending, encodable

_COMMENT = r"\s*(?:#|//|/\*|<!--)?\s*{}(?:\s+[\w.-]+)?\s*(?:\*/|-->)?\s*"  # which may name its block
START, END = (re.compile(_COMMENT.format(f"EVOLVE-BLOCK-{word}")) for word in ("START", "END"))
_FILE = re.compile(r"[\s#*/]*FILE:\s*[`*]*([^\s`*]+)[`*]*\s*")
_FENCE = re.compile(r"\s*(`{3,})[^`]*")
_SEARCH, _DIVIDER, _REPLACE = "<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE"
_THOUGHT = "</think>"
_IDEA = re.compile(r"[\s#*]*IDEA:\**\s*(\S.*)")


@dataclass(frozen=True, slots=True)
class Block:
    """New text for what may evolve of `file` (empty: the only one); `whole` for all of it, markers or not."""

    file: str
    lines: tuple[str, ...]
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Swap:
    """`replace` for `search` in `file`, by whole lines."""

    file: str
    search: tuple[str, ...]
    replace: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reply:
    """What a reply asks for; `idea` is what it says of it, one line."""

    changes: tuple[Block | Swap, ...]
    idea: str


def read_reply(answer: Answer) -> Reply:
    """The changes that `answer` asks for, at least one. Raises a `ReplyError` for anything else."""
    if answer.ending is Ending.CUT:
        raise CutOffError("The reply reached the limit of tokens before its end. Be shorter: use SEARCH/REPLACE edits.")
    text = encodable(answer.text).replace("\r\n", "\n")
    said = text.split(_THOUGHT, 1)[-1]
    if said.lstrip().startswith("<think>"):
        raise CutOffError("The reply ends within its thoughts.")
    lines = said.split("\n")
    changes = tuple(_marked(lines)) or tuple(_fenced(lines))
    if not changes:
        raise NoCodeError("The reply holds no EVOLVE-BLOCK, no SEARCH/REPLACE edit and no fenced code.")
    return Reply(changes, _idea(lines))


def _idea(lines: Sequence[str]) -> str:
    """Returns what the reply says its idea is: 160 printable characters at most."""
    found = next((match[1] for line in lines if (match := _IDEA.fullmatch(line))), "")
    return "".join(c if c.isprintable() else " " for c in found)[:160].strip()


def _marked(lines: Sequence[str]) -> Iterator[Block | Swap]:
    """Blocks and edits by their markers, in order."""
    file, rest = "", iter(lines)
    for line in rest:
        if named := _FILE.fullmatch(line):
            file = named[1]
        elif START.fullmatch(line):
            yield Block(file, _unfenced(_until(rest, END, "EVOLVE-BLOCK-END")))
        elif line.rstrip() == _SEARCH:
            search = _until(rest, re.compile(_DIVIDER), _DIVIDER)
            yield Swap(file, search, _until(rest, re.compile(_REPLACE), _REPLACE))
        elif END.fullmatch(line) or line.rstrip() == _REPLACE:
            raise MarkerError(f"{line.strip()!r} stands there without its beginning.")


def _until(rest: Iterator[str], end: re.Pattern[str], name: str) -> tuple[str, ...]:
    """The lines up to `end`; another marker among them is an error, since what is meant is not clear."""
    found: list[str] = []
    for line in rest:
        if end.fullmatch(line.rstrip()):
            return tuple(found)
        if START.fullmatch(line) or END.fullmatch(line) or line.rstrip() in (_SEARCH, _DIVIDER, _REPLACE):
            raise MarkerError(f"{line.strip()!r} stands where {name!r} is expected.")
        found.append(line)
    raise CutOffError(f"The reply ends before {name!r}.")


def _unfenced(lines: tuple[str, ...]) -> tuple[str, ...]:
    """`lines` without a fence around all of them."""
    within = [i for i, line in enumerate(lines) if line.strip()]
    if len(within) < 2 or not (opening := _FENCE.fullmatch(lines[within[0]])):
        return lines
    closing = lines[within[-1]].strip()
    return lines[within[0] + 1 : within[-1]] if closing == opening[1] else lines


def _fenced(lines: Sequence[str]) -> Iterator[Block]:
    """Fenced code as whole files."""
    file, rest = "", iter(lines)
    for line in rest:
        if named := _FILE.fullmatch(line):
            file = named[1]
        elif opening := _FENCE.fullmatch(line):
            found: list[str] = []
            for inner in rest:
                if re.fullmatch(opening[1] + "`*", inner.strip()):
                    break
                found.append(inner)
            else:
                raise CutOffError("The reply ends within fenced code.")
            yield Block(file, tuple(found), whole=True)
