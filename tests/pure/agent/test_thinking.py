"""A plan kept by a model, over a real connection: its revisions are believed as far as they make sense."""

import json

import pytest

from porter.agent.complaint import ReplyError
from porter.agent.plan import document
from porter.agent.plan.revision import revised
from porter.agent.plan.world import Attempt, Intent, State, World, program_of
from porter.agent.question import Answer, Ending
from tests.pure.agent.world import EDIT, PORT, agent_of, member, reply, request, status, task

ADD = {"add": [{"parent": 0, "hypothesis": "Use larger blocks.", "expected": 1.4, "preconditions": ["n is large"]}]}


def answer(document, around="So:\n```json\n{}\n```\nGood."):
    return around.replace("{}", json.dumps(document))


def prompts(server):
    return [sent["messages"][1]["content"] for sent in server.seen]


def test_a_plan_is_asked_for_then_the_programs_of_its_intents(serve):
    server = serve(reply(answer(ADD)), reply(EDIT), reply(EDIT.replace("256", "512")))
    proposer = agent_of(server.url, attempts=2).plan(task())
    made = proposer.propose(request(count=2))
    assert ["256" in made[0].files[0].text, "512" in made[1].files[0].text] == [True, True]
    assert made[0].origin.proposer == "model plan"
    assert made[0].origin.note == "intent 1: larger blocks read more at once"
    planning, first, _ = prompts(server)
    assert "Nothing is planned yet." in planning
    assert "Use larger blocks. It needs: n is large." in first
    (intent,) = document.read(proposer.account().memory).intents
    assert (intent.expected, intent.preconditions) == (1.4, ("n is large",))
    assert [a.digest for a in intent.attempts] == [c.digest for c in made]
    assert proposer.account().tokens == 3 * 18


def test_the_tree_is_revised_when_something_was_judged_and_only_then(serve):
    server = serve(reply(answer(ADD)), reply(EDIT), reply(answer({"drop": []})))
    proposer = agent_of(server.url, attempts=1).plan(task())
    (made,) = proposer.propose(request())
    wrong = member(made.files[0].text, outcome="wrong", because="off by 3")
    proposer.propose(request(told=[wrong], memory=proposer.account().memory, seen=[made.digest]))
    assert len(server.seen) == 3
    base = "the current program, score 1 (95 %: 0.98 to 1.02)"
    told = f"#1, dropped: Use larger blocks. It stands on {base}. Expected 1.4. Needs: n is large."
    assert f"{told} [wrong: off by 3]" in prompts(server)[2]


def test_a_failed_program_of_an_intent_is_mended(serve):
    server = serve(reply(answer(ADD)), reply(EDIT), reply("```python\nmended = 1\n```"))
    proposer = agent_of(server.url, attempts=2).plan(task())
    (made,) = proposer.propose(request())
    wrong = member(made.files[0].text, outcome="not_built", because="no such name")
    (mended,) = proposer.propose(
        request(told=[wrong], memory=proposer.account().memory, seen=[made.digest])  # it ran on another island
    )
    assert mended.origin.parents == (made.digest,)
    assert "this very idea: not_built, no such name" in prompts(server)[2]
    assert "mend it" in prompts(server)[2]


def test_one_good_idea_with_four_bad_first_programs_is_kept(serve):
    """A model whose first four programs of an idea are wrong, whose fifth is right and whose sixth is better still."""
    programs = [reply(f"```python\nattempt = {n}\n```") for n in range(1, 12)]
    server = serve(reply(answer(ADD)), *programs, reply(answer({})))
    proposer, memory, came, seen, states = agent_of(server.url).plan(task()), "", [], [], []
    outcomes = [None, None, None, None, 1.4, 1.9, 1.9, None, 1.8, None]
    parents = []
    for factor in outcomes:
        (made,) = proposer.propose(request(told=came, memory=memory, seen=seen))
        text, seen = made.files[0].text, [*seen, made.digest]
        came = [member(text, factor=factor) if factor else member(text, outcome="wrong", because=f"off in {text}")]
        parents.append(made.origin.parents[0])
        memory = proposer.account().memory
        states.append(document.read(memory).intent(1).state)
    assert set(states) == {State.OPEN}
    base = member().candidate.digest
    fifth, sixth, eighth, tenth = (seen[n - 1] for n in (5, 6, 8, 10))
    assert parents == [base, *seen[:4], fifth, sixth, sixth, eighth, sixth]
    assert "this very idea: wrong, off in attempt = 4" in prompts(server)[5]
    came = [member("attempt = 10\n", outcome="wrong")]
    (made,) = proposer.propose(request(told=came, memory=memory, seen=seen))
    assert made.origin.parents == (tenth,)
    proposer.propose(
        request(told=[member(made.files[0].text)], memory=proposer.account().memory, seen=[*seen, made.digest])
    )
    intent = document.read(proposer.account().memory).intent(1)
    assert (intent.state, intent.best.digest, len(intent.attempts)) == (State.KEPT, sixth, 11)


def test_a_revision_that_makes_no_sense_is_told_and_put_right(serve):
    server = serve(reply("Let me think."), reply(answer(ADD)), reply(EDIT))
    proposer = agent_of(server.url).plan(task())
    assert len(proposer.propose(request())) == 1
    assert "holds no JSON document" in server.seen[1]["messages"][3]["content"]
    assert "not used: The reply holds no JSON document" in proposer.account().exchanges[1].reply


def test_a_model_that_does_not_answer_leaves_the_plan_as_it_was(serve):
    first = serve(reply(answer(ADD)), status(400, "no"))
    proposer = agent_of(first.url, attempts=1).plan(task())
    assert not proposer.propose(request())
    memory = proposer.account().memory
    assert document.read(memory).intent(1).attempts == (), "what was not answered is no try"
    assert proposer.account().exchanges[-1].reply == "no answer: the endpoint answers 400: no"
    again = agent_of(serve(reply(EDIT)).url, attempts=1).plan(task())
    assert len(again.propose(request(memory=memory))) == 1


def test_replies_without_a_program_are_tries_of_the_intent(serve):
    server = serve(reply(answer(ADD)), reply("sorry"))
    proposer = agent_of(server.url, corrections=0, attempts=2).plan(task())
    assert not proposer.propose(request())
    (intent,) = document.read(proposer.account().memory).intents
    assert intent.state is State.DROPPED
    assert intent.judged.startswith("no program: not used: The reply holds no EVOLVE-BLOCK")


def world():
    base, better = member(), member(PORT + "# better\n", factor=1.3)
    planted = World(tries=1).planted(Intent(0, 0, "", "first", 1.2, base.candidate.digest), program_of(base))
    planted = planted.planted(Intent(0, 0, "", "second", 1.2, base.candidate.digest), program_of(base))
    tried = planted.attempted(planted.intent(1), Attempt(better.candidate.digest))
    return tried.told(better)


def test_intents_grow_from_what_paid():
    row = {"parent": 1, "hypothesis": "More of it.", "expected": 1.1}
    grown = revised(world(), Answer(answer({"add": [row]})), member()).intent(3)
    assert grown.base == member(PORT + "# better\n").candidate.digest
    assert grown.parent == 1


def test_intents_are_dropped_and_expected_less_of():
    changed = {"drop": [{"id": 2, "because": "it  cannot\u001b[31m be"}]}
    assert revised(world(), Answer(answer(changed)), member()).intent(2).judged == "it cannot [31m be"
    assert revised(world(), Answer(answer({"revise": [{"id": 2, "expected": 3}]})), member()).intent(2).expected == 3.0
    row = {"id": 2, "hypothesis": "Half of it.", "preconditions": ["n is even"]}
    reworded = revised(world(), Answer(answer({"revise": [row]})), member()).intent(2)
    assert (reworded.hypothesis, reworded.preconditions, reworded.expected) == ("Half of it.", ("n is even",), 1.2)
    assert revised(world(), Answer(answer({})), member()) == world()
    assert revised(world(), Answer("{}"), member()) == world(), "no fence is needed where there is nothing else"


NONSENSE = {
    "no JSON": "```json\n{\n```",
    "an open fence": "```json\n{}\n",
    "a list": "```json\n[]\n```",
    "depth": "```json\n" + "[" * 100_000 + "\n```",
    "an unknown intent": answer({"drop": [{"id": 7}]}),
    "a judged intent": answer({"revise": [{"id": 1, "expected": 2}]}),
    "no number": answer({"revise": [{"id": 2, "expected": "much"}]}),
    "not finite": answer({"revise": [{"id": 2, "expected": float("nan")}]}),
    "infinite": answer({"add": [{"parent": float("inf"), "hypothesis": "x", "expected": 1}]}),
    "too much": answer({"revise": [{"id": 2, "expected": 1e9}]}),
    "no words": answer({"revise": [{"id": 2, "hypothesis": " "}]}),
    "no hypothesis": answer({"add": [{"parent": 0, "expected": 2}]}),
    "an empty hypothesis": answer({"add": [{"parent": 0, "expected": 2, "hypothesis": " "}]}),
    "a parent without a program": answer({"add": [{"parent": 2, "hypothesis": "x", "expected": 2}]}),
    "no parent": answer({"add": [{"parent": 9, "hypothesis": "x", "expected": 2}]}),
    "no object": answer({"add": ["faster"]}),
    "no list": answer({"add": {"hypothesis": "x"}}),
    "a number": answer({"drop": 3}),
}


@pytest.mark.parametrize("case", NONSENSE)
def test_nonsense_changes_nothing_and_is_said(case):
    with pytest.raises(ReplyError) as raised:
        revised(world(), Answer(NONSENSE[case]), member())
    assert raised.value.told


def test_a_plan_that_was_cut_off_is_not_believed():
    with pytest.raises(ReplyError, match="limit of tokens"):
        revised(world(), Answer(answer(ADD), Ending.CUT), member())
