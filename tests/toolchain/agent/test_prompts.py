"""The prompts of five operators as they are sent: reviewed as text, and held to what the suite says of them."""

import re
from pathlib import Path

import pytest

from porter.registry import loadable_backends
from tests.toolchain.agent.asking import prompt_of

OPERATORS = (
    "norm/layer_norm",
    "activation/softmax",
    "reduction/cumsum_reverse",
    "reduction/max_pool2d",
    "loss/mse_loss",
)
FACTS = ("Hardware", "The language", "What makes such kernels fast")


@pytest.mark.parametrize("operator", OPERATORS)
def test_the_prompt_of_an_operator(operator, golden, tmp_path):
    system, user = prompt_of(operator, tmp_path)
    name = operator.rpartition("/")[2]
    golden(Path(__file__).parent / "prompts" / f"{name}.txt", _without_the_port(user))
    golden(Path(__file__).parent / "prompts" / "system.txt", system)
    (needed, limit_us) = re.search(r"results included, is ([\d.]+) MB.* takes ([\d.]+) us", user).groups()
    assert float(limit_us) == pytest.approx(float(needed) / 4.2, rel=1e-3)
    moved = float(re.search(r"a call makes \d+ launch(?:es)? and moves ([\d.]+) MB", user)[1])
    assert moved >= 0.99 * float(needed), "nobody moves less than he has to"


def _without_the_port(text: str) -> str:
    """Its text and its numbers are the lowering's and the compiler's, and are tested there."""
    text = re.sub(r"(?<=^```python\n).*?(?=^```$)", "[the port]\n", text, flags=re.M | re.S)
    before, said, after = text.partition("What is known of its run:")
    run, reply, rest = after.partition("# How to reply")
    return before + said + re.sub(r"(?<![\w.])\d+(\.\d+)?(?![\w.]*`)", "N", run) + reply + rest


@pytest.mark.parametrize("backend", loadable_backends(), ids=lambda backend: backend.name)
def test_facts_on_hardware_and_language_are_the_larger_part_of_a_brief(backend):
    for target in backend.targets():
        brief = backend.brief(target)
        parts = re.split(r"^## ", brief, flags=re.M)
        facts = sum(len(part) for part in parts if part.startswith(FACTS))
        assert facts >= 0.6 * len(brief)
        assert "None" not in brief
