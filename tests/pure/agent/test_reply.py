"""Replies as models write them: what is meant is done, what is not clear is said, and nothing else ever happens."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from porter.agent.complaint import (
    AmbiguousSearchError,
    CutOffError,
    MarkerError,
    NoCodeError,
    NothingNewError,
    OutsideBlockError,
    OverlapError,
    ReplyError,
    UnknownFileError,
    UnmatchedSearchError,
)
from porter.agent.question import Answer, Ending
from porter.agent.reply import read_reply
from porter.agent.splice import splice
from porter.evolve.candidate import Candidate, File, Origin

A = File("a.py", "one = 1\ntwo = 2\n\nthree = 3\n")
B = File("b.py", "one = 1\none = 1\n")
MARKED = File("a.py", "import x\n# EVOLVE-BLOCK-START\nold\n# EVOLVE-BLOCK-END\nkeep\n")


def edit(search, replace, name=""):
    head = f"FILE: {name}\n" if name else ""
    return f"{head}<<<<<<< SEARCH\n{search}\n=======\n{replace}\n>>>>>>> REPLACE\n"


def made(text, *files, ending=Ending.COMPLETE):
    return [file.text for file in splice(files or (A,), read_reply(Answer(text, ending)).changes)]


USED = {
    "an edit": (edit("two = 2", "two = 22"), "one = 1\ntwo = 22\n\nthree = 3\n"),
    "an edit at the end": (edit("\nthree = 3\n", "\nthree = 33\n"), "one = 1\ntwo = 2\n\nthree = 33\n"),
    "an edit of several lines": (edit("one = 1\ntwo = 2", "both = 3"), "both = 3\n\nthree = 3\n"),
    "a deletion": ("<<<<<<< SEARCH\ntwo = 2\n=======\n>>>>>>> REPLACE", "one = 1\n\nthree = 3\n"),
    "edits in any order": (
        edit("three = 3", "x = 3") + "then\n" + edit("one = 1", "y = 1"),
        "y = 1\ntwo = 2\n\nx = 3\n",
    ),
    "the same edit twice": (edit("one = 1", "y = 1") * 2, "y = 1\ntwo = 2\n\nthree = 3\n"),
    "blanks at the end of a line": (edit("two = 2   ", "two = 22"), "one = 1\ntwo = 22\n\nthree = 3\n"),
    "lines of Windows": (edit("two = 2", "two = 22").replace("\n", "\r\n"), "one = 1\ntwo = 22\n\nthree = 3\n"),
    "an edit in a fence": (f"```diff\n{edit('two = 2', 'two = 22')}```", "one = 1\ntwo = 22\n\nthree = 3\n"),
    "a block": ("EVOLVE-BLOCK-START\nnew = 1\nEVOLVE-BLOCK-END", "new = 1\n"),
    "a block in a comment": ("// EVOLVE-BLOCK-START\nnew = 1\n// EVOLVE-BLOCK-END", "new = 1\n"),
    "a block around a fence": ("# EVOLVE-BLOCK-START\n```python\nnew = 1\n```\n# EVOLVE-BLOCK-END", "new = 1\n"),
    "a block in a fence": ("```python\n# EVOLVE-BLOCK-START\nnew = 1\n# EVOLVE-BLOCK-END\n```", "new = 1\n"),
    "a fence": ("Here:\n```python\nnew = 1\n```\nGood luck!", "new = 1\n"),
    "a fence in a fence": ("````\ns = '''\n```\n'''\n````", "s = '''\n```\n'''\n"),
    "a snippet, then the whole program": (
        "The inner loop becomes\n```python\nx\n```\nso in all:\n```python\nnew = 1\nmore = 2\n```\nCall it so:\n"
        "```python\nf()\n```",
        "new = 1\nmore = 2\n",
    ),
    "a program, then a better one": ("```python\nnew = 1\n```\nOn reflection:\n```python\nold = 2\n```", "old = 2\n"),
    "a block said twice": ("EVOLVE-BLOCK-START\ny\nEVOLVE-BLOCK-END\n" * 2, "y\n"),
    "what a console says is no program": (
        "```python\nnew = 1\n```\n```text\nit is twice as fast now\n```",
        "new = 1\n",
    ),
    "more brackets than asked for": (edit("two = 2", "x").replace("<<<<<<< ", "<<<<<<<<"), "one = 1\nx\n\nthree = 3\n"),
    "a unified diff": (
        "--- a/a.py\n+++ b/a.py\n@@ -7,2 +7,2 @@ def f\n one = 1\n-two = 2\n+two = 22\n\nthree = 3\n\nThat is all.",
        "one = 1\ntwo = 22\n\nthree = 3\n",
    ),
    "a diff in a fence, in two hunks": (
        "```diff\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-one = 1\n+one = 11\n@@ -4 +4 @@\n-three = 3\n+three = 33\n```",
        "one = 11\ntwo = 2\n\nthree = 33\n",
    ),
    "a diff without heads": ("```diff\n one = 1\n-two = 2\n+two = 22\n```", "one = 1\ntwo = 22\n\nthree = 3\n"),
    "after thoughts whose beginning is lost": ("so be it</think>\n```\nnew = 1\n```", "new = 1\n"),
    "thoughts of another name, twice": (
        "<thinking>```\na\n```</thinking>\n```\nnew = 1\n```\n<reflection>```\nb\n```</reflection>",
        "new = 1\n",
    ),
    "after thoughts": (
        f"<think>{edit('one = 1', 'wrong = 1')}</think>{edit('two = 2', 'x')}",
        "one = 1\nx\n\nthree = 3\n",
    ),
}


@pytest.mark.parametrize("case", USED)
def test_what_is_meant_is_done(case):
    text, expected = USED[case]
    assert made(text) == [expected]


REFUSED = {
    "nothing": ("I would use larger blocks.", NoCodeError),
    "an unknown line": (edit("four = 4", "x"), UnmatchedSearchError),
    "half a line": (edit("two", "x"), UnmatchedSearchError),
    "an empty search": (edit("", "x"), UnmatchedSearchError),
    "edits that overlap": (edit("one = 1\ntwo = 2", "x") + edit("two = 2", "y"), OverlapError),
    "two wishes for a line": (edit("two = 2", "x") + edit("two = 2", "y"), OverlapError),
    "no change": (edit("two = 2", "two = 2"), NothingNewError),
    "another file": (edit("two = 2", "x", "c.py"), UnknownFileError),
    "a path": (edit("two = 2", "x", "../a.py"), UnknownFileError),
    "an absolute path": (edit("root", "x", "/etc/passwd"), UnknownFileError),
    "an edit and a block": (edit("two = 2", "x") + "EVOLVE-BLOCK-START\ny\nEVOLVE-BLOCK-END", MarkerError),
    "a block in a block": ("EVOLVE-BLOCK-START\nEVOLVE-BLOCK-START\nEVOLVE-BLOCK-END", MarkerError),
    "an end alone": ("EVOLVE-BLOCK-END", MarkerError),
    "a divider too many": (edit("two = 2", "x\n======="), MarkerError),
    "no end of a block": ("EVOLVE-BLOCK-START\nnew = 1\n", CutOffError),
    "no divider": ("<<<<<<< SEARCH\ntwo = 2\n", CutOffError),
    "no end of an edit": ("<<<<<<< SEARCH\ntwo = 2\n=======\nx\n", CutOffError),
    "no end of a fence": ("```python\nnew = 1\n", CutOffError),
    "thoughts alone": ("<think>I would", CutOffError),
    "a diff of other lines": ("--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-four = 4\n+four = 5\n", UnmatchedSearchError),
    "a diff without a place": ("--- a/a.py\n+++ b/a.py\n@@ -1,0 +1 @@\n+four = 5\n", UnmatchedSearchError),
    "a diff of another file": ("--- a/c.py\n+++ b/c.py\n@@ -1 +1 @@\n-two = 2\n+x\n", UnknownFileError),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_clear_is_said(case):
    text, error = REFUSED[case]
    with pytest.raises(error) as raised:
        made(text)
    assert raised.value.told


def test_a_reply_at_the_limit_is_cut_off_however_whole_it_looks():
    with pytest.raises(CutOffError):
        made(edit("two = 2", "x"), ending=Ending.CUT)


def test_an_ambiguous_search_names_its_places_and_is_no_edit():
    with pytest.raises(AmbiguousSearchError, match="lines 1, 2"):
        made(edit("one = 1", "x"), B)


def test_an_unmatched_search_shows_what_is_nearest():
    with pytest.raises(UnmatchedSearchError, match=r"nearest lines[^!]*three = 3"):
        made(edit("thre = 3", "x"))


def test_several_files_change_by_their_names():
    text = edit("two = 2", "x", "a.py") + edit("one = 1\none = 1", "y", "`b.py`")
    assert made(text, A, B) == ["one = 1\nx\n\nthree = 3\n", "y\n"]
    with pytest.raises(UnknownFileError, match=r"a\.py, b\.py"):
        made(edit("two = 2", "x"), A, B)


def test_whole_files_in_fences_go_by_their_names():
    text = "FILE: a.py\n```\nx = 1\n```\n**FILE: b.py**\n```\ny = 1\n```"
    assert made(text, A, B) == ["x = 1\n", "y = 1\n"]


def test_markers_in_a_file_say_what_may_change():
    assert made("EVOLVE-BLOCK-START\nnew\nEVOLVE-BLOCK-END", MARKED) == [MARKED.text.replace("old", "new")]
    assert made(edit("old", "new"), MARKED) == [MARKED.text.replace("old", "new")]
    with pytest.raises(OutsideBlockError, match="line 5"):
        made(edit("keep", "x"), MARKED)
    with pytest.raises(MarkerError):
        made("```\nnew\n```", MARKED)
    twice = File("a.py", MARKED.text * 2)
    with pytest.raises(MarkerError, match="3 EVOLVE-BLOCKs where 2 are expected"):
        made("EVOLVE-BLOCK-START\nx\nEVOLVE-BLOCK-END\n" * 3, twice)


def test_without_an_idea_the_first_line_of_prose_is_one():
    assert read_reply(Answer(f"I read each row once.\n\n{edit('a', 'b')}")).idea == "I read each row once."


def test_an_idea_is_one_printable_line():
    reply = read_reply(Answer(f"**IDEA: fewer\x1b[31m passes\n{edit('a', 'b')}"))
    assert reply.idea == "fewer [31m passes"
    assert read_reply(Answer(edit("a", "b"))).idea == ""


_LINES = st.lists(
    st.sampled_from(["a", "b", "  c", "", "```", "FILE: a.py", "d ", "e\tf", "# x"]), min_size=1, max_size=12
)


@given(_LINES, st.data())
def test_an_edit_replaces_its_lines_and_leaves_all_others(lines, data):
    first = data.draw(st.integers(0, len(lines) - 1))
    last = data.draw(st.integers(first + 1, len(lines)))
    new = data.draw(_LINES)
    search, text = lines[first:last], "\n".join(lines) + "\n"
    assume("".join(search).strip() and search != new)
    unique = sum(lines[i : i + len(search)] == search for i in range(len(lines))) == 1
    reply = edit("\n".join(search), "\n".join(new))
    if unique:
        assert made(reply, File("a.py", text)) == ["\n".join([*lines[:first], *new, *lines[last:]]) + "\n"]
    else:
        with pytest.raises(AmbiguousSearchError):
            made(reply, File("a.py", text))


_MARKERS = "<<<<<<< SEARCH|=======|>>>>>>> REPLACE|EVOLVE-BLOCK-START|EVOLVE-BLOCK-END|```|````py|<think>|</think>"
_PIECES = st.sampled_from(
    [*_MARKERS.split("|"), "one = 1", "two = 2", "", "FILE: a.py", "FILE: b.py", "FILE: ../x", "\ud800", "\0", "\r"]
)


@settings(max_examples=400)
@given(st.lists(_PIECES | st.text(max_size=8), max_size=14), st.sampled_from([(A,), (A, B), (MARKED,)]))
def test_whatever_is_written_is_a_change_of_the_candidates_files_or_an_error(pieces, files):
    try:
        changed = splice(files, read_reply(Answer("\n".join(pieces))).changes)
    except ReplyError:
        return
    assert [file.name for file in changed] == [file.name for file in files]
    assert changed != files, "never silently the parent"
    assert len(Candidate(changed, Origin("llm")).digest) == 16
