"""A search folded from its journal, and reported as text, Markdown, CSV and JSON."""

import csv
import io
import json
import re
from itertools import pairwise

import pytest

from porter.errors import InputError
from porter.evolve.budget import Budget
from porter.evolve.candidate import Candidate, File, Origin
from porter.evolve.journal import NAME
from porter.evolve.payoff import by_rule, rule_of
from porter.evolve.replay import replayed, searching
from porter.evolve.scored import Measure
from porter.report.search.course import course
from porter.report.search.document import search_document
from porter.report.search.lineage import candidate_diff, lineage
from porter.report.search.tables import payoff_tables, rule_table
from porter.report.search.text import search_csv, search_markdown, search_text
from porter.report.search.words import meaning, visible
from porter.writing.document import encode_json
from tests.pure.report.search_world import SEED, World, drive, place, searched, settings, without_a_score


@pytest.fixture(scope="module")
def native(tmp_path_factory):
    return course(searched(tmp_path_factory.mktemp("native")))


@pytest.fixture(scope="module")
def modelled(tmp_path_factory):
    return course(searched(tmp_path_factory.mktemp("modelled"), World(Measure.MODELLED)))


def test_the_fold_ends_in_the_state_that_a_replay_gives(native):
    state = replayed(native.folder).state
    assert native.champion[0] == state.best
    assert native.state.progress == state.progress
    assert native.trials.keys() == state.members.keys()
    assert [one.closed.round for one in native.rounds] == list(range(state.progress.rounds + 1))


def test_each_round_has_the_best_of_its_end(native):
    assert [one.score.factor for one in native.rounds] == [one.closed.factor for one in native.rounds]
    assert native.rounds[-1].score == native.champion[1]
    assert native.champion[1].factor > native.rounds[0].score.factor


def test_a_line_that_does_not_follow_is_named(tmp_path):
    searched(tmp_path)
    journal = tmp_path / NAME
    changed = journal.read_bytes().replace(b'"added":"new"', b'"added":"better"', 1)
    journal.write_bytes(changed)
    number = next(n for n, line in enumerate(changed.splitlines(), 1) if b'"added":"better"' in line)
    with pytest.raises(InputError, match=rf"{NAME}:{number}: does not follow") as caught:
        course(tmp_path)
    assert "this follows" in caught.value.hint


def test_the_lineage_leads_from_the_seed_to_the_best_by_its_best_parents(native):
    steps = lineage(native)
    assert steps[0].member.candidate == SEED
    assert steps[-1].member == native.champion[0]
    assert len(steps) > 2
    product = 1.0
    for before, step in pairwise(steps):
        assert step.parent == before.member
        assert step.parent.scored.digest in step.member.candidate.origin.parents
        assert [line for line in step.diff if line.startswith("+") and not line.startswith("+++")]
        product *= step.gain
    assert product == pytest.approx(steps[-1].score.factor / steps[0].score.factor)


class Crossing:
    """Has the best of two parents come last, and one of them be of a digest that nobody knows."""

    name = "turns"

    def propose(self, request):
        warps = max(place(parent.candidate)[0] for parent in request.parents)
        parents = ("0" * 16, *(parent.candidate.digest for parent in reversed(request.parents)))
        files = (File("kernel.py", f"{request.round}\n"), File("more.py", ""))
        return [Candidate(files, Origin(self.name, parents, "crossed"), SEED.point | {"warps": 2 ** (warps + 1)})]


class Silent(Crossing):
    name = "spiteful"

    def propose(self, request):
        return []


def test_of_several_parents_the_best_is_followed_and_the_others_are_named(tmp_path):
    world = World()
    declared = settings(world, islands=1, batch=1, parents=4)
    with searching(tmp_path, declared, Budget(rounds=3), [Crossing(), Silent()], [SEED]) as search:
        drive(search, world)
    found = course(tmp_path)
    *_, last = steps = lineage(found)
    assert len(steps) > 1
    parents = [found.member(digest) for digest in last.member.candidate.origin.parents[1:]]
    assert last.parent.scored.score.factor == max(parent.scored.score.factor for parent in parents)
    assert "0" * 16 in last.others
    assert last.parent.scored.digest not in last.others


def test_a_diff_shows_files_that_came_and_went():
    before = Candidate((File("a.py", "one\n"), File("old.py", "gone\n")), Origin("seed"))
    after = Candidate((File("a.py", "one\n"), File("new.py", "come\n")), Origin("turns"))
    lines = list(candidate_diff(before, after))
    assert [line for line in lines if not line.startswith(("+++", "---", "@"))] == ["+come", "-gone"]
    assert not [line for line in lines if "a.py" in line]


def test_a_modelled_cost_is_never_called_a_speed(modelled):
    texts = [search_text(modelled).plain, search_markdown(modelled), encode_json(search_document(modelled))]
    for text in texts:
        assert "modelled" in text
        assert not re.search(r"times as fast|speedup|faster than", text)
    assert "no speed is claimed" in meaning(modelled)


def test_a_time_says_of_what_it_is(tmp_path):
    assert "native on a device" in meaning(course(searched(tmp_path / "n", rounds=1)))
    proxy = meaning(course(searched(tmp_path / "p", World(Measure.PROXY), rounds=1)))
    assert "proxy on a device" in proxy
    assert "not the target's device" in proxy


def test_payoffs_are_those_of_the_journal(native):
    proposers, notes = payoff_tables(native)
    by_name = {row[0]: row for row in proposers.rows}
    assert set(by_name) == {"seed", "turns", "spiteful"}
    proposed = proposers.heads.index("proposed")
    assert sum(int(row[proposed]) for row in proposers.rows) == len(native.trials)
    gains = [float(row[-1]) for row in notes.rows]
    assert gains == sorted(gains, reverse=True)
    assert gains[0] > 0


def test_csv_has_a_line_a_candidate(native):
    rows = list(csv.DictReader(io.StringIO(search_csv(native))))
    assert [row["digest"] for row in rows] == list(native.trials)
    best = next(row for row in rows if row["digest"] == native.champion[0].scored.digest)
    assert float(best["factor"]) == native.champion[1].factor
    assert (best["measure"], best["outcome"], bool(best["elite_of"])) == ("native", "verified", True)
    wrong = [row for row in rows if row["outcome"] == "wrong"]
    assert wrong
    assert {(row["factor"], row["elite_of"], row["added"]) for row in wrong} == {("", "", "no")}


def test_what_waits_for_evaluation_has_no_outcome(tmp_path):
    found = course(searched(tmp_path, killed=3))
    rows = list(csv.DictReader(io.StringIO(search_csv(found))))
    waiting = [row for row in rows if not row["outcome"]]
    assert [row["digest"] for row in waiting] == list(found.state.round.waiting)
    assert waiting
    assert "not ended" in search_text(found).plain


def test_the_document_is_json_that_holds_the_numbers(native):
    document = json.loads(encode_json(search_document(native)).encode(errors="backslashreplace"))
    assert document["best"]["digest"] == document["lineage"][-1]["digest"] == document["rounds"][-1]["best"]
    assert document["measure"] == "native"
    assert len(document["islands"]) == 2
    assert sum(row["proposed"] for row in document["proposers"]) == len(native.trials)
    assert document["spent"]["evaluations"] == len(native.trials)


def test_every_row_of_a_markdown_table_has_its_columns(native):
    tables = re.findall(r"(?:^\|.*\n)+", search_markdown(native), re.MULTILINE)
    assert len(tables) >= 6
    for table in tables:
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1


def test_what_a_model_wrote_stays_on_its_line_and_sends_no_codes(native):
    for text in (search_text(native).plain, search_markdown(native), search_csv(native)):
        text.encode()
        assert "\x1b" not in text
    assert visible("a\n\tb\x1b[0m\ud800") == "a b?[0m?"


def test_a_best_that_is_the_seed_is_said_to_be_it(native, tmp_path):
    assert "the seed itself" in search_text(course(searched(tmp_path, rounds=0))).plain
    assert "the seed itself" not in search_text(native).plain


def test_a_search_in_which_nothing_is_right_says_so(tmp_path):
    found = course(searched(tmp_path, without_a_score(World())))
    text = search_text(found).plain
    assert "nothing was verified" in text
    assert "Lineage" not in text
    assert "out of bounds" in text
    assert search_document(found)["best"] is None
    assert lineage(found) == ()


@pytest.mark.parametrize(
    ("note", "rule"),
    [
        ("intent 12, wider tiles: kThreads: 256 -> 512, norm.width: as it is -> 1024", "wider tiles"),
        ("norm.num_warps: as it is -> 8", "num_warps"),
        ("norm.num_warps: 4 -> 8, scale.num_warps: as it is -> 8 (with ab12)", "num_warps"),
        ("norm.x.loads: evict_last, then evict_first -> as it is", "loads"),
        ("norm.num_warps: 4 -> 8, kThreads: 128 -> 256", "several knobs"),
        ("division by reciprocal: norm", "division by reciprocal"),
        ("Stage the row in shared memory, since it is read twice", ""),
        ("", ""),
    ],
)
def test_a_note_says_which_rule_was_followed(note, rule):
    assert rule_of(note) == rule


def test_what_rules_did_is_what_their_notes_did(native):
    rows = native.state.ledger.rows
    assert sum(row.gain for row in by_rule(rows)) == pytest.approx(sum(row.gain for row in rows))
    table = rule_table(native)
    proposed, paid, success = (table.heads.index(head) for head in ("proposed", "paid", "success"))
    for row in table.rows:
        assert row[success] == f"{int(row[paid]) / int(row[proposed]):.0%}"
