"""The proposers in a whole search: journalled with all that was said, resumed and replayed without a model."""

import json
import re

import pytest

from porter.agent.plan import document
from porter.evolve.budget import Budget
from porter.evolve.candidate import Candidate, File, Origin
from porter.evolve.features import AXES
from porter.evolve.journal import NAME
from porter.evolve.replay import replayed, searching
from porter.evolve.scored import Measure, Score, Scored
from porter.evolve.settings import Settings
from porter.evolve.space import Knob, Space
from porter.search.agents import rule_plan
from tests.pure.agent.world import PORT, agent_of, cut_body, reply, status, task

SEED = Candidate((File("port.py", PORT),), Origin("seed"))
SPACE = Space(
    (Knob("port.BLOCK", (64, 128, 256, 512), 128), Knob("port.num_warps", (1, 2, 4, 8), 4)),
    lambda point: (File("port.py", PORT.replace("128", str(point["port.BLOCK"])) + f"# {point['port.num_warps']}\n"),),
)


def scored(candidate):
    """Larger blocks are better, up to 1024."""
    block = int(re.search(r"block = (\d+)", candidate.files[0].text)[1])
    if block > 1024:
        return Scored(candidate.digest, "refused", f"{block} is too many")
    factor = block / 128
    return Scored(
        candidate.digest, "verified", "", Score(Measure.NATIVE, factor, factor * 0.99, factor * 1.01), (0, 1, 0)
    )


def run(folder, proposers, seed=SEED, rounds=4, killed_after=1000):
    """A search, or the rest of one; it may be left in the middle of what it does."""
    settings = Settings(3, AXES, tuple(p.name for p in proposers), islands=1, batch=1)
    with searching(folder, settings, Budget(rounds=rounds), proposers, [seed], clock=lambda: 0.0) as search:
        for _ in range(killed_after):
            if search.ended:
                break
            search.tell([scored(candidate) for candidate in search.ask(1)])
        return search


class Doubling:
    """A model that doubles the block of the current program, and at times has a bad day."""

    def __init__(self):
        self.asked = 0

    def __call__(self, handler):
        self.asked += 1
        bad = {
            2: status(429, "busy", Retry_After="0.001"),
            4: status(500, "oops"),
            5: cut_body,
            7: reply("I am sorry."),
        }
        if self.asked in bad:
            return bad[self.asked](handler)
        said = handler.server_said[-1]["messages"][1]["content"]
        block = int(re.findall(r"block = (\d+)", said)[-1])
        text = f"IDEA: twice\n<<<<<<< SEARCH\n    block = {block}\n=======\n    block = {2 * block}\n>>>>>>> REPLACE\n"
        return reply(text)(handler)


def doubling(serve):
    model = Doubling()

    def answer(handler):
        handler.server_said = server.seen
        model(handler)

    server = serve(answer)
    return server


def test_a_search_with_a_model_that_fails_loses_nothing_and_replays_byte_for_byte(serve, tmp_path):
    server, recording = doubling(serve), tmp_path / "recording"
    live = agent_of(server.url, recording=recording).llm(task())
    search = run(tmp_path / "live", [live], rounds=6)
    assert search.state.best.scored.score.factor == 8, "from 128 to 1024"
    journal = (tmp_path / "live" / NAME).read_bytes()
    said = "".join(path.read_text() for path in (tmp_path / "live").rglob("*") if path.is_file())
    for words in ("429: busy", "500: oops", "the connection broke", "I am sorry.", "not used: "):
        assert words in said
    asked = len(server.seen)
    again = agent_of("http://127.0.0.1:9/v1", recording=recording, replay=True).llm(task())
    run(tmp_path / "again", [again], rounds=6)
    assert (tmp_path / "again" / NAME).read_bytes() == journal
    assert len(server.seen) == asked


def test_a_plan_goes_on_where_its_journal_ends(tmp_path):
    def plan():
        return rule_plan(SPACE, lambda _: Space((), lambda _: None), AXES, tries=2)

    seed = SPACE.candidate(SPACE.seed(), Origin("seed"))
    run(tmp_path / "whole", [plan()], seed, rounds=8)
    for _ in range(40):
        run(tmp_path / "parts", [plan()], seed, rounds=8, killed_after=1)

    def lines(folder):
        read = [json.loads(line) for line in (tmp_path / folder / NAME).read_text().splitlines()]
        return [line for line in read if line["event"] not in ("granted", "ended")]

    assert lines("parts") == lines("whole")
    best = replayed(tmp_path / "whole").state.best
    assert best.scored.score.factor == 4
    assert best.candidate.origin.note.startswith("intent 1, wider tiles")


@pytest.mark.parametrize("rounds", [1, 4])
def test_the_plan_can_be_read_in_the_journal(tmp_path, rounds):
    proposer = rule_plan(SPACE, lambda _: Space((), lambda _: None), AXES, tries=2)
    run(tmp_path, [proposer], SPACE.candidate(SPACE.seed(), Origin("seed")), rounds=rounds)
    texts = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    assert proposer.account().memory in texts
    assert document.read(proposer.account().memory).intents
