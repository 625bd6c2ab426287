"""Makes an arm, an entry ready to be timed: captures its call once for each of several sets of buffers, then replays.

After capturing no host code of the entry runs any more: only code on the device can change what it does. The sets
together are larger than the cache, so that a replay finds nothing of its data there.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import torch

from porter.execution.job import Job
from porter.native.device import Device, Node, NodeType
from porter.native.entries import Call, tensors
from porter.native.memory import Arguments, slab_bytes
from porter.native.requests import MOST_SETS
from porter.native.slab import Slab, Slabs

_CAPTURE = torch._C._CUDAGraph
_WARM_CALLS = 3
_MOST_SET_BYTES = 8 << 30
_SAMPLE_US = 250.0  # of device time: a launch of a graph and the events around it cost 1 % of that, on both sides
_MOST_LAUNCHES = 2048
# Two graphs of one kernel of 1.3 us differ by 1 % or not at all (H200). A sample is over eight of them where that takes
# no more than a few milliseconds: taken in turn, one a sample, the median was that of one kind or of the other.
_CHAINS, _OVER_CHAINS_US = 8, 2000.0
MOST_SHARING = 1  # sets of buffers in a page: between two arms of one kernel four make 1.4 % of difference, one 0.1 %
_POISON = 0xFF


class _Set:
    """One set of buffers, and the call captured on it."""

    def __init__(
        self, device: Device, job: Job, host: frozenset[int], slab: Slab, like: Arguments | None = None
    ) -> None:
        self.arguments = Arguments(device, job.arguments, host, like, slab)
        self.graph = _CAPTURE(True)  # keeps what was captured, to be looked at and chained
        self.results: list[torch.Tensor] = []

    @property
    def bytes(self) -> int:
        """Returns what a call reads and writes, at most."""
        made = sum(result.numel() * result.element_size() for result in self.results)
        return made + sum(buffer.bytes for buffer in self.arguments.buffers)


@dataclass(frozen=True)
class Replayed:
    """The arguments and results that a call left, and two device times in microseconds.

    `alone_us` is the time of the call with no call before it, `later_us` that of one in another set.
    """

    arguments: Arguments
    results: list[torch.Tensor]
    alone_us: float
    later_us: float


class Arm:
    """A captured entry: `uncaptured` says why the call cannot be captured, `nodes` are those of one call.

    What makes one may do so beside others who use the device; before its first sample it has to be alone there.
    The launches `before` a sample, untimed, fill the cache with what stays there: else calls in a sample of five rounds
    over all sets take longer than in one of six. 0 where there are more bytes than the cache holds.
    """

    def __init__(
        self, device: Device, call: Call, job: Job, host: frozenset[int], most_sharing: int = MOST_SHARING
    ) -> None:
        self._device = device
        self._call = call
        self._slabs = Slabs(device, slab_bytes(job.arguments), most_sharing)
        first = _Set(device, job, host, self._slabs.next())
        for _ in range(_WARM_CALLS):
            call(first.arguments.passed)
        device.synchronize()
        self.nodes: tuple[Node, ...] = ()
        self.uncaptured = self._captured(first)
        self._sets = [first]
        self._chains: list[int] = []  # made for the first sample: how many rounds they take is clocked
        self._turn = self.before = 0
        self.launches = self._chains_a_sample = 0
        self._eager_launches = 0
        if not self.uncaptured:
            self._fill_the_cache(job, host)
        # What a call on other buffers finds ready, Python's and the driver's, is no work that a call leaves out.
        self._spare: _Set | None = None
        if self.uncaptured and 2 * first.bytes <= _MOST_SET_BYTES:
            self._spare = _Set(device, job, host, self._slabs.next(), like=first.arguments)

    def _captured(self, one: _Set) -> str:
        """Captures the call on a set, or says why that cannot be done."""
        try:
            one.graph.capture_begin(pool=None, capture_error_mode="thread_local")
            try:
                one.results = list(tensors(self._call(one.arguments.passed)))
            finally:
                one.graph.capture_end()
        except RuntimeError as error:
            self._device.synchronize()  # raises where this is more than a capture that failed
            return str(error).splitlines()[0]
        nodes = self._device.nodes(one.graph.raw_cuda_graph())
        self.nodes = self.nodes or nodes
        if Counter(nodes) != Counter(self.nodes):
            return "its calls do not launch the same each time"
        if any(node.type == NodeType.HOST for node in nodes):
            return "it calls back into the host"
        if not any(node.type == NodeType.KERNEL for node in nodes):
            return "nothing that it launches was captured"
        return ""

    def _fill_the_cache(self, job: Job, host: frozenset[int]) -> None:
        count = self._sets[0].bytes
        wanted = min(MOST_SETS, math.ceil(2 * self._device.described.l2_bytes / max(1, count)) + 1)
        for _ in range(1, max(1, min(wanted, _MOST_SET_BYTES // max(1, count)))):
            another = _Set(self._device, job, host, self._slabs.next(), like=self._sets[0].arguments)
            self.uncaptured = self._captured(another)
            if self.uncaptured:
                return
            self._sets.append(another)

    def _clocked(self) -> None:
        """Chains the graphs, if that was not done: how many rounds a sample has is clocked."""
        if not (self.uncaptured or self._chains):
            self._chain()

    def _chain(self) -> None:
        """Chains as many rounds over all sets as a sample takes."""
        graphs = [one.graph.raw_cuda_graph() for one in self._sets]
        once = self._device.chain(graphs, 1)
        self._device.replay(once)
        if len(graphs) == MOST_SETS:
            self.before = once
        round_us = min(self._device.sample([once] * 3, [self.before] * 3))
        if not self.before:
            self._device.drop(once)
        rounds = max(1, min(math.ceil(_SAMPLE_US / round_us), _MOST_LAUNCHES // len(graphs)))
        self.launches = rounds * len(graphs)
        # Which graph it is does not show in a call that takes so long: one is enough.
        for place in range(_CHAINS if round_us <= _OVER_CHAINS_US else 1):
            first = place * len(graphs) // _CHAINS
            self._chains.append(self._device.chain(graphs[first:] + graphs[:first], rounds))
            self._device.replay(self._chains[-1])
        self._chains_a_sample = max(1, min(_CHAINS, int(_OVER_CHAINS_US / (rounds * round_us))))

    def next_chains(self) -> list[int]:
        """Returns the graphs to launch for a sample, one after the other."""
        self._clocked()
        begin = self._turn
        self._turn += self._chains_a_sample
        return [self._chains[turn % len(self._chains)] for turn in range(begin, self._turn)]

    @property
    def sets(self) -> int:
        """Returns how many sets of buffers there are."""
        return len(self._sets)

    def free(self) -> None:
        """Gives back the graphs and all buffers."""
        for chain in filter(None, (*self._chains, self.before)):
            self._device.drop(chain)
        for one in (*self._sets, *([self._spare] if self._spare else [])):
            one.graph.reset()
            one.arguments.free()
        self._sets, self._spare = [], None
        self._slabs.free()

    def call_us(self) -> float:
        """Returns the device time of one call, made by Python."""
        if not self._eager_launches:
            self._eager_launches = 1
            self._eager_launches = max(1, min(_MOST_LAUNCHES, math.ceil(_SAMPLE_US / self.call_us())))
        passed = self._sets[0].arguments.passed
        self._device.begin()
        for _ in range(self._eager_launches):
            self._call(passed)
        return self._device.end() / self._eager_launches

    def replay(self, job: Job, index: int) -> Replayed:
        """Returns what one call leaves on `job` in the set `index`, and its times where no answer was there before.

        All sets get the contents, results are poisoned, and the timed graph (or the call, if it was not captured) runs
        once in each, in that set first.
        """
        self._clocked()
        for one in self._sets:
            one.arguments.write(job.arguments)
            for result in one.results:
                _poison(self._device, result)
            if (refresh := getattr(self._call, "refresh", None)) is not None:
                refresh(one.arguments.passed)
        # PyTorch's stream filled what is refreshed, and what is timed does not wait for that: H100, outputs of 4 GB and
        # more were half overwritten once the kernel had begun.
        self._device.synchronize()
        chosen = self._sets[index % len(self._sets)]
        if self.uncaptured:
            times = [self._called_once(chosen)]
        else:
            others = [one for one in self._sets if one is not chosen]
            times = self._once_each([[chosen], *([others] if others else [])])
        return Replayed(chosen.arguments, chosen.results, times[0], times[-1])

    def _called_once(self, chosen: _Set) -> float:
        """Returns the time of a call made by Python, right after one on other buffers with their usual contents.

        H200: a kernel of 29 us and a wait for it take 29 us in this way, and 244 us as the first call since inputs were
        written.
        """
        if self._spare is not None:
            self._call(self._spare.arguments.passed)
        self._device.begin()
        chosen.results = list(tensors(self._call(chosen.arguments.passed)))
        return self._device.end()

    def _once_each(self, groups: Sequence[Sequence[_Set]]) -> list[float]:
        """Returns the time of a call in each group of sets, one group after the other; the cache is as in a sample."""
        chains = [self._device.chain([one.graph.raw_cuda_graph() for one in sets], 1) for sets in groups]
        times = self._device.sample(chains, apart=not self.before)
        for chain in chains:
            self._device.drop(chain)
        return [time / len(sets) for time, sets in zip(times, groups, strict=True)]


def _poison(device: Device, result: torch.Tensor) -> None:
    if result.is_cuda and result.numel() and result.is_contiguous():
        device.fill(result.data_ptr(), _POISON, result.numel() * result.element_size())


def sampled(device: Device, arms: Sequence[Arm], order: Sequence[int], *, captured: bool) -> list[float]:
    """Returns the device time of one call of each arm of `order`, in microseconds."""
    if not captured:
        return [arms[arm].call_us() for arm in order]
    chains = [arms[arm].next_chains() for arm in order]
    before = [arms[arm].before for arm, chosen in zip(order, chains, strict=True) for _ in chosen]
    times = iter(device.sample([chain for chosen in chains for chain in chosen], before))
    means = [statistics.fmean(islice(times, len(chosen))) for chosen in chains]
    return [time / arms[arm].launches for arm, time in zip(order, means, strict=True)]
