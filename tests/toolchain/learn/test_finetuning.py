"""A tiny model with random weights is tuned on steps, and asked what it was taught."""

import sys
from dataclasses import replace

import pytest
import torch

from porter.agent.question import Message, Question, Role, Sampling
from porter.cli.main import main
from porter.errors import InputError, MachineError
from porter.learn.finetuning import Recipe, examples, tune
from porter.learn.step_files import write_steps
from tests.pure.learn.steps_by_hand import step
from tests.toolchain.learn.tiny_model import REPLY, tiny_model

PROMPT = (Message(Role.SYSTEM, "You port."), Message(Role.USER, "Port this."))


@pytest.fixture(scope="module")
def load_local():
    """Loads a model; imported here, for it brings transformers, and each process of a test run collects this file."""
    from porter.agent.local import Local

    return Local.load


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_model(tmp_path_factory.mktemp("model"))


def taught(number=1):
    one = step(number, 2.0)
    return replace(one, situation=replace(one.situation, prompt=PROMPT), action=replace(one.action, edit=REPLY))


def test_what_cannot_be_learnt_from_is_left_out_with_the_reason(folder, load_local):
    tokenizer = load_local(folder).tokenizer
    whole = taught()
    bare = replace(whole, situation=replace(whole.situation, prompt=()))
    silent = replace(whole, action=replace(whole.action, edit=""))
    found, left_out = examples([whole, bare, silent], tokenizer, 1000)
    assert left_out == {"without a prompt": 1, "without an edit": 1}
    (one,) = found
    assert tokenizer.decode(one.prompt) == "<|system|>You port.<|user|>Port this.<|assistant|>"
    assert tokenizer.decode(one.reply) == f"{REPLY}<eos>"
    assert examples([whole], tokenizer, 10)[1] == {"longer than 10 tokens": 1}


def test_a_tuned_model_replies_what_it_was_taught(folder, load_local, tmp_path, capsys):
    pytest.importorskip("trl", reason="the extra `train` is not installed")
    steps = write_steps([taught(number) for number in range(8)], tmp_path / "steps.jsonl")
    out = tmp_path / "tuned"
    words = ["train", "sft", steps, "--model", folder, "--out", out, "--epochs", 60, "--learning-rate", 0.01]
    assert main([str(word) for word in words]) == 0
    assert "tuned on 8 steps" in capsys.readouterr().out
    question = Question("local", PROMPT, Sampling(temperature=0.0, output_tokens=100), 0)
    assert load_local(out).ask(question).text == REPLY


def test_low_rank_changes_are_merged_into_the_weights(folder, load_local, tmp_path):
    pytest.importorskip("trl", reason="the extra `train` is not installed")
    tuned = tune([taught()], folder, tmp_path / "tuned", Recipe(epochs=3, learning_rate=0.01, lora_rank=4))
    before, after = (load_local(path).network.state_dict() for path in (folder, tuned.folder))
    assert before.keys() == after.keys()
    assert any(not torch.equal(before[name], after[name]) for name in before)


def test_without_the_packages_the_command_that_installs_them_is_named(folder, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "trl", None)
    with pytest.raises(MachineError, match="trl") as caught:
        tune([taught()], folder, tmp_path / "tuned", Recipe())
    assert "porter[train]" in caught.value.hint


def test_steps_without_prompts_are_refused(folder, tmp_path):
    pytest.importorskip("trl", reason="the extra `train` is not installed")
    with pytest.raises(InputError, match="1 without a prompt"):
        tune([step(1, 2.0)], folder, tmp_path / "tuned", Recipe())
