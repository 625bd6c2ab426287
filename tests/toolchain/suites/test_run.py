"""A suite of one's own, brought up, stopped, resumed: every operator gets its result, whatever the others do."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import pytest

from porter.cli.main import main
from porter.contract.model.toml import loads
from porter.simt.compiler import missing_compiler
from porter.suite.lock import locked
from porter.suite.result import read_run, write_run

RIGHT = """
__global__ void scale(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = FACTOR * x[i];
}
void launch(const float* x, float* y, int n) { scale<<<(n + 1023) / 1024, 1024>>>(x, y, n); }
"""
UNSOUND = RIGHT.replace("if (i < n) y[i]", "if (i < n) y[0]")
BROKEN = RIGHT.replace("FACTOR * x[i]", "2.0f * z[i]")


@pytest.fixture(scope="module")
def bring_up(tmp_path_factory, build_cache):
    if missing_compiler():
        pytest.skip(missing_compiler())
    root = tmp_path_factory.mktemp("suite")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PORTER_CACHE_DIR", str(build_cache))
        for name, text in (("right", RIGHT), ("unsound", UNSOUND), ("broken", BROKEN)):
            (root / f"{name}.cu").write_text(text)
            built = ["--category", "scaling", "--define", "FACTOR=2.0f"]
            assert main(["suite", "new", str(root / f"{name}.cu"), "--out", str(root / "mine"), *built]) == 0
        yield (
            root,
            lambda *more: main(
                ["suite", "run", str(root / "mine"), "--target", "maca", "-o", str(root / "run"), *more]
            ),
        )


def results(root):
    return {one.name: one for one in read_run(root / "run/maca").results}


def test_every_operator_gets_a_result_of_its_own(bring_up, capsys):
    root, run = bring_up
    assert run("--json") == 1
    document = json.loads(capsys.readouterr().out)
    assert {one["name"]: one["outcome"] for one in document["results"]} == {
        "right": "verified", "unsound": "not_verified", "broken": "not_verified",
    }  # fmt: skip
    assert (document["overall"]["verified"], document["overall"]["amsr"]) == (1, None)
    assert "race" in results(root)["unsound"].because
    assert "kernel.cu:5: " in results(root)["broken"].because
    assert str(root) not in results(root)["broken"].because


def test_a_new_operator_has_a_size_at_which_it_is_timed(bring_up):
    root, _ = bring_up
    path = root / "mine/scaling/right/contract.toml"
    (contract,) = loads(path.read_text(), path)
    assert [w.name for w in contract.workloads if w.device_only] == ["bench"]


def test_a_new_operator_that_does_not_build_is_said_to_be_a_draft(bring_up, capsys):
    root, _ = bring_up
    wanted = ["suite", "new", str(root / "broken.cu"), "--out", str(root / "drafts"), "--category", "scaling"]
    assert main([*wanted, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["built"] is False
    assert main([*wanted, "--name", "again"]) == 0
    assert "is a draft: kernel.cu does not build on the CPU" in capsys.readouterr().out


def test_a_new_operator_has_the_macros_of_its_build_in_its_source(bring_up):
    root, _ = bring_up
    assert (root / "mine/scaling/right/kernel.cu").read_text() == f"#define FACTOR 2.0f\n{RIGHT}"


def test_what_was_done_is_not_done_again_until_its_files_change(bring_up):
    root, run = bring_up
    before = results(root)
    shutil.copytree(root / "mine/scaling/right", root / "mine/scaling/unsound", dirs_exist_ok=True)
    assert run() == 1
    after = results(root)
    assert after["right"] == before["right"]
    assert after["unsound"].outcome == "verified"
    assert (root / "run/maca/mine/scaling/unsound/original/kernel.cu").read_text().endswith(RIGHT)


def test_a_run_that_lost_one_result_makes_that_one(bring_up):
    root, run = bring_up
    shutil.rmtree(root / "run/maca/mine/scaling/right")
    assert run("--only", "right") == 0
    assert results(root).keys() == {"right", "unsound", "broken"}


def test_results_of_operators_that_are_not_asked_for_stay(bring_up, capsys):
    root, run = bring_up
    before = results(root)
    capsys.readouterr()
    assert run("--fresh", "--only", "right", "--json") == 0
    (told,) = json.loads(capsys.readouterr().out)["results"]
    assert told["name"] == "right"
    after = results(root)
    assert after.keys() == before.keys()
    assert (after["broken"], after["unsound"]) == (before["broken"], before["unsound"])


def test_a_run_for_another_device_is_not_mixed_with_it(bring_up, capsys):
    root, run = bring_up
    before = results(root)
    assert run("--arch", "c280", "--only", "right") == 2
    assert "holds a run for xcore1000" in capsys.readouterr().err
    assert results(root) == before


def test_what_the_machine_failed_at_is_no_result_of_an_operator(bring_up, monkeypatch, capsys):
    root, run = bring_up
    before = results(root)
    with monkeypatch.context() as patch:
        patch.setenv("PATH", "")  # without a compiler
        capsys.readouterr()
        assert run("--fresh", "--only", "right", "--json") == 1
    (told,) = json.loads(capsys.readouterr().out)["results"]
    assert (told["outcome"], "g++" in told["because"]) == ("machine_failed", True)
    assert results(root) == before
    shutil.rmtree(root / "run/maca/mine/scaling/right")
    with monkeypatch.context() as patch:
        patch.setenv("PATH", "")
        assert run("--only", "right") == 1
    assert "right" not in results(root)
    assert run("--only", "right") == 0
    assert results(root)["right"].outcome == "verified"


def test_two_processes_do_not_write_to_one_run(bring_up, capsys):
    root, run = bring_up
    before = results(root)
    with locked(root / "run/maca"):
        assert run("--fresh", "--only", "right") == 2
        assert "another process works on this run" in capsys.readouterr().err
        assert results(root) == before
    assert run("--only", "right") == 0


def test_an_operator_that_takes_too_long_is_a_timeout_and_no_end(bring_up):
    root, run = bring_up
    assert run("--fresh", "--limit", "1", "--only", "broken") == 1
    assert (results(root)["broken"].outcome, results(root)["broken"].port) == ("timeout", "")


@pytest.fixture(scope="module")
def alone(bring_up):
    """The folder of a run of one right operator, which nobody changes."""
    root, _ = bring_up
    out = root / "alone"
    assert main(["suite", "run", str(root / "mine"), "--target", "maca", "-o", str(out), "--only", "right"]) == 0
    return out / "maca"


@pytest.fixture
def baseline(alone, tmp_path):
    """A copy of that run, and the file of its port."""
    folder = tmp_path / "baseline"
    shutil.copytree(alone, folder)
    (one,) = read_run(folder).results
    return folder, folder / one.port


def regress(folder, capsys, *more):
    """The exit code, and what is said of the only port."""
    code = main(["regress", str(folder), "--json", *more])
    (operator,) = json.loads(capsys.readouterr().out)["operators"]
    return code, operator


def test_a_port_that_is_as_it_was_is_no_loss(baseline, capsys):
    folder, _ = baseline
    capsys.readouterr()
    code, operator = regress(folder, capsys)
    assert (code, operator["change"]) == (0, "same")


def test_an_operator_without_a_result_is_a_loss(bring_up, tmp_path, capsys):
    """A run of three operators that was stopped behind the first, and one whose folder was deleted."""
    root, _ = bring_up
    stopped = tmp_path / "stopped"
    shutil.copytree(root / "run/maca", stopped)
    whole = read_run(stopped)
    right = tuple(one for one in whole.results if one.name == "right")
    write_run(stopped, replace(whole, results=right))
    capsys.readouterr()
    assert main(["regress", str(stopped), "--json"]) == 1
    changes = {o["key"]: o["change"] for o in json.loads(capsys.readouterr().out)["operators"]}
    assert changes == {
        "mine/scaling/right": "same", "mine/scaling/unsound": "missing", "mine/scaling/broken": "missing",
    }  # fmt: skip
    shutil.rmtree(stopped / right[0].key)
    assert main(["regress", str(stopped), "--update", "--json"]) == 0
    changes = {o["key"]: o["change"] for o in json.loads(capsys.readouterr().out)["operators"]}
    assert changes["mine/scaling/right"] == "not_run"


def test_a_failure_of_the_machine_becomes_no_baseline(baseline, monkeypatch, capsys):
    folder, _ = baseline
    before = read_run(folder)
    capsys.readouterr()
    with monkeypatch.context() as patch:
        patch.setenv("PATH", "")
        assert regress(folder, capsys)[1]["now"]["outcome"] == "machine_failed"
        regress(folder, capsys, "--update")
    assert read_run(folder) == before


@pytest.mark.parametrize(
    ("right", "broken", "change"),
    [
        ("FACTOR *", "two *", "not_built"),
        (
            "FACTOR * x[i]",
            "(x[i] > 100.0f ? x[i] : FACTOR * x[i])",
            "wrong",
        ),  # at values that its workloads do not have
    ],
)
def test_a_port_that_was_broken_is_noticed(baseline, capsys, right, broken, change):
    folder, port = baseline
    port.write_text(port.read_text().replace(right, broken))
    capsys.readouterr()
    code, operator = regress(folder, capsys)
    assert (code, operator["change"]) == (1, change)


def test_a_port_that_was_broken_is_noticed_until_that_is_the_baseline(baseline, capsys):
    folder, port = baseline
    port.write_text(port.read_text().replace("FACTOR *", "2.5f *"))
    capsys.readouterr()
    code, operator = regress(folder, capsys, "--junit", str(folder / "junit.xml"))
    assert (code, operator["change"]) == (1, "wrong")
    assert 'failures="1"' in (folder / "junit.xml").read_text()
    assert regress(folder, capsys, "--update")[0] == 0
    assert regress(folder, capsys)[0] == 0


def test_a_search_that_was_cut_goes_on_with_the_suite(bring_up, tmp_path):
    root, _ = bring_up
    run = [
        "suite",
        "run",
        str(root / "mine"),
        "--target",
        "triton",
        "--follow",
        "kernels",
        "--only",
        "right",
        "-o",
        str(tmp_path),
    ]
    run += ["--rounds", "1"]
    assert main(run) == 0
    folder = tmp_path / "triton" / read_run(tmp_path / "triton").results[0].key
    journal = folder / "kernel.triton.search" / "journal.jsonl"
    cut = [line for line in journal.read_bytes().splitlines(keepends=True) if b'"ended"' not in line][:-2]
    journal.write_bytes(b"".join(cut))
    (folder / "result.json").unlink()
    assert main(run) == 0
    lines = journal.read_bytes().splitlines(keepends=True)
    assert lines[: len(cut)] == cut
    assert [json.loads(line)["event"] for line in lines].count("closed") == 2  # the seed's, and that of the round
