"""What the launches of executed jobs were like, and how those at sizes that nothing is executed at differ from them.

A kernel, a template's instance, a switch among its arguments or a block that only large sizes have was never executed;
nor was what a kernel does when its grid stops growing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import prod

from porter.launch_plan.steps import Bytes, Launch
from porter.simt.job import TensorValue, Value

_FEW_LAUNCHES = 3  # by which a feature that has one value may have it by chance
_LARGEST_NUMBER = 8
_SEVERAL = 3  # times; calls are rehearsed at a quarter of their sizes, and at half of one


@dataclass
class Launched:
    """Kernels by their symbols with what their launches had: how many there were, grids, and values of features.

    `stops` are the numbers of blocks that a kernel is seen not to go beyond however large a call is.
    """

    counts: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    grids: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    stops: set[tuple[str, int]] = field(default_factory=set)
    values: dict[tuple[str, str], set[object]] = field(default_factory=lambda: defaultdict(set))

    def add(self, launches: Iterable[Launch]) -> None:
        """Counts `launches` as executed."""
        for launch in launches:
            self.counts[launch.kernel] += 1
            self.grids[launch.kernel].add(prod(launch.grid))
            for name, value in _features(launch):
                self.values[launch.kernel, name].add(value)

    def unlike(self, launches: Sequence[Launch], larger: Sequence[Launch] = ()) -> list[str]:
        """Returns what of `launches` no executed one was like, in words; `larger` are those of the call at larger
        sizes.
        """
        found = list[str]()
        before = {launch.kernel: prod(launch.grid) for launch in larger}
        for launch in launches:
            name = dict(launch.options)["as"].value
            if not self.counts.get(launch.kernel):
                found.append(f"`{name}` is launched, which no workload launches")
                continue
            odd = [n for n, value in _features(launch) if self._is_new(launch.kernel, n, value)]
            if odd:
                found.append(f"`{name}` is launched with another {', '.join(odd)} than by any workload")
            if (blocks := prod(launch.grid)) == before.get(launch.kernel):
                self.stops.add((launch.kernel, blocks))
            if (launch.kernel, blocks) in self.stops and self._has_outgrown(launch.kernel, blocks):
                found.append(f"`{name}` stops at a grid of {blocks} blocks, which no workload reaches")
        return list(dict.fromkeys(found))

    def _is_new(self, kernel: str, feature: str, value: object) -> bool:
        known = self.values[kernel, feature]
        return len(known) == 1 and self.counts[kernel] >= _FEW_LAUNCHES and value not in known

    def _has_outgrown(self, kernel: str, blocks: int) -> bool:
        """Returns True where executed grids differ, and none has so many blocks."""
        return len(self.grids[kernel]) > 1 and blocks > max(self.grids[kernel])


def _features(launch: Launch) -> Iterator[tuple[str, object]]:
    options = {name: scalar.value for name, scalar in launch.options}
    yield "block", tuple(options[f"block_{axis}"] for axis in "xyz")
    yield "use of dynamic shared memory", bool(options["shared_bytes"])
    for name, value in launch.arguments:
        if isinstance(value, Bytes) and len(value.content) <= 4 * ((_LARGEST_NUMBER + 2) // 3):
            yield f"argument {int(name) + 1}", "an address" if value.pointers else value.content


def is_larger(one: Sequence[Value], other: Sequence[Value]) -> bool:
    """Returns True where no extent of the arguments `one` is smaller than in `other`, and some are several times as
    large; not where there are none.
    """
    shapes = [(a.shape, b.shape) for a, b in zip(one, other, strict=False)
              if isinstance(a, TensorValue) and isinstance(b, TensorValue)]  # fmt: skip
    extents = [pair for a, b in shapes for pair in zip(a, b, strict=False)]
    return all(a >= b for a, b in extents) and any(a >= _SEVERAL * b > 0 for a, b in extents)
