"""A plan kept by rules: several tries an intent, judged by what is measured, and all of it in a document."""

import json
import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from porter.agent.plan import document
from porter.agent.plan.rules import RulePlanner, rules
from porter.agent.plan.world import Attempt, Intent, Program, State, World, program_of
from porter.errors import InputError
from porter.evolve.axis import Axis
from porter.evolve.candidate import Candidate, File, Origin
from porter.evolve.features import AXES
from porter.evolve.proposer import Member
from porter.evolve.scored import Measure, Score, Scored
from porter.evolve.space import AS_IS, Knob, Space
from porter.search.agents import rule_plan
from tests.pure.agent.world import member, request

KNOBS = (
    Knob("soft.BLOCK", (64, 128, 256, 512), 128),
    Knob("soft.num_warps", (AS_IS, 1, 2, 4, 8), AS_IS),
    Knob("soft.x.loads", (AS_IS, "evict_first", "evict_last"), AS_IS),
)
NOWHERE = Space((), lambda _: None)


def lowered(point):
    return (File("port.py", "".join(f"{name} = {value}\n" for name, value in sorted(point.items()))),)


SPACE = Space(KNOBS, lowered, lambda point: point["soft.BLOCK"] != 256 or point["soft.num_warps"] != 8)


def plan(**changed):
    return rule_plan(SPACE, lambda _: NOWHERE, changed.pop("axes", ()), **changed)


def seed():
    return told(SPACE.candidate(SPACE.seed(), Origin("seed")), 1.0)


def told(candidate, factor=None, *, width=0.02, outcome="wrong", because="off", feedback="", cell=()):
    if factor is None:
        return Member(candidate, Scored(candidate.digest, outcome, because))
    score = Score(Measure.NATIVE, factor, factor * (1 - width), factor * (1 + width))
    return Member(candidate, Scored(candidate.digest, "verified", "", score, cell, feedback))


def world_of(proposer):
    return document.read(proposer.account().memory)


def asked(proposer, parents, came=(), memory="", count=3, seen=()):
    return proposer.propose(request(parents=parents, told=came, memory=memory, count=count, seen=seen))


def test_the_most_promising_intent_is_made_several_times_before_anything_else():
    proposer = plan(tries=2)
    first = asked(proposer, [seed()], count=2)
    assert [c.point["soft.BLOCK"] for c in first] == [256, 512], "wider tiles, by one step and by two"
    assert {c.origin.parents for c in first} == {(seed().candidate.digest,)}
    assert all(c.origin.note.startswith("intent 1, wider tiles: soft.BLOCK: 128 -> ") for c in first)
    assert world_of(proposer).intent(1).state is State.OPEN


def test_few_programs_at_once_are_the_largest_there_are():
    lanes = told(seed().candidate, 1.0, cell=(0, 2, 0))
    made = asked(plan(tries=2, axes=AXES), [lanes], count=4)
    few = [c for c in made if ", few programs at once:" in c.origin.note]
    assert [(c.point["soft.BLOCK"], c.point["soft.num_warps"]) for c in few] == [(512, 8)]


def test_an_idea_outlives_a_bad_first_try():
    proposer = plan(tries=2)
    bad, good = asked(proposer, [seed()], count=2)
    memory = proposer.account().memory
    asked(proposer, [seed()], [told(bad), told(good, 1.3)], memory)
    intent = world_of(proposer).intent(1)
    assert intent.state is State.KEPT
    assert intent.judged == "1.3 times as good as its base, 1.15 expected"
    assert [a.outcome for a in intent.attempts] == ["wrong", "verified"]


def test_what_paid_is_what_the_next_intents_stand_on():
    proposer = plan(tries=1)
    (wider,) = asked(proposer, [seed()], count=1)
    again = asked(proposer, [seed()], [told(wider, 1.3)], proposer.account().memory, seen=[wider.digest])
    assert {c.origin.parents for c in again} == {(wider.digest,)}
    grown = [intent for intent in world_of(proposer).intents if intent.base == wider.digest]
    assert [intent.parent for intent in grown] == [1] * sum(rule.change != "most" for rule in rules())


def test_a_gain_within_the_noise_is_none():
    proposer = plan(tries=1)
    (wider,) = asked(proposer, [seed()], count=1)
    asked(proposer, [seed()], [told(wider, 1.03)], proposer.account().memory, seen=[wider.digest])
    intent = world_of(proposer).intent(1)
    assert (intent.state, intent.judged) == (State.DROPPED, "1.03 times as good as its base, 1.15 expected")


def test_why_all_tries_failed_is_kept():
    proposer = plan(tries=2)
    tries = asked(proposer, [seed()], count=2)
    came = [told(tries[0], because="off by 3"), told(tries[1], outcome="not_built", because="line 4")]
    asked(proposer, [seed()], came, proposer.account().memory)
    assert world_of(proposer).intent(1).judged == "wrong: off by 3; not_built: line 4"


def test_outcomes_move_what_is_expected_of_the_kind():
    proposer = plan(tries=1)
    (wider,) = asked(proposer, [seed()], count=1)
    other = told(SPACE.candidate({**SPACE.seed(), "soft.num_warps": 2}, Origin("schedule")), 1.2)
    world = World(1).planted(Intent(0, 0, "wider tiles", "w", 1.15, other.candidate.digest), program_of(other))
    world = world.planted(Intent(0, 0, "wider tiles", "w", 1.15, seed().candidate.digest), program_of(seed()))
    world = world.attempted(world.intent(2), Attempt(wider.digest))
    assert world.told(told(wider, 0.5)).intent(1).expected == pytest.approx(math.sqrt(1.15 * 0.5))


def test_a_program_that_is_drawn_again_has_its_intents_tried_further():
    proposer = plan(tries=1)
    made, memory, seen = [], "", set()
    for _ in range(12):
        new = asked(proposer, [seed()], [told(c, 0.9) for c in made], memory, count=2, seen=seen)
        made, memory, seen = new, proposer.account().memory, seen | {c.digest for c in new}
    attempts = {i.kind: len(i.attempts) for i in world_of(proposer).intents}
    assert attempts["wider tiles"] == 2, "one try each, then the rest of what there is"
    assert attempts["more warps"] == 2
    assert all(i.exhausted for i in world_of(proposer).intents)


def test_an_intent_kept_by_a_second_measurement_of_its_base_has_no_program_to_build_on():
    proposer, base = plan(tries=1), seed()
    (wider,) = asked(proposer, [base], count=1)
    made, came, memory, seen = [wider], [told(wider, 1.001)], proposer.account().memory, {wider.digest}
    for _ in range(6):  # all else fails, until the base is drawn again with a lower score than it had
        made = asked(proposer, [told(base.candidate, 0.8)], came, memory, count=2, seen=seen)
        came, memory, seen = [told(c) for c in made], proposer.account().memory, seen | {c.digest for c in made}
    intent = world_of(proposer).intent(1)
    assert intent.state is State.KEPT
    assert intent.best.digest == wider.digest
    assert wider.digest not in world_of(proposer).programs
    assert not [i for i in world_of(proposer).intents if i.parent == 1]


def test_nothing_illegal_and_nothing_seen_is_proposed_and_it_ends():
    proposer, seen, memory = plan(tries=3), set(), ""
    for _ in range(60):
        made = asked(proposer, [seed()], memory=memory, count=4, seen=seen)
        assert all(SPACE.legal(c.point) for c in made)
        assert not {c.digest for c in made} & seen
        seen |= {c.digest for c in made}
        memory = proposer.account().memory
        if not made:
            break
    assert not made
    assert len(seen) > 6


def test_the_same_request_has_the_same_answer_whoever_is_asked():
    one, other = plan(tries=2), plan(tries=2)
    made = asked(one, [seed()])
    memory = one.account().memory
    came = [told(c, 1.0 + 0.1 * n) for n, c in enumerate(made)]
    assert asked(one, [seed()], came, memory) == asked(other, [seed()], came, memory)
    assert one.account() == other.account()


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 3), st.lists(st.tuples(st.floats(0.3, 3), st.integers(0, 3), st.booleans()), max_size=30))
def test_whatever_comes_of_it_the_plan_goes_on(tries, turns):
    """Outcomes of any kind, late or never, and programs that are measured again: each document is read and written."""
    proposer, memory, known, out = plan(tries=tries), "", [seed()], []
    for factor, kind, late in turns:
        came = [] if late else [told(c, None if kind == 0 else factor) for c in out]
        out = out if late else []
        known += [m for m in came if m.scored.score]
        parent = told(known[kind % len(known)].candidate, factor)
        seen = {m.candidate.digest for m in known} | {c.digest for c in out}
        made = asked(proposer, [parent], came, memory, count=2, seen=seen)
        assert all(SPACE.legal(c.point) and c.digest not in seen for c in made)
        out = [*out, *made]
        memory = proposer.account().memory
        assert document.written(document.read(memory)) == memory


def test_it_climbs():
    """A small search by hand: what the plan proposes is told back, and the best is the next parent."""

    def worth(point):
        warps = {AS_IS: 4}.get(point["soft.num_warps"], point["soft.num_warps"])
        return (
            (1 + point["soft.BLOCK"] / 512)
            * (1 + 0.1 * math.log2(warps))
            * (1.1 if "first" in point["soft.x.loads"] else 1)
        )

    proposer, memory, came, known = plan(tries=2), "", (), {seed().candidate.digest: seed()}
    start = worth(SPACE.seed())
    for _ in range(12):
        best = max(known.values(), key=lambda m: m.scored.score.factor)
        made = asked(proposer, [best], came, memory, count=2, seen=known)
        came = [told(c, worth(c.point) / start) for c in made]
        known |= {m.candidate.digest: m for m in came}
        memory = proposer.account().memory
    every = [SPACE.legal(p) and worth(p) / start for p in _all_points()]
    assert max(m.scored.score.factor for m in known.values()) == pytest.approx(max(every))
    assert len(known) < sum(map(bool, every)) / 2


def _all_points():
    return [
        {"soft.BLOCK": b, "soft.num_warps": w, "soft.x.loads": h}
        for b in KNOBS[0].values
        for w in KNOBS[1].values
        for h in KNOBS[2].values
    ]


def test_places_in_the_archive_decide_what_is_worth_trying():
    def kinds(cell, axes=AXES):
        base = told(seed().candidate, 1.0, cell=cell)
        revised = RulePlanner(axes).revise(World(), request(parents=[base]))
        assert revised.said == ()
        return {intent.kind for intent in revised.world.intents}

    everything = {rule.kind for rule in rules()}
    together = {"few programs at once"}
    assert kinds((0, 0, 0)) == everything - {"more stages", "unrolled loops"} - together
    assert kinds((0, 1, 0)) == everything - together
    assert kinds((0, 2, 0)) == everything
    silent = kinds((0,), (Axis("complexity", ("small",)),))
    assert silent == everything - together, "axes that say nothing forbid nothing but a leap"


def test_the_places_the_rules_name_exist():
    places = {f"{axis.name}: {label}" for axis in AXES for label in axis.labels}
    assert {place for rule in rules() for place in rule.when} <= places


def test_no_more_is_expected_than_the_bandwidth_leaves():
    base = told(
        seed().candidate,
        1.0,
        feedback="a: 5 us, 97% of the bandwidth of a copy; b: 4 us, 80% of the bandwidth of a copy",
    )
    world = RulePlanner().revise(World(), request(parents=[base])).world
    assert max(intent.expected for intent in world.intents) == 1.15
    base = told(seed().candidate, 1.0, feedback="a: 5 us, 97% of the bandwidth of a copy")
    world = RulePlanner().revise(World(), request(parents=[base])).world
    assert max(intent.expected for intent in world.intents) == pytest.approx(1 / 0.97)


def test_a_program_of_no_space_has_no_rules_and_ends():
    foreign = member("something else\n")
    proposer = plan()
    assert not asked(proposer, [foreign])
    assert {i.state for i in world_of(proposer).intents} == {State.DROPPED}
    assert {i.judged for i in world_of(proposer).intents} == {"nothing to change"}


def test_without_a_parent_nothing_is_planned():
    proposer = plan()
    assert not asked(proposer, [])
    assert world_of(proposer).intents == ()


_SCORES = st.none() | st.floats(0.1, 9).map(lambda f: Score(Measure.MODELLED, f, f, f))
_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_ATTEMPTS = st.builds(Attempt, _TEXT, _TEXT, _TEXT, _SCORES)
_INTENTS = st.builds(
    Intent,
    id=st.integers(1, 9),
    parent=st.integers(0, 9),
    kind=_TEXT,
    hypothesis=_TEXT,
    expected=st.floats(0.5, 9),
    base=st.just("b"),
    preconditions=st.lists(_TEXT, max_size=2).map(tuple),
    attempts=st.lists(_ATTEMPTS, max_size=3).map(tuple),
    state=st.sampled_from(State),
    judged=_TEXT,
)
_PROGRAM = Program((File("a.py", "x\n"),), {"k": 1, "w": "as it is"}, Score(Measure.PROXY, 1, 0.9, 1.1), "said", (0, 1))


@given(st.lists(_INTENTS, max_size=4).map(tuple), st.integers(1, 5), st.booleans())
def test_a_plan_and_its_document_are_the_same(intents, tries, goes_on):
    world = World(tries, goes_on, intents, {"b": _PROGRAM}, 1)
    text = document.written(world)
    assert document.read(text) == world
    assert document.written(document.read(text)) == text


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version": 9}', '{"version": 1, "tries": 3, "intents": [{}]}'])
def test_a_document_that_is_none_is_refused(text):
    with pytest.raises(InputError, match="not a plan of porter's"):
        document.read(text)


def test_programs_that_nothing_stands_on_are_not_carried_along():
    proposer = plan(tries=1)
    (wider,) = asked(proposer, [seed()], count=1)
    asked(proposer, [seed()], [told(wider, 0.7)], proposer.account().memory, seen=[wider.digest])
    programs = json.loads(proposer.account().memory)["programs"]
    assert set(programs) == {seed().candidate.digest}
    assert replace(seed().candidate, origin=Origin("x")) == Candidate(
        tuple(File(**f) for f in programs[seed().candidate.digest]["files"]),
        Origin("x"),
        programs[seed().candidate.digest]["point"],
    )
