"""Replies are judged in a search that really ran, and a tiny model practises on its prompts."""

import json

import pytest

from porter.cli.main import main
from porter.cli.reward import compute_score
from porter.errors import InputError
from porter.learn.judging import exam
from porter.learn.rewards import Reward
from porter.learn.runs import runs_below
from porter.learn.step_files import read_steps
from tests.toolchain.learn.tiny_model import tiny_model

SOURCE = """\
__global__ void scale_kernel(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
}
void scale(const float* x, float* y, int n) { scale_kernel<<<(n + 1023) / 1024, 1024>>>(x, y, n); }
"""


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    """The steps of a search, and the folder below which it lies."""
    folder = tmp_path_factory.mktemp("judged")
    (folder / "scale.cu").write_text(SOURCE)
    words = [
        "migrate",
        folder / "scale.cu",
        "--target",
        "triton",
        "-o",
        folder / "out",
        "--follow",
        "kernels",
        "--size",
        "n=4099",
        "--rounds",
        1,
        "--seed",
        7,
    ]
    assert main([str(word) for word in words]) == 0
    run = folder / "out" / "scale.triton.search"
    assert main(["steps", str(run), "--out", str(folder / "steps.jsonl")]) == 0
    return folder


def test_a_reply_is_worth_what_the_search_made_of_it(searched):
    runs = runs_below(searched)
    steps = [one for one in read_steps(searched / "steps.jsonl") if "2.0" in one.situation.parent.files[0].text]
    step = max(steps, key=lambda one: one.factor)
    assert step.factor > 0
    ratio = compute_score("porter", step.action.edit, exam(step, runs[step.work.run], Reward.RATIO))
    parent = step.situation.parent.scored.score.factor
    assert ratio == pytest.approx(min(5.0, step.factor / parent), rel=1e-6)
    copied = exam(step, runs[step.work.run], Reward.GAIN)
    file = step.situation.parent.files[0]
    whole = f"FILE: {file.name}\nEVOLVE-BLOCK-START\n{file.text.rstrip()}\nEVOLVE-BLOCK-END\n"
    assert compute_score("porter", whole, copied) == 0
    wrong = whole.replace("2.0", "3.0")
    assert wrong != whole
    assert compute_score("porter", wrong, exam(step, runs[step.work.run], Reward.RATIO)) == 0
    assert compute_score("porter", "I cannot.", copied) == 0


@pytest.mark.parametrize("asked", ["{", "[]", '{"run": "x"}'])
def test_what_is_no_exam_is_said_to_be_none(asked):
    with pytest.raises(InputError, match="not an exam of a step"):
        compute_score("porter", "", asked)


def test_a_model_practises_on_the_prompts_of_a_search(searched, tmp_path, capsys):
    pytest.importorskip("trl", reason="the extra `train` is not installed")
    words = ["train", "grpo", searched / "steps.jsonl", "--runs", searched, "--model", tiny_model(tmp_path / "model")]
    words += ["--out", tmp_path / "out", "--updates", 2, "--replies", 2, "--reply-tokens", 8, "--json"]
    assert main([str(word) for word in words]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["prompts"] > 0
    assert said["rewards"] == [0.0, 0.0]  # random letters make no program
    assert (tmp_path / "out" / "model.safetensors").exists()


def test_steps_whose_search_is_not_there_are_left_out(searched, tmp_path, capsys):
    pytest.importorskip("trl", reason="the extra `train` is not installed")
    words = ["train", "grpo", searched / "steps.jsonl", "--runs", tmp_path, "--model", tiny_model(tmp_path / "model")]
    assert main([str(word) for word in [*words, "--out", tmp_path / "out"]]) == 2
    assert "of a search that is not there" in capsys.readouterr().err
