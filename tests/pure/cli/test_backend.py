"""`porter backend new`: where it writes, and what it refuses."""

import tomllib

import pytest


def test_the_files_are_named_and_the_steps_that_follow(porter, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = porter("backend", "new", "acme")
    assert done.code == 0
    assert "porter migrate op.cu --target acme" in done.stdout
    project = tomllib.loads((tmp_path / "porter-acme/pyproject.toml").read_text())["project"]
    assert project["entry-points"]["porter.backends"] == {"acme": "porter_acme:AcmeBackend"}


def test_its_codes_lie_in_a_hundred_of_their_own(porter, tmp_path):
    assert porter("backend", "new", "acme", "-o", tmp_path / "a", "--json").code == 0
    (entry,) = tomllib.loads((tmp_path / "a/porter_acme/findings.toml").read_text())["finding"]
    assert entry["code"] not in {f"PORT{hundred}00" for hundred in (10, 11, 17, 18, 19)}


@pytest.mark.parametrize(
    ("name", "complaint"),
    [("Acme", "a platform's name is lower-case"), ("a-b", "a platform's name"), ("maca", "maca: there is a backend")],
)
def test_a_name_that_will_not_do_is_refused(porter, tmp_path, name, complaint):
    done = porter("backend", "new", name, "--out", tmp_path / "new")
    assert (done.code, complaint in done.stderr) == (2, True)
    assert not (tmp_path / "new").exists()


def test_a_folder_with_something_in_it_is_left_alone(porter, tmp_path):
    (tmp_path / "mine").write_text("kept")
    done = porter("backend", "new", "acme", "--out", tmp_path)
    assert (done.code, [path.name for path in tmp_path.iterdir()]) == (2, ["mine"])
