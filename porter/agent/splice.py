"""The files of a candidate with the changes of a reply made in them: all of them, or an error that names one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from porter.agent.complaint import (
    AmbiguousSearchError,
    MarkerError,
    NothingNewError,
    OutsideBlockError,
    OverlapError,
    UnknownFileError,
    UnmatchedSearchError,
)
from porter.agent.reply import END, START, Block, Swap
from porter.evolve.candidate import File
from porter.source.edit import Edit, OverlappingEditsError, apply_edits

Region = tuple[int, int]  # of lines: the first, and the one after the last
_QUOTED_LINES = 12
_COMPARED = 200  # characters of a line: the time goes with their square


def splice(files: Sequence[File], changes: Iterable[Block | Swap]) -> tuple[File, ...]:
    """`files` changed. All changes count in the files as they are, so their order is of no matter.

    Raises a `ReplyError`; also where nothing differs in the end.
    """
    of_file: dict[str, list[Block | Swap]] = {file.name: [] for file in files}
    for change in changes:
        of_file[_meant(files, change.file)].append(change)
    made = tuple(File(file.name, _changed(file, of_file[file.name])) for file in files)
    if made == tuple(files):
        raise NothingNewError("The reply changes nothing: its code is the current program's.")
    return made


def _meant(files: Sequence[File], name: str) -> str:
    """The candidate's file called `name`. A reply names files; it never makes any, nor any path."""
    names = [file.name for file in files]
    if not name and len(names) == 1:
        return names[0]
    if name not in names:
        what = f"There is no file {name[:80]!r}" if name else "Which file is meant?"
        raise UnknownFileError(f"{what}. Write `FILE: name` before each change; the files are: {', '.join(names)}.")
    return name


def _changed(file: File, changes: Sequence[Block | Swap]) -> str:
    if not changes:
        return file.text
    lines = file.text.split("\n")
    blocks = [change for change in changes if isinstance(change, Block)]
    swaps = [change for change in changes if isinstance(change, Swap)]
    if blocks and swaps:
        raise MarkerError(f"{file.name}: either SEARCH/REPLACE edits or EVOLVE-BLOCKs, not both in one file.")
    regions = _regions(lines)
    edits = _block_edits(file, lines, regions, blocks) if blocks else _swap_edits(file, lines, regions, swaps)
    try:
        return apply_edits(file.text, edits)
    except OverlappingEditsError:
        raise OverlapError(f"{file.name}: two SEARCH parts share lines. Join them in one edit.") from None


def _regions(lines: Sequence[str]) -> list[Region]:
    """Returns what may evolve of a file that says so: the lines between its markers."""
    starts = [i + 1 for i, line in enumerate(lines) if START.fullmatch(line)]
    ends = [i for i, line in enumerate(lines) if END.fullmatch(line)]
    return list(zip(starts, ends, strict=False))


def _block_edits(file: File, lines: Sequence[str], regions: Sequence[Region], blocks: Sequence[Block]) -> list[Edit]:
    if regions and any(block.whole for block in blocks):
        raise MarkerError(f"{file.name}: write what replaces an EVOLVE-BLOCK between the markers of one.")
    if not regions:
        return [Edit(0, len(file.text), "\n".join(_whole(blocks).lines).strip("\n") + "\n")]
    if len(regions) == 1:
        return [_edit(lines, regions[0], _whole(blocks).lines)]
    if len(regions) != len(blocks):
        raise MarkerError(f"{file.name}: {len(blocks)} EVOLVE-BLOCKs where {len(regions)} are expected.")
    return [_edit(lines, region, block.lines) for region, block in zip(regions, blocks, strict=True)]


def _whole(blocks: Sequence[Block]) -> Block:
    """Returns the text that is meant of several for one place: the last that is no snippet.

    Models show a part of a program before they write all of it, and how it is called behind that.
    """
    longest = max(len("\n".join(block.lines)) for block in blocks)
    return [block for block in blocks if 2 * len("\n".join(block.lines)) >= longest][-1]


def _swap_edits(file: File, lines: Sequence[str], regions: Sequence[Region], swaps: Sequence[Swap]) -> list[Edit]:
    edits = []
    for swap in swaps:
        place = _place(file, lines, swap)
        if regions and not any(first <= place[0] and place[1] <= last for first, last in regions):
            raise OutsideBlockError(
                f"{file.name}: line {place[0] + 1} lies outside the EVOLVE-BLOCKs; leave it as it is."
            )
        edits.append(_edit(lines, place, swap.replace))
    return edits


def _place(file: File, lines: Sequence[str], swap: Swap) -> Region:
    """Returns where the lines of SEARCH stand: exactly, or but for blanks at the ends of lines."""
    if not any(line.strip() for line in swap.search):
        raise UnmatchedSearchError(f"{file.name}: an empty SEARCH. Quote the lines that are to be replaced.")
    for read in (str, str.rstrip):
        wanted, text = [read(line) for line in swap.search], [read(line) for line in lines]
        found = [i for i in range(len(text) - len(wanted) + 1) if text[i : i + len(wanted)] == wanted]
        if len(found) > 1:
            at = ", ".join(str(i + 1) for i in found[:5])
            raise AmbiguousSearchError(
                f"{file.name}: this SEARCH stands at lines {at}. Quote more lines around it.\n{_quoted(swap.search)}"
            )
        if found:
            return found[0], found[0] + len(wanted)
    raise UnmatchedSearchError(
        f"{file.name}: this SEARCH stands nowhere. Quote whole lines exactly.\n{_quoted(swap.search)}"
        f"\nThe nearest lines there are:\n{_quoted(_nearest(lines, swap.search))}"
    )


def _edit(lines: Sequence[str], region: Region, replacement: Sequence[str]) -> Edit:
    """Whole lines as characters of the text they were split from."""
    first, last = region
    start = sum(len(line) + 1 for line in lines[:first])
    whole = "".join(line + "\n" for line in replacement)
    size = sum(len(line) + 1 for line in lines[first:last])
    if last == len(lines):  # the last line has no newline
        return Edit(start, start + size - 1, whole.removesuffix("\n"))
    return Edit(start, start + size, whole)


def _nearest(lines: Sequence[str], search: Sequence[str]) -> Sequence[str]:
    """The stretch of the file around the line most like the first that SEARCH has."""
    wanted = next(line for line in search if line.strip())[:_COMPARED]
    begun = [line[:_COMPARED] for line in lines]
    close = difflib.get_close_matches(wanted, begun, n=1, cutoff=0.0)
    first = begun.index(close[0]) if close else 0
    return lines[max(0, first - 2) : first + len(search) + 2]


def _quoted(lines: Sequence[str]) -> str:
    more = ["..."] if len(lines) > _QUOTED_LINES else []
    return "\n".join(f"    {line}" for line in (*lines[:_QUOTED_LINES], *more))
