"""What is followed on a device, where launches do not say what they touch."""

from __future__ import annotations

import pytest
import torch

from porter.simt.job import FaultKind


@pytest.fixture(scope="module")
def follower():
    from triton.runtime.jit import JITFunction

    from porter_triton.judging.native import Follower

    launch = JITFunction.run
    yield Follower()
    JITFunction.run = launch


def own(follower, x):
    y = torch.empty_like(x)
    follower.launched((x, y), {"n": x.numel()})
    return y


def tuned(follower, x):
    rows = torch.arange(len(x)) * 2 % len(x)
    scale = torch.linspace(0, 1, 32) / 32
    work = torch.zeros(len(x) * 4).view(len(x), 4)
    follower.launched((x.float().contiguous(), rows), {"scale": scale, "work": work})
    return work.t().contiguous()


def counted(follower, x):
    starts = torch.cumsum(torch.ones(4, dtype=torch.int64), 0)
    return own(follower, x[:4]).view(-1), starts


@pytest.mark.parametrize("call", [own, tuned, counted])
def test_own_work_is_not_accused(follower, call):
    x = torch.randn(64, 64)
    with follower.following("op.py", [x], frozenset()):
        result = call(follower, x)
    assert follower.faults("op.py", [[x], result]) == []


CHEATS = {
    "the library alone": lambda _, x: torch.softmax(x, -1),
    "a launch beside": lambda follower, x: (own(follower, x[:1]), x.exp())[1],
    "over the result": lambda follower, x: own(follower, x).copy_(x * 2),
    "part of the result": lambda follower, x: own(follower, x)[:3].mul_(2),
    "a copy of it": lambda follower, x: own(follower, x - x.mean()),
}


@pytest.mark.parametrize("call", CHEATS.values(), ids=CHEATS)
def test_what_the_library_computes_is_seen(follower, call):
    x = torch.randn(64, 64)
    with follower.following("op.py", [x], frozenset()):
        result = call(follower, x)
    (fault,) = follower.faults("op.py", [[x], result])[-1:]
    assert fault.kind is FaultKind.LIBRARY


def test_what_the_original_does_is_permitted(follower):
    x = torch.randn(64, 64)
    with follower.following("op.py", [x], frozenset(("div", "div_"))):
        result = own(follower, x) / 64
    assert follower.faults("op.py", [[x], result]) == []


def test_nothing_is_followed_outside(follower):
    x = torch.randn(8)
    with follower.following("op.py", [x], frozenset()):
        pass
    y = torch.exp(x)
    with follower.following("op.py", [x], frozenset()):
        result = own(follower, x)
    assert follower.faults("op.py", [[x], result]) == []
    assert y.numel() == 8
