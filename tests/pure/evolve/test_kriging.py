import math

import pytest

from porter.evolve.candidate import File, Origin
from porter.evolve.proposer import Member, Request
from porter.evolve.proposing.kriging import KrigingProposer
from porter.evolve.scored import Measure, Score, Scored
from porter.evolve.space import AS_IS, Knob, Space

KNOBS = (
    Knob("block", (32, 64, 128, 256, 512), 32),
    Knob("items", (1, 2, 4, 8), 1),
    Knob("hint", (AS_IS, "evict_first", "evict_last"), AS_IS),
    Knob("warps", (AS_IS, 1, 2, 4, 8), AS_IS),
)
BEST = {"block": 256, "items": 4, "hint": "evict_last", "warps": 4}


def _lower(point):
    return (File("kernel.py", repr(sorted(point.items(), key=str))),)


SPACE = Space(KNOBS, _lower, lambda point: point["block"] * point["items"] <= 2048)


def _worth(point):
    apart = [abs(knob.values.index(point[knob.name]) - knob.values.index(BEST[knob.name])) for knob in KNOBS]
    return math.exp2(-0.3 * sum(apart))


def _never(_):
    return False


def _evaluated(candidate, crashes=_never):
    if crashes(candidate.point):
        return Member(candidate, Scored(candidate.digest, "crashed", "out of resources"))
    factor = _worth(candidate.point) / _worth(SPACE.seed())
    score = Score(Measure.NATIVE, factor, factor * 0.99, factor * 1.01)
    return Member(candidate, Scored(candidate.digest, "verified", "", score))


def _seed():
    return _evaluated(SPACE.candidate(SPACE.seed(), Origin("seed")))


def _request(history, seed=1, count=1):
    digests = frozenset(member.candidate.digest for member in history)
    return Request(count, 1, 0, seed, (), (), history=tuple(history), seen=digests)


def _walked(evaluations, crashes=_never):
    proposer, history = KrigingProposer(SPACE), [_seed()]
    for step in range(evaluations):
        (candidate,) = proposer.propose(_request(history, step))
        history.append(_evaluated(candidate, crashes))
    return history


def test_it_finds_the_best_of_285_points_in_30():
    assert sum(1 for b in KNOBS[0].values for i in KNOBS[1].values if b * i <= 2048) * 15 == 285
    assert BEST in [member.candidate.point for member in _walked(30)]


def test_what_it_proposes_is_new_legal_and_of_a_known_parent():
    history = _walked(15)
    digests = [member.candidate.digest for member in history]
    assert len(set(digests)) == len(digests)
    for number, member in enumerate(history[1:], start=1):
        assert SPACE.legal(member.candidate.point)
        assert member.candidate.origin.parents[0] in digests[:number]


def test_the_same_request_has_the_same_answer():
    request = _request(_walked(6), count=3)
    answer = KrigingProposer(SPACE).propose(request)
    assert answer == KrigingProposer(SPACE).propose(request)
    assert len({candidate.digest for candidate in answer}) == 3


def test_a_failure_lowers_what_is_expected_around_it():
    history = _walked(8)
    (wanted,) = KrigingProposer(SPACE).propose(_request(history))
    around = [SPACE.candidate(point, Origin("test")) for point in SPACE.neighbours(wanted.point)]
    failed = [_evaluated(candidate, lambda _: True) for candidate in around]
    known = {member.candidate.digest for member in history}
    request = _request([*history, *(member for member in failed if member.candidate.digest not in known)])
    assert KrigingProposer(SPACE).propose(request)[0] != wanted


@pytest.mark.parametrize("history", [[], [_evaluated(_seed().candidate, lambda _: True)]])
def test_where_nothing_is_known_to_be_right_it_has_nothing_to_say(history):
    assert KrigingProposer(SPACE).propose(_request(history)) == ()


def test_a_space_without_knobs_has_nothing_to_turn():
    assert KrigingProposer(Space((), _lower)).propose(_request([_seed()])) == ()
