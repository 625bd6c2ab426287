"""A file is written whole or not at all."""

import errno

import pytest

from porter.whole_file import whole_file


def test_what_was_written_takes_the_place_of_what_was_there(tmp_path):
    path = tmp_path / "report.md"
    path.write_text("old")
    with whole_file(path) as fresh:
        fresh.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("failure", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_where_writing_fails_what_was_there_stays_and_nothing_is_left_beside_it(tmp_path, failure):
    path = tmp_path / "report.md"
    path.write_text("old")

    def fail():
        with whole_file(path) as fresh:
            fresh.write_text("half")
            raise failure

    with pytest.raises(type(failure)):
        fail()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
