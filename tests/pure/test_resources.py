"""Data beside or inside the package."""

import pytest

from porter import resources
from porter.errors import MachineError
from porter.resources import resource


def test_grammars_are_found():
    assert resource("grammars").is_dir()


@pytest.mark.parametrize("home", ["porter", "."])
def test_data_is_found_inside_the_package_and_beside_it(tmp_path, monkeypatch, home):
    (tmp_path / "porter").mkdir()
    (tmp_path / home / "tables").mkdir()
    monkeypatch.setattr(resources, "files", lambda package: tmp_path / package)
    assert resource("tables") == tmp_path / home / "tables"


def test_a_broken_installation_says_what_is_missing():
    with pytest.raises(MachineError, match="'no-such-data'"):
        resource("no-such-data")
