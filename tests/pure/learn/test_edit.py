from hypothesis import given
from hypothesis import strategies as st

from porter.agent.question import Answer
from porter.agent.reply import read_reply
from porter.agent.splice import splice
from porter.evolve.candidate import File
from porter.learn.edit import edit

LINES = st.lists(st.sampled_from(["a = 1", "b = 2", "", "    c()", "d", "d "]), min_size=1, max_size=12)


def files(*texts):
    return tuple(File(f"f{number}.py", text) for number, text in enumerate(texts))


def made(old, reply):
    return splice(old, read_reply(Answer(reply)).changes)


@given(LINES, LINES)
def test_an_edit_makes_the_new_text_of_the_old_one(before, after):
    old, new = files("\n".join(before) + "\n"), files("\n".join(after) + "\n")
    if old[0].text.strip() and old != new:  # a SEARCH quotes something
        assert made(old, edit(old, new)) == new


def test_an_edit_quotes_no_more_than_it_has_to():
    old = files("a\nb\nc\nd\ne\n", "x\n")
    new = files("a\nb\nC\nd\ne\n", "x\n")
    assert edit(old, new, "to upper\n case") == (
        "IDEA: to upper case\nFILE: f0.py\n<<<<<<< SEARCH\nc\n=======\nC\n>>>>>>> REPLACE\n"
    )


def test_lines_that_stand_there_twice_come_with_those_around_them():
    old, new = files("a\nx\nb\nx\n"), files("a\nx\nb\ny\n")
    assert "b\nx\n" in edit(old, new)
    assert made(old, edit(old, new)) == new


def test_text_that_looks_like_a_marker_is_written_as_a_whole_file_or_not_at_all():
    old, new = files("a\n=======\nb\n"), files("a\n=======\nB\n")
    assert not edit(old, new) or made(old, edit(old, new)) == new
    assert edit(old, files("a\n<<<<<<< SEARCH\n")) == ""


def test_nothing_changed_is_no_edit():
    assert edit(files("a\n"), files("a\n")) == ""
