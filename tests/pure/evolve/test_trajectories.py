import json

from porter.evolve.replay import replayed
from porter.evolve.trajectories import trajectories
from tests.pure.evolve.world import run


def test_each_candidate_is_a_step_from_what_was_known_to_what_came_of_it(tmp_path):
    run(tmp_path, seed=2)
    read = replayed(tmp_path)
    steps = [json.loads(line) for line in trajectories(read.lines)]
    assert [step["outcome"]["digest"] for step in steps] == list(read.state.members)
    seed, later = steps[0], next(step for step in steps if step["action"]["proposer"] == "talker")
    assert seed["state"]["parents"] == []
    assert seed["outcome"]["added"] == "new"
    (parent,) = later["state"]["parents"]
    assert parent["files"] == {f.name: f.text for f in read.state.members[parent["digest"]].candidate.files}
    assert parent["outcome"] == "verified"
    assert later["action"]["exchanges"][0]["prompt"].startswith("better, please")
    assert set(later["action"]["files"]) == {"kernel.py"}


def test_a_state_holds_what_was_known_then(tmp_path):
    run(tmp_path)
    known = set()
    for line in trajectories(replayed(tmp_path).lines):
        step = json.loads(line)
        assert {parent["digest"] for parent in step["state"]["parents"]} <= known
        known.add(step["outcome"]["digest"])
