"""A reply, read into blocks and edits. The text is a stranger's: it is cut into lines here, and nothing else.

FILE: name                          which file what follows belongs to; may be left out where there is only one
EVOLVE-BLOCK-START ... -END         the new text of what may evolve, or of the whole file, in any kind of comment
<<<<<<< SEARCH ======= >>>>>>> REPLACE
--- a/name +++ b/name @@ ... @@     a unified diff, whose numbers of lines are not believed: its lines say where
```                                 a fence alone is a whole file; around or inside a block it is dropped

Where a reply has several of these, the first kind counts. Thoughts in tags and prose around are passed over.
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
_FENCE = re.compile(r"\s*(`{3,})([^`]*)")
_SEARCH, _DIVIDER, _REPLACE = "<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE"
_EDIT_MARKS = {_SEARCH: r"<{5,9} ?SEARCH", _DIVIDER: r"={5,9}", _REPLACE: r">{5,9} ?REPLACE"}
_TAG = r"(?:think|thinking|thought|thoughts|reasoning|reflection)"
_THOUGHTS = re.compile(rf"<({_TAG})>.*?</\1>", re.DOTALL | re.IGNORECASE)
_THOUGHTS_END = re.compile(rf"^.*</{_TAG}>", re.DOTALL | re.IGNORECASE)  # the server ate the beginning
_THOUGHTS_BEGIN = re.compile(rf"\s*<{_TAG}>", re.IGNORECASE)
_IDEA = re.compile(r"[\s#*]*IDEA:\**\s*(\S.*)")
_HUNK = re.compile(r"@@.*")
_OLD_FILE, _NEW_FILE = re.compile(r"--- (?:a/)?(\S+).*"), re.compile(r"\+\+\+ (?:b/)?(\S+).*")
_DIFFS = ("diff", "patch")
_OF_ANOTHER_KIND = (*_DIFFS, "json", "text", "txt", "bash", "sh", "console", "output", "toml", "yaml", "markdown")


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
    """The changes that a reply asks for; `idea` is what it says of them, in one line."""

    changes: tuple[Block | Swap, ...]
    idea: str


def read_reply(answer: Answer) -> Reply:
    """The changes that `answer` asks for, at least one. Raises a `ReplyError` for anything else."""
    if answer.ending is Ending.CUT:
        raise CutOffError("The reply reached the limit of tokens before its end. Be shorter: use SEARCH/REPLACE edits.")
    text = encodable(answer.text).replace("\r\n", "\n")
    lines = _without_thoughts(text).split("\n")
    changes = tuple(_marked(lines)) or tuple(_hunks(lines)) or tuple(_fenced(lines))
    if not changes:
        raise NoCodeError("The reply holds no EVOLVE-BLOCK, no SEARCH/REPLACE edit and no fenced code.")
    return Reply(changes, _idea(lines))


def _without_thoughts(text: str) -> str:
    """The reply behind what its model thought aloud. Raises `CutOffError` where it never came to an end of that."""
    said = _THOUGHTS_END.sub("", _THOUGHTS.sub("", text))
    if _THOUGHTS_BEGIN.match(said):
        raise CutOffError("The reply ends within its thoughts.")
    return said


def _idea(lines: Sequence[str]) -> str:
    """Returns what the reply says its idea is, else its first line of prose: 160 printable characters at most."""
    found = next((match[1] for line in lines if (match := _IDEA.fullmatch(line))), "") or _first_prose(lines)
    return "".join(c if c.isprintable() else " " for c in found)[:160].strip()


def _first_prose(lines: Sequence[str]) -> str:
    first = next((line.strip() for line in lines if line.strip()), "")
    starts = (_FENCE, _FILE, START, _OLD_FILE, _HUNK)
    is_code = any(start.fullmatch(first) for start in starts) or _mark_of(first)
    return "" if is_code else first.strip("#* ")


def _mark_of(line: str) -> str:
    """Returns which mark of an edit the line is, as it is spelt rightly; empty for any other line."""
    return next((mark for mark, form in _EDIT_MARKS.items() if re.fullmatch(form, line.rstrip())), "")


def _marked(lines: Sequence[str]) -> Iterator[Block | Swap]:
    """Blocks and edits by their markers, in order."""
    file, rest = "", iter(lines)
    for line in rest:
        if named := _FILE.fullmatch(line):
            file = named[1]
        elif START.fullmatch(line):
            yield Block(file, _unfenced(_until(rest, END, "EVOLVE-BLOCK-END")))
        elif _mark_of(line) == _SEARCH:
            search = _until(rest, re.compile(_EDIT_MARKS[_DIVIDER]), _DIVIDER)
            yield Swap(file, search, _until(rest, re.compile(_EDIT_MARKS[_REPLACE]), _REPLACE))
        elif END.fullmatch(line) or _mark_of(line) == _REPLACE:
            raise MarkerError(f"{line.strip()!r} stands there without its beginning.")


def _until(rest: Iterator[str], end: re.Pattern[str], name: str) -> tuple[str, ...]:
    """The lines up to `end`; another marker among them is an error, since what is meant is not clear."""
    found: list[str] = []
    for line in rest:
        if end.fullmatch(line.rstrip()):
            return tuple(found)
        if START.fullmatch(line) or END.fullmatch(line) or _mark_of(line):
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


def _hunks(lines: Sequence[str]) -> Iterator[Swap]:
    """The hunks of unified diffs as edits: in a fence that says it is one they need no heads."""
    file, is_diff = "", False
    hunk: list[str] | None = None
    for line in (*lines, "```"):
        fence, named = _FENCE.fullmatch(line), _NEW_FILE.fullmatch(line) or _FILE.fullmatch(line)
        if fence or named or _HUNK.fullmatch(line) or _OLD_FILE.fullmatch(line):
            yield from _swap(file, hunk or ())
            file = named[1] if named else file
            is_diff = not is_diff and fence[2].strip() in _DIFFS if fence else is_diff
            hunk = [] if is_diff or _HUNK.fullmatch(line) else None
        elif hunk is not None and line[:1] in ("", " ", "+", "-"):
            hunk.append(line)
        elif hunk is not None and not line.startswith("\\"):  # as in `\ No newline at end of file`
            yield from _swap(file, hunk)
            hunk = None


def _swap(file: str, hunk: Sequence[str]) -> Iterator[Swap]:
    """One hunk as an edit; none where it changes nothing. Blank lines behind it belong to the text around."""
    kept = list(hunk)
    while kept and not kept[-1].strip():
        kept.pop()
    if any(line[:1] in ("+", "-") for line in kept):
        search = tuple(line[1:] for line in kept if not line.startswith("+"))
        yield Swap(file, search, tuple(line[1:] for line in kept if not line.startswith("-")))


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
            if opening[2].strip().lower() not in _OF_ANOTHER_KIND:
                yield Block(file, tuple(found), whole=True)
