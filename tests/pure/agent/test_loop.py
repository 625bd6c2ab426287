"""A model beside other proposers in a whole search: asked while candidates are evaluated, and never waited for."""

import itertools
import re
import threading
import time
from collections import Counter
from functools import partial

import pytest

from porter.agent.ledger import Budget as Spending
from porter.evolve.budget import Budget
from porter.evolve.candidate import Candidate, File, Origin
from porter.evolve.events import Asked, Proposed, Told
from porter.evolve.features import AXES
from porter.evolve.replay import replayed, searching
from porter.evolve.scored import Measure, Score, Scored
from porter.evolve.settings import Settings
from porter.search.loop import evaluate_all
from tests.pure.agent.world import PORT, agent_of, reply, status, task

SEED = Candidate((File("port.py", PORT),), Origin("seed"))


class Others:
    """Always has something new, which is never better."""

    name = "others"

    def propose(self, request):
        texts = (f"{PORT}# {request.seed} {n}\n" for n in range(request.count))
        return [Candidate((File("port.py", text),), Origin(self.name)) for text in texts]


def scored(candidate):
    factor = int(re.search(r"block = (\d+)", candidate.files[0].text)[1]) / 128
    return Scored(candidate.digest, "verified", "", Score(Measure.MODELLED, factor, factor, factor), (0, 1, 0))


def run(folder, agent, budget, evaluate=scored, jobs=2, **changed):
    proposers = [Others(), agent.llm(task())]
    settings = Settings(3, AXES, ("others", "llm"), islands=2, batch=1, slow={"llm": 3}, measure_after=0, **changed)
    with searching(folder, settings, budget, proposers, [SEED]) as search:
        evaluate_all(search, lambda _, known: partial(evaluate, known), jobs, lambda _: None)
        return search


def events_of(folder, kind):
    return [line.event for line in replayed(folder).lines if isinstance(line.event, kind)]


def blocks():
    """Replies that ask for ever larger blocks."""
    counter = itertools.count(2)

    def answer(handler):
        text = PORT.replace("128", str(128 * next(counter)))
        reply(f"IDEA: larger\n```python\n{text}```")(handler)

    return answer


def test_candidates_are_evaluated_while_a_model_thinks_and_its_answers_count_when_they_come(serve, tmp_path):
    let_go, larger = threading.Event(), blocks()

    def thinks(handler):
        let_go.wait(20)
        larger(handler)

    told = Counter()

    def evaluate(candidate):
        told[candidate.origin.proposer] += 1
        if told["others"] >= 12:
            let_go.set()
        return scored(candidate)

    search = run(tmp_path, agent_of(serve(thinks).url), Budget(rounds=12), evaluate)
    lines = [line.event for line in replayed(tmp_path).lines]
    asked = next(n for n, event in enumerate(lines) if isinstance(event, Asked))
    answered = next(n for n, event in enumerate(lines) if isinstance(event, Proposed) and event.proposer == "llm")
    assert sum(isinstance(event, Told) for event in lines[asked:answered]) >= 3, "nobody waited"
    assert search.best.candidate.origin.proposer == "llm"
    assert search.ended == "12 of 12 rounds are done"


def test_a_server_that_never_answers_holds_no_search(serve, tmp_path):
    hangs = threading.Event()
    begun = time.monotonic()
    agent = agent_of(serve(lambda _: hangs.wait(60)).url, timeout_s=60)
    search = run(tmp_path, agent, Budget(rounds=3, seconds=1.5))
    assert search.ended == "the 1.5 seconds are over"
    assert time.monotonic() - begun < 20
    hangs.set()


def test_a_model_whose_replies_are_of_no_use_loses_its_share(serve, tmp_path):
    agent = agent_of(serve(reply("I am sorry.")).url, corrections=0)
    run(tmp_path, agent, Budget(rounds=60))
    asked = Counter(event.proposer for event in events_of(tmp_path, Proposed))
    assert asked["llm"] < asked["others"] / 3


@pytest.mark.parametrize(
    ("answer", "changed", "words"),
    [
        (status(500, "oops"), {}, "questions in a row had no answer"),
        (
            reply("x", usage=(900, 900)),
            {"budget": Spending(tokens=40_000), "corrections": 0},
            "the budget of 40000 tokens",
        ),
    ],
)
def test_who_has_nothing_more_to_give_says_so_and_is_not_asked_again(serve, tmp_path, answer, changed, words):
    told = []
    agent = agent_of(serve(answer).url, told, **changed)
    search = run(tmp_path, agent, Budget(rounds=60))
    assert words in search.state.over["llm"]
    assert any(words in text for text in told), "whoever watches hears of it"
    answers = [event for event in events_of(tmp_path, Proposed) if event.proposer == "llm"]
    assert any(words in event.account.over for event in answers)
    assert len(answers) < 20


def test_a_run_that_was_killed_asks_what_was_out_again_and_replays(serve, tmp_path):
    hangs, larger = threading.Event(), blocks()
    first = serve(lambda _: hangs.wait(60))
    proposers = [Others(), agent_of(first.url).llm(task())]
    settings = Settings(3, AXES, ("others", "llm"), islands=2, batch=1, slow={"llm": 3}, measure_after=0)
    with searching(tmp_path, settings, Budget(rounds=5), proposers, [SEED]) as search:
        while not first.seen:
            search.tell([scored(candidate) for candidate in search.ask(1)])
            time.sleep(0.01)
    (out, *_) = [event.step for event in events_of(tmp_path, Asked)]
    second = serve(larger)
    run(tmp_path, agent_of(second.url), Budget(rounds=5))
    hangs.set()
    assert first.seen[0] in second.seen, "the very question"
    assert out in {event.step for event in events_of(tmp_path, Proposed)}
    assert replayed(tmp_path).state.ended
