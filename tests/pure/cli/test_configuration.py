"""What a project says once: the defaults of options, in `porter.toml` or `pyproject.toml`."""

from pathlib import Path

import pytest
from typer.main import get_command

from porter.cli.configuration import find_configuration
from porter.cli.main import app
from porter.errors import InputError

KERNEL = """\
__global__ void k(float* x, int n) {
    x[threadIdx.x] = __shfl_xor_sync(0xffffffff, x[threadIdx.x], 16);
}
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """`project(text)` writes a configuration, and a source beside it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.cu").write_text(KERNEL)

    def write(text, name="porter.toml"):
        (tmp_path / name).write_text(text)
        return find_configuration(tmp_path).defaults(get_command(app))

    return write


def test_a_key_holds_for_every_command_that_has_the_option(project):
    defaults = project('target = ["maca", "triton"]\nlimit = 120\ndefine = ["A"]\n')
    assert defaults["migrate"] == {"target": ["maca", "triton"], "limit": 120, "define": ["A"]}
    assert defaults["suite"]["run"] == {"target": ["maca", "triton"], "limit": 120}
    assert defaults["verify"] == {"define": ["A"]}
    assert defaults["explain"] == {}


def test_a_table_of_a_command_holds_for_it_alone(project):
    defaults = project("limit = 120\n[migrate]\nlimit = 30\n[suite]\njobs = 4\n[suite.run]\nlimit = 900\n")
    assert (defaults["migrate"]["limit"], defaults["inspect"]["limit"]) == (30, 120)
    assert (defaults["suite"]["run"], defaults["migrate"].get("jobs")) == ({"jobs": 4, "limit": 900}, None)


def test_paths_are_meant_from_where_the_file_lies(project, tmp_path, monkeypatch):
    project('include-dir = ["include"]\nout = "build"\n')
    (tmp_path / "src").mkdir()
    monkeypatch.chdir(tmp_path / "src")
    defaults = find_configuration(Path.cwd()).defaults(get_command(app))
    assert defaults["migrate"] == {"include_dir": ["../include"], "out": "../build"}


def test_pyproject_is_read_where_it_has_a_table(project, tmp_path):
    assert project('[tool.porter]\ntarget = "maca"\n', "pyproject.toml")["migrate"] == {"target": ["maca"]}
    below = tmp_path / "below"
    below.mkdir()
    (below / "pyproject.toml").write_text("[tool.ruff]\n")
    assert find_configuration(below).file == tmp_path / "pyproject.toml"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("targets = []", "'targets' is not an option that a project can set\n  hint: did you mean 'target'?"),
        ("[migrate]\nview = 'x'", "'view' is not an option that a project can set"),
        ("verbose = true", "'verbose' is not an option that a project can set"),
        ("target = [", "porter.toml: "),
    ],
)
def test_what_is_wrong_in_it_is_named(project, text, complaint):
    with pytest.raises(InputError) as caught:
        project(text)
    assert complaint in str(caught.value)
    assert "porter.toml" in caught.value.message


def test_the_command_line_wins(porter, project):
    project('target = "nowhere"\n')
    assert "nowhere" in porter("migrate", "k.cu", "--check").stderr
    assert porter("migrate", "k.cu", "--check", "--target", "maca").code == 0


@pytest.mark.parametrize("arguments", [["--help"], ["migrate", "-h"], ["--version"], []])
def test_help_is_given_whatever_the_configuration_holds(porter, tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "porter.toml").write_text("target = [")
    assert porter(*arguments).code == 0


def test_findings_are_allowed_with_a_reason(porter, project):
    project('target = "maca"\n[[allow]]\ncode = "PORT1003"\nreason = "one warp alone"\nfiles = "*.cu"\n')
    (check,) = porter("migrate", "k.cu", "--check", "--json").document["checks"]
    assert {one["code"]: one["allowed"] for one in check["findings"]} == {
        "PORT1002": None,
        "PORT1003": "one warp alone",
    }
    shown = porter("migrate", "k.cu", "--check").stdout
    assert "1 finding allowed" in shown
    assert shown.splitlines()[-1] == "checked 1 source for maca: 1 warning and 1 allowed (nothing was executed)"


@pytest.mark.parametrize(
    "row", ['code = "PORT1003"', 'reason = "none"', 'code = "PORT1"\nreason = "r"', 'code = "PORT1003"\nreasons = "r"']
)
def test_an_allowance_has_a_code_and_a_reason(porter, project, row):
    project(f"[[allow]]\n{row}\n")
    done = porter("migrate", "k.cu", "--target", "maca", "--check")
    assert done.code == 2
    assert "porter.toml: an entry of 'allow'" in done.stderr
