"""`porter report`, `runs`, `watch` and `export` on searches."""

import ast
import csv
import io
import json
import os
import signal
import subprocess
import sys
import threading

import pytest

from porter.cli.main import main
from porter.evolve.budget import Budget
from porter.evolve.journal import NAME
from porter.evolve.replay import searching
from porter.evolve.scored import Measure
from porter.report.search.course import following
from porter.report.search.export import winner_texts
from porter.report.search.watch import picture
from tests.pure.report.search_world import (
    ABOUT,
    SEED,
    Spiteful,
    Turns,
    World,
    drive,
    searched,
    settings,
    without_a_score,
)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return kept(searched(tmp_path_factory.mktemp("runs") / "op.search"))


def kept(folder):
    """The folder with what the search was held to."""
    (folder / "original/include").mkdir(parents=True)
    (folder / "original" / ABOUT["source"]).write_text('#include "include/a.h"\n')
    (folder / "original/include/a.h").write_text("// a\n")
    (folder / "original/contract.toml").write_text("[[contract]]\n")
    return folder


def called(capsys, *arguments):
    capsys.readouterr()
    code = main([str(argument) for argument in arguments])
    return code, *capsys.readouterr()


def test_report_writes_each_format(run, tmp_path, capsys):
    code, text, _ = called(capsys, "report", run)
    assert (code, "Lineage of the best" in text) == (0, True)
    assert called(capsys, "report", run, "--format", "markdown")[1].startswith("# soft<max> for triton sm_90\n")
    assert json.loads(called(capsys, "report", run, "--json")[1])["name"] == "soft<max>"
    rows = list(csv.DictReader(io.StringIO(called(capsys, "report", run, "--format", "csv")[1])))
    assert {row["measure"] for row in rows} == {"native", ""}
    page = tmp_path / "page.html"
    assert called(capsys, "report", run, "--format", "html", "-o", page)[0] == 0
    assert page.read_text("utf-8").startswith("<!doctype html>")


def test_a_baseline_is_no_option_for_a_search(run, capsys):
    code, _, complaint = called(capsys, "report", run, "--baseline", "pytorch")
    assert (code, "the port it began with" in complaint) == (2, True)


def test_runs_lists_what_lies_below_a_folder(run, capsys):
    searched(run.parent / "deeper/modelled", World(Measure.MODELLED), rounds=2)
    torn = searched(run.parent / "torn", rounds=1)
    (torn / NAME).write_bytes(b"{}\n")
    code, text, _ = called(capsys, "runs", run.parent)
    lines = text.splitlines()
    assert (code, len(lines)) == (0, 4)
    (own,) = (line for line in lines if str(run) in line)
    assert "6 of 6 rounds are done" in own
    assert " native " in own
    assert [line for line in lines if "cannot be read" in line] == [lines[-1]]
    document = json.loads(called(capsys, "runs", run.parent, "--json")[1])
    assert {one["measure"] for one in document["runs"]} == {"native", "modelled"}
    assert [one["run"] for one in document["broken"]] == [str(torn)]


def test_a_file_of_a_candidate_is_no_run(tmp_path, capsys):
    searched(tmp_path / "op", rounds=1)
    (next((tmp_path / "op/candidates").iterdir()) / NAME).write_text("{}\n")
    assert len(called(capsys, "runs", tmp_path)[1].splitlines()) == 2


def test_runs_of_an_empty_folder_are_none(tmp_path, capsys):
    assert called(capsys, "runs", tmp_path)[:2] == (0, f"there are no searches below {tmp_path}\n")
    assert called(capsys, "runs", tmp_path / "nowhere")[0] == 2


def test_watching_a_search_that_has_ended_tells_all_of_it(run, capsys):
    code, text, _ = called(capsys, "watch", run)
    lines = text.splitlines()
    assert code == 0
    assert lines[0] == "soft<max> for triton sm_90: at most 6 rounds"
    assert lines[-1] == "ended: 6 of 6 rounds are done"
    assert [line for line in lines if line.startswith("round 3: ")]


def test_watching_follows_a_search_line_by_line(tmp_path):
    world = World()
    looks, seen = following(tmp_path), []
    with searching(tmp_path, settings(world), Budget(rounds=3), [Turns(), Spiteful()], [SEED]) as search:
        while not search.ended:
            drive(search, world, search.state.round.number + 1)
            found, events = next(looks)
            seen += events
            assert found.state.progress == search.state.progress
            assert found.state.best == search.best
    assert next(looks)[1] == ()
    assert found.state.ended
    whole, events = next(following(tmp_path))
    assert list(events) == seen
    assert "best so far, from 1.000 to " in picture(whole).plain


def test_watch_waits_for_a_search_and_ends_with_it(tmp_path, capsys):
    world = World()
    with searching(tmp_path, settings(world), Budget(rounds=3), [Turns(), Spiteful()], [SEED]) as search:
        drive(search, world, 1)
        codes = []
        watcher = threading.Thread(target=lambda: codes.append(main(["watch", str(tmp_path), "--every", "0.05"])))
        watcher.start()
        drive(search, world)
    watcher.join(timeout=60)
    assert codes == [0]
    assert capsys.readouterr().out.splitlines()[-1].startswith("ended: ")


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_ends_the_watching_cleanly(tmp_path):
    searched(tmp_path, killed=2)
    command = [sys.executable, "-m", "porter", "watch", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while not process.stdout.readline().startswith("round 1"):
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=60)
    assert (process.returncode, complaint) == (0, "")


def test_a_terminal_gets_a_picture_that_is_left_standing(run):
    ours, theirs = os.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", "LINES": "50"}
    command = [sys.executable, "-m", "porter", "watch", str(run)]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        shown = b""
        try:
            while data := os.read(ours, 4096):
                shown += data
        except OSError:  # the other end is closed
            pass
        os.close(ours)
    assert process.returncode == 0
    assert b"\x1b[" in shown
    assert "▁".encode() in shown
    assert b"ended: 6 of 6 rounds are done" in shown


@pytest.mark.parametrize("command", ["report", "watch", "export"])
def test_a_folder_without_a_search_is_wrong_input(command, tmp_path, capsys):
    options = ("--out", tmp_path / "to") if command == "export" else ()
    code, text, complaint = called(capsys, command, tmp_path, *options)
    assert (code, text) == (2, "")
    assert "Traceback" not in complaint


def test_an_export_holds_port_seed_original_test_and_benchmark(run, tmp_path, capsys):
    to = tmp_path / "to"
    code, document, _ = called(capsys, "export", run, "--out", to, "--json")
    files = {str(path.relative_to(to)) for path in to.rglob("*") if path.is_file()}
    assert code == 0
    assert {str(to / name) for name in files} == set(json.loads(document)["written"])
    own = {"README.md", "test_port.py", "benchmark.py", "original/soft<max>.cu", "original/include/a.h"}
    assert own | {"original/contract.toml", "kernel/kernel.py", "kernel/host.py", "seed/kernel/kernel.py"} <= files
    assert (to / "seed/kernel/kernel.py").read_text() == SEED.files[0].text
    assert (to / "kernel/kernel.py").read_text() != SEED.files[0].text


def words(script):
    """The words of the list `ARGUMENTS` in a script that was exported, paths as they are from its folder."""
    tree = ast.parse(script)
    (made,) = (n.value for n in tree.body if isinstance(n, ast.Assign) and n.targets[0].id == "ARGUMENTS")
    return [e.value if isinstance(e, ast.Constant) else e.args[0].right.value for e in made.elts]


def test_an_export_says_how_the_port_is_called(run, tmp_path, capsys):
    called(capsys, "export", run, "--out", tmp_path / "to")
    tested, timed = (words((tmp_path / "to" / name).read_text()) for name in ("test_port.py", "benchmark.py"))
    common = ["--against", "original/soft<max>.cu", "--include-dir", "original"]
    stated = ["--contract", "original/contract.toml"]
    assert tested == ["kernel", *common, *stated, "--edges", "--target", "triton", "--arch", "sm_90"]
    assert timed == [*common, "--target", "triton", "--arch", "sm_90"]


def test_a_stated_contract_says_at_which_sizes_to_time(tmp_path):
    about = {**ABOUT, "contract": "user", "defines": 'A=1\nB="x y"', "entry": "run"}
    texts = winner_texts(next(following(kept(searched(tmp_path, rounds=1, about=about))))[0])
    for name in ("test_port.py", "benchmark.py"):
        assert "--contract" in words(texts[name])
        assert words(texts[name])[-6:] == ["--entry", "run", "--define", "A=1", "--define", 'B="x y"']


def test_an_export_says_how_it_was_found(run, tmp_path):
    native = winner_texts(next(following(run))[0])["README.md"]
    assert "native on a device" in native
    assert "searched for 6 rounds" in native
    modelled = kept(searched(tmp_path, World(Measure.MODELLED)))
    text = winner_texts(next(following(modelled))[0])["README.md"]
    assert "no speed is claimed" in text
    assert "times as fast" not in text


def test_an_export_needs_something_right_and_what_it_was_held_to(tmp_path, capsys):
    bare = searched(tmp_path / "bare", rounds=1)
    code, _, complaint = called(capsys, "export", bare, "--out", tmp_path / "to")
    assert (code, "there is no" in complaint) == (2, True)
    hopeless = searched(tmp_path / "hopeless", without_a_score(World()))
    code, _, said = called(capsys, "export", hopeless, "--out", tmp_path / "to")
    assert (code, "nothing was verified" in said) == (2, True)
    assert not (tmp_path / "to").exists()


def test_an_export_writes_over_nothing(run, tmp_path, capsys):
    (tmp_path / "mine.txt").write_text("mine")
    code, _, complaint = called(capsys, "export", run, "--out", tmp_path)
    assert (code, "is not empty" in complaint) == (2, True)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_an_export_of_nothing_is_wrong_usage(run, capsys):
    code, _, complaint = called(capsys, "export", run)
    assert (code, "--out" in complaint) == (2, True)
