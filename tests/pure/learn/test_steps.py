import pytest

from porter.agent.question import Message, Role
from porter.evolve.replay import replayed
from porter.learn.steps import Work, steps
from tests.pure.evolve.world import run

WORK = Work("run", "op.cu", "norm", "triton", "sm_90", "__global__ void f() {}")


@pytest.fixture
def read(tmp_path):
    run(tmp_path, seed=2)
    return replayed(tmp_path)


def test_each_candidate_is_a_step_with_its_outcome_and_the_archives_decision(read):
    found = list(steps(read.lines, WORK))
    assert [step.outcome.digest for step in found] == list(read.state.members)
    assert [step.number for step in found] == list(range(len(found)))
    seed = found[0]
    assert (seed.is_first, seed.situation.parent, seed.action.edit, seed.decision.added) == (True, None, "", "new")
    assert {step.decision.added for step in found} >= {"no", "new"}
    assert all(step.factor == 0 for step in found if step.outcome.outcome != "verified")


def test_a_step_knows_what_was_known_then_and_nothing_later(read):
    known = set()
    for step in steps(read.lines, WORK):
        shown = [one for one in (step.situation.parent, *step.situation.exemplars) if one]
        assert {one.scored.digest for one in shown} <= known
        assert step.is_first or step.situation.parent is not None
        known.add(step.outcome.digest)


def test_what_a_proposer_names_as_the_parent_is_the_parent(read):
    by_digest = read.state.members
    for step in steps(read.lines, WORK):
        named = by_digest[step.outcome.digest].candidate.origin.parents
        if named:
            assert step.situation.parent.scored.digest == named[0]
            assert step.situation.parent.is_seed == (by_digest[named[0]].candidate.origin.proposer == "seed")


def test_a_prompt_is_made_for_every_proposer_with_what_was_tried_before(read):
    asked = []

    def prompt(request, current, tried):
        asked.append((len(request.history), len(tried)))
        return (Message(Role.USER, current.candidate.digest),)

    found = list(steps(read.lines, WORK, prompt))
    assert {step.action.proposer for step in found if step.situation.prompt} == {"random", "steps", "talker"}
    assert all(
        step.situation.prompt[0].text == step.situation.parent.scored.digest for step in found if not step.is_first
    )
    assert all(0 < tried <= known for known, tried in asked)
    assert max(known for known, _ in asked) > 5


def test_what_a_model_was_really_asked_is_kept(read):
    talk = next(step for step in steps(read.lines, WORK) if step.action.proposer == "talker")
    assert talk.action.exchanges[0].prompt.startswith("better, please")


def test_a_journal_that_does_not_follow_makes_no_steps(read):
    broken = [line for line in read.lines if type(line.event).__name__ != "Closed"]
    with pytest.raises(ValueError, match="nobody is asked now"):
        list(steps(broken, WORK))
