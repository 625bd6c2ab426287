"""`porter migrate` around the migration itself, for which a stand-in serves: options in, documents and codes out."""

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from porter.backend import PortedFile
from porter.errors import InputError, MachineError
from porter.evaluate.model.outcome import Wrong
from porter.source_text import Source

pytestmark = pytest.mark.usefixtures("asked")


@pytest.fixture
def asked(monkeypatch, migration, tmp_path):
    """Stands in for the migration, in `tmp_path`; collects what was asked of it. A source's name decides what comes."""
    monkeypatch.chdir(tmp_path)
    collected = []

    def migrate(path, options, step):
        collected.append((path, options))
        step(f"porting {path}")
        if path.stem == "unreadable":
            raise InputError(f"{path}: not a text file")
        if path.stem == "compilerless":
            raise MachineError("no compiler", "install g++")
        source = Source(path, migration.source.text)
        ported = PortedFile(f"{path.stem}.maca.cpp", migration.files[0].text, source)
        outcome = Wrong("y[0] differs", ()) if path.stem == "wrong" else migration.outcome
        made = replace(migration, source=source, files=(ported,), outcome=outcome)
        return (made, made) if path.suffix == ".py" else (made,)

    monkeypatch.setattr("porter.cli.attempt.migrate", migrate)
    return collected


def touch(*names):
    for name in names:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text("cuda")


def test_every_option_reaches_the_migration(porter, asked, tmp_path):
    touch("sum.cu", "sum.toml", "include/a.h")
    how = ["--arch", "C600", "--kernel", "a", "--kernel", "b", "--time-limit", "2.5", "--contract", "sum.toml"]
    where = ["--size", "n=7", "--size", "m=9", "--include-dir", "include", "--define", "FAST", "--define", "N=3"]
    assert porter("migrate", "sum.cu", "--target", "maca", *how, *where).code == 0
    ((path, given),) = asked
    assert path == Path("sum.cu")
    assert (given.target, given.arch, given.kernels) == ("maca", "C600", ("a", "b"))
    assert (given.contract, given.sizes) == (Path("sum.toml"), {"n": 7, "m": 9})
    assert (given.include_dirs, given.defines, given.time_limit_s) == ((Path("include"),), ("FAST", "N=3"), 2.5)
    assert given.cache == tmp_path / "cache"


def test_one_source_gives_one_object_and_its_files(porter):
    touch("sum.cu")
    done = porter("migrate", "sum.cu", "--target", "maca", "-o", "out", "--json")
    assert (done.code, done.stderr) == (0, "")
    names = ["sum.maca.cpp", "sum.contract.toml", "sum.maca.report.md", "sum.maca.report.json"]
    assert done.document["outputs"] == [f"out/{name}" for name in names]
    assert all(Path("out", name).is_file() for name in names)
    assert json.loads(Path("out/sum.maca.report.json").read_text()) == done.document
    assert Path("sum.cu").read_text() == "cuda"


def test_what_falls_short_is_exit_code_1_and_still_written(porter):
    touch("wrong.cu")
    done = porter("migrate", "wrong.cu", "--target", "maca")
    assert done.code == 1
    assert done.stdout.splitlines()[-1].startswith("wrong: wrong.cu for maca C500: y[0] differs")
    assert Path("porter-out/wrong.maca.cpp").is_file()


@pytest.mark.parametrize(("name", "code"), [("unreadable", 2), ("compilerless", 3)])
def test_one_source_that_cannot_be_migrated_is_an_error(porter, name, code):
    touch(f"{name}.cu")
    done = porter("migrate", f"{name}.cu", "--target", "maca", "--json")
    assert (done.code, done.document["error"]["exit_code"]) == (code, code)
    assert not Path("porter-out").exists()


def test_of_several_sources_each_is_tried_and_the_worst_decides(porter):
    touch("ops/a/sum.cu", "ops/b/unreadable.cu", "ops/c/wrong.cu")
    done = porter("migrate", "ops", "--target", "maca", "--json")
    assert done.code == 1
    good, broken, wrong = done.document["migrations"]
    assert (good["outcome"], wrong["outcome"]) == ("verified", "wrong")
    assert broken == {
        "source": "ops/b/unreadable.cu",
        "target": "maca",
        "error": {"message": "ops/b/unreadable.cu: not a text file", "hint": "", "exit_code": 2},
    }
    assert Path("porter-out/a/sum.maca.cpp").is_file()
    assert Path("porter-out/c/wrong.maca.report.md").is_file()
    text = porter("migrate", "ops", "--target", "maca").stdout
    assert text.splitlines()[-1] == "1 of 3 verified"


@pytest.mark.parametrize(
    ("names", "code"), [(["sum", "total"], 0), (["unreadable", "compilerless"], 3), (["sum", "compilerless"], 1)]
)
def test_the_exit_code_of_several_sources(porter, names, code):
    touch(*(f"{name}.cu" for name in names))
    assert porter("migrate", *(f"{name}.cu" for name in names), "--target", "maca").code == code


def test_the_sources_of_a_python_file_get_a_folder_each_after_the_first(porter):
    touch("ops.py")
    done = porter("migrate", "ops.py", "--target", "maca", "--json")
    assert done.code == 0
    first, second = done.document["migrations"]
    assert first["outputs"][0] == "porter-out/ops.maca.cpp"
    assert second["outputs"][0] == "porter-out/ops-2/ops.maca.cpp"
    assert porter("migrate", "ops.py", "--target", "maca").stdout.splitlines()[-1] == "2 of 2 verified"


def test_several_targets_give_a_migration_each(porter, asked):
    touch("sum.cu")
    done = porter("migrate", "sum.cu", "--target", "maca", "--target", "triton", "--target", "maca", "--json")
    assert done.code == 0
    assert [options.target for _, options in asked] == ["maca", "triton"]
    assert len(done.document["migrations"]) == 2


def test_verdicts_are_written_as_junit(porter):
    touch("ops/sum.cu", "ops/unreadable.cu", "ops/wrong.cu")
    assert porter("migrate", "ops", "--target", "maca", "--junit", "made/ports.xml").code == 1
    suite = ElementTree.parse("made/ports.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("4", "1", "1")
    endings = [(case.get("classname"), case.get("name"), case[0].tag) for case in suite]
    assert endings == [
        ("ops/sum.cu for maca", "launch_sum", "system-out"),
        ("ops/unreadable.cu for maca", "unreadable.cu", "error"),
        ("ops/wrong.cu for maca", "launch_sum", "system-out"),
        ("ops/wrong.cu for maca", "wrong.cu", "failure"),
    ]


def test_findings_are_written_as_sarif(porter):
    touch("a.cu", "b.cu")
    assert porter("migrate", "a.cu", "b.cu", "--target", "maca", "--sarif", "ports.sarif").code == 0
    results = json.loads(Path("ports.sarif").read_text())["runs"][0]["results"]
    assert [one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in results] == ["a.cu", "b.cu"]


def test_a_diff_comes_before_the_report(porter):
    touch("sum.cu")
    shown = porter("migrate", "sum.cu", "--target", "maca", "--diff").stdout
    assert shown.startswith("--- sum.cu\n+++ sum.maca.cpp\n")
    assert shown.index("+\t__shared__") < shown.index("warning")


def test_a_contract_given_is_neither_copied_nor_touched(porter):
    touch("sum.cu", "porter-out/sum.contract.toml")
    done = porter("migrate", "sum.cu", "--target", "maca", "--contract", "porter-out/sum.contract.toml")
    assert done.code == 0
    assert Path("porter-out/sum.contract.toml").read_text() == "cuda"


def test_a_link_to_the_source_is_not_written_through(porter):
    touch("sum.cu")
    Path("sum.maca.cpp").symlink_to("sum.cu")
    refused = porter("migrate", "sum.cu", "--target", "maca", "-o", ".", "--force")
    assert (refused.code, Path("sum.cu").read_text()) == (2, "cuda")
    assert "is a source" in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["sum.cu"], "--target"),
        (["--target", "maca"], "PATH"),
        (["", "--target", "maca"], "an empty path"),
        (["sum.cu", "--target", "maca", "--size", "n"], "--size n"),
        (["sum.cu", "--target", "maca", "--time-limit", "soon"], "--time-limit"),
        (["gone.cu", "--target", "maca"], "gone.cu"),
    ],
)
def test_wrong_usage_is_caught_before_anything_is_migrated(porter, asked, arguments, complaint):
    touch("sum.cu")
    done = porter("migrate", *arguments)
    assert (done.code, done.stdout, asked) == (2, "", [])
    assert complaint in done.stderr
