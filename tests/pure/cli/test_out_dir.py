"""A place that cannot be written to is told before anything is done for it."""

import pytest

from porter.cli.attempt import Destination
from porter.errors import UsageError


def test_a_folder_that_is_there_or_can_be_made_is_taken(tmp_path):
    Destination(tmp_path, force=False).check()
    Destination(tmp_path / "new" / "folder", force=False).check()


@pytest.mark.parametrize("below", ["", "folder"])
def test_a_file_is_no_folder_and_holds_none(tmp_path, below):
    (tmp_path / "file").write_text("text")
    with pytest.raises(UsageError, match="file is not a directory"):
        Destination(tmp_path / "file" / below, force=False).check()
