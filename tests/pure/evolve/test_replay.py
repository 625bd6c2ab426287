import json
import random
import shutil
import subprocess
import sys
import time
from itertools import count
from pathlib import Path

import pytest

from porter.errors import InputError
from porter.evolve.budget import Budget
from porter.evolve.journal import NAME, Journal
from porter.evolve.replay import replayed, searching
from tests.pure.evolve.world import SEED_CANDIDATE, SIX_ROUNDS, Clock, World, drive, proposers, run, settings

ROOT = Path(__file__).parents[3]
# Evaluations take a while, so that a kill comes at any moment of a round.
SLOW = """
import sys, time
from pathlib import Path
from tests.pure.evolve import world
evaluate = world.World.evaluate
world.World.evaluate = lambda self, known: time.sleep(0.004) or evaluate(self, known)
world.run(Path(sys.argv[1]))
"""


def elites(folder):
    """What a run found: of each island and cell the owner, and which failures are kept."""
    state = replayed(folder).state
    return [(archive.elites, archive.failures) for archive in state.islands.archives], state.ledger.rows, state.progress


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The folder of an undisturbed run."""
    folder = tmp_path_factory.mktemp("whole")
    run(folder)
    return folder


def journal_of(folder):
    return (folder / NAME).read_bytes()


def test_the_same_seed_writes_the_same_bytes(whole, tmp_path):
    assert run(tmp_path) == journal_of(whole)


def test_a_run_replays_to_its_end_without_evaluating(tmp_path):
    world = World()
    with searching(tmp_path, settings(), SIX_ROUNDS, proposers(), [SEED_CANDIDATE], clock=Clock(world)) as search:
        drive(search, world)
    state = replayed(tmp_path).state
    assert state.best == search.best
    assert state.ended == search.ended
    assert state.members == search.state.members
    assert [a.elites for a in state.islands.archives] == [a.elites for a in search.state.islands.archives]
    assert state.ledger.rows == search.state.ledger.rows
    assert state.progress == search.state.progress


def test_a_run_that_ended_does_not_go_on(whole, tmp_path):
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    assert run(tmp_path) == journal_of(whole)


@pytest.mark.parametrize("seed", range(50))
def test_a_run_that_was_cut_anywhere_goes_on_to_the_same_end(whole, tmp_path, seed):
    moment = random.Random(seed)
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    _cut(tmp_path, moment)
    _die(tmp_path, moment.randrange(10))
    _cut(tmp_path, moment)
    assert run(tmp_path) == journal_of(whole)
    assert elites(tmp_path) == elites(whole)


def _die(folder, evaluations):
    """Go on for so many evaluations, and leave without a word."""
    world = World()
    with searching(folder, settings(), SIX_ROUNDS, proposers(), [SEED_CANDIDATE], clock=Clock(world)) as search:
        while world.evaluations < evaluations and not search.ended:
            search.tell([world.evaluate(known) for known in search.ask(1)])


def _cut(folder, moment):
    """Cut the journal anywhere; candidates that no line names are not there either, but as what was being written."""
    (folder / NAME).write_bytes(journal_of(folder)[: moment.randrange(len(journal_of(folder)) + 1)])
    named = journal_of(folder)
    for place in (folder / "candidates").iterdir():
        if place.name.encode() not in named:
            shutil.move(place, place.with_name(f".making-{place.name}"))


@pytest.mark.parametrize("seed", range(4))
def test_a_process_that_was_killed_goes_on_to_the_same_end(whole, tmp_path, seed):
    moment = random.Random(seed)
    for _ in range(3):
        before = _size(tmp_path)
        process = subprocess.Popen([sys.executable, "-c", SLOW, str(tmp_path)], cwd=ROOT)
        while _size(tmp_path) == before and process.poll() is None:
            time.sleep(0.002)
        time.sleep(moment.uniform(0.0, 0.05))
        process.kill()
        process.wait()
    run(tmp_path)
    assert journal_of(tmp_path) == journal_of(whole)
    assert elites(tmp_path) == elites(whole)


def _size(folder):
    return (folder / NAME).stat().st_size if (folder / NAME).exists() else 0


def test_ctrl_c_ends_with_the_best_so_far_and_the_run_can_go_on(whole, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        _interrupted_after(tmp_path, 9)
    state = replayed(tmp_path).state
    assert state.ended == "interrupted"
    assert state.best.scored.score.factor > 1
    run(tmp_path)
    assert elites(tmp_path) == elites(whole)
    said = [json.loads(line)["event"] for line in journal_of(tmp_path).splitlines()]
    assert said.count("ended") == said.count("granted") == 2


def _interrupted_after(folder, evaluations):
    world = World()
    with searching(folder, settings(), SIX_ROUNDS, proposers(), [SEED_CANDIDATE], clock=Clock(world)) as search:
        while world.evaluations < evaluations:
            search.tell([world.evaluate(known) for known in search.ask(1)])
        raise KeyboardInterrupt


def test_an_interrupt_between_a_change_and_its_line_loses_nothing(whole, tmp_path, monkeypatch):
    write, many = Journal.write, count(1)
    monkeypatch.setattr(Journal, "write", lambda *line: _interrupt() if next(many) == 30 else write(*line))
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path)
    assert replayed(tmp_path).state.ended == "interrupted"
    run(tmp_path)
    assert elites(tmp_path) == elites(whole)


def _interrupt():
    raise KeyboardInterrupt


def test_more_rounds_go_on_from_where_the_first_ended(whole, tmp_path):
    run(tmp_path, Budget(rounds=2))
    run(tmp_path, Budget(rounds=6))
    assert elites(tmp_path) == elites(whole)


def test_a_run_with_other_settings_is_not_mixed_in(tmp_path):
    run(tmp_path)
    with pytest.raises(InputError, match="other settings"):
        run(tmp_path, seed=2)
    assert replayed(tmp_path).state.settings == settings()


@pytest.mark.parametrize(
    ("said", "instead"),
    [
        (b'"added":"new"', b'"added":"no"'),
        (b'"factor":2.', b'"factor":3.'),
        (b'"proposer":"steps","round"', b'"proposer":"random","round"'),
        (b'"because":"6 of 6 rounds are done"', b'"because":"done"'),
        (b'"event":"doubted"', b'"event":"doubted" '),
    ],
)
def test_a_journal_that_does_not_follow_from_itself_is_not_believed(tmp_path, said, instead):
    raw = run(tmp_path)
    assert said in raw
    (tmp_path / NAME).write_bytes(raw.replace(said, instead, 1))
    with pytest.raises(InputError, match=r"line [0-9]+: does not follow"):
        replayed(tmp_path)


@pytest.mark.parametrize("line", [3, 4, 8, 20])
def test_a_line_that_is_missing_or_twice_is_noticed(tmp_path, line):
    lines = run(tmp_path).splitlines(keepends=True)
    for changed in (lines[: line - 1] + lines[line:], lines[:line] + lines[line - 1 :]):
        (tmp_path / NAME).write_bytes(b"".join(changed))
        with pytest.raises(InputError, match="does not follow"):
            replayed(tmp_path)
