"""The proposer of schedules: around the seed first, nothing twice, and the same for the same request."""

from dataclasses import replace

from porter.evolve.candidate import Candidate, File, Origin
from porter.evolve.proposer import Member, Request
from porter.evolve.proposing.schedule import NAME, ScheduleProposer
from porter.evolve.scored import Scored
from porter.evolve.space import AS_IS, Knob, Space

KNOBS = (Knob("threads", (64, 128, 256, 512), 256), Knob("warps", (AS_IS, 1, 2, 4), AS_IS))
SIZE = 4 * 4 - 2  # of the space, without what is not lowered


def lowered(point):
    return (
        None
        if (point["threads"], point["warps"]) in {(64, 4), (64, 2)}
        else (File("k.py", str(sorted(point.items()))),)
    )


def own(files):
    knob = Knob("stages", (AS_IS, 1, 2), AS_IS)
    return Space((knob,), lambda point: (File("k.py", f"{files[0].text} {point['stages']}"),))


SPACE = Space(KNOBS, lowered)
PROPOSER = ScheduleProposer(SPACE, own)


def member(candidate):
    return Member(candidate, Scored(candidate.digest, "verified", ""))


SEED = member(SPACE.candidate(SPACE.seed(), Origin("seed")))
WRITTEN = member(Candidate((File("k.py", "by a model"),), Origin("llm")))


def request(*parents, count=4, seed=7, seen=frozenset()):
    return Request(count, 1, 0, seed, parents, (), seen=seen)


def test_the_first_candidates_are_neighbours_of_the_seed():
    near = {str(point) for point in SPACE.neighbours(SPACE.seed())}
    found = PROPOSER.propose(request(SEED, count=len(near), seen=frozenset({SEED.candidate.digest})))
    assert {str(dict(candidate.point)) for candidate in found} == near
    assert all(candidate.origin.parents == (SEED.candidate.digest,) for candidate in found)


def test_notes_say_what_was_turned():
    (found,) = PROPOSER.propose(request(SEED, count=1))
    assert found.origin.proposer == NAME
    assert found.origin.note in {SPACE.told(SPACE.seed(), point) for point in SPACE.neighbours(SPACE.seed())}


def test_the_same_request_gets_the_same_answer_and_another_seed_another():
    asked = request(SEED, count=3)
    assert PROPOSER.propose(asked) == ScheduleProposer(SPACE, own).propose(asked)
    assert any(PROPOSER.propose(replace(asked, seed=seed)) != PROPOSER.propose(asked) for seed in range(8))


def test_nothing_is_proposed_twice_until_nothing_is_left():
    seen, members = {SEED.candidate.digest}, [SEED]
    for seed in range(60):
        found = PROPOSER.propose(request(*members[-3:], count=2, seed=seed, seen=frozenset(seen)))
        digests = [candidate.digest for candidate in found]
        assert len(set(digests)) == len(digests)
        assert not seen & set(digests)
        seen.update(digests)
        members += map(member, found)
    assert len(seen) == SIZE
    assert not PROPOSER.propose(request(SEED, seen=frozenset(seen)))


def test_two_points_are_crossed():
    points = [{"threads": 64, "warps": AS_IS}, {"threads": 512, "warps": 4}]
    parents = [member(SPACE.candidate(point, Origin("test"))) for point in points]
    found = [c for seed in range(40) for c in PROPOSER.propose(request(*parents, count=2, seed=seed))]
    crossed = [candidate for candidate in found if len(candidate.origin.parents) == 2]
    assert crossed
    for candidate in crossed:
        assert candidate.origin.parents == tuple(parent.candidate.digest for parent in parents)
        assert all(candidate.point[name] in (points[0][name], points[1][name]) for name in candidate.point)
        assert parents[1].candidate.digest in candidate.origin.note


def test_what_a_model_wrote_is_turned_in_its_own_text():
    found = PROPOSER.propose(request(WRITTEN, SEED, count=3))
    assert {candidate.files[0].text for candidate in found} == {"by a model 1", "by a model 2"}
    assert all(candidate.point == {} for candidate in found)
    assert all(candidate.origin.parents == (WRITTEN.candidate.digest,) for candidate in found)


def test_without_parents_or_knobs_there_is_nothing():
    assert not PROPOSER.propose(request())
    assert not ScheduleProposer(Space((), lambda _: None), lambda _: Space((), lambda _: None)).propose(request(SEED))
