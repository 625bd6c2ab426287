"""Records what executed launches were like, and how those at sizes that nothing is executed at differ from them.

A kernel, a template's instance, a switch among its arguments or a block that only large sizes have was never executed;
nor was what a kernel does when its grid stops growing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from porter.launch_plan.steps import Bytes, Launch
from porter.simt.grids import Grids

_FEW_LAUNCHES = 3  # by which a feature that has one value may have it by chance
_LARGEST_NUMBER = 8


@dataclass
class Launched:
    """Kernels by their symbols with what their launches had: how many there were, grids, and values of features."""

    counts: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    grids: Grids = field(default_factory=Grids)
    values: dict[tuple[str, str], set[object]] = field(default_factory=lambda: defaultdict(set))

    def add(self, launches: Iterable[Launch]) -> None:
        """Counts `launches` as executed."""
        for launch in launches:
            self.counts[launch.kernel] += 1
            self.grids.add(launch.kernel, launch.grid)
            for name, value in _features(launch):
                self.values[launch.kernel, name].add(value)

    def unlike(self, launches: Sequence[Launch]) -> list[str]:
        """Returns what of `launches` no executed one was like, in words."""
        found = list[str]()
        for launch in launches:
            if not self.counts.get(launch.kernel):
                found.append(f"`{_name(launch)}` is launched, which no workload launches")
                continue
            odd = [n for n, value in _features(launch) if self._is_new(launch.kernel, n, value)]
            if odd:
                found.append(f"`{_name(launch)}` is launched with another {', '.join(odd)} than by any workload")
        return list(dict.fromkeys(found))

    def stopping(self, launches: Sequence[Launch], fewest: int | None) -> list[str]:
        """Returns the grids of `launches` that stop growing, in words; `fewest` is what `Grids.unreached` takes."""
        names = {launch.kernel: _name(launch) for launch in launches}
        stops = self.grids.unreached(((launch.kernel, launch.grid) for launch in launches), fewest)
        return [f"the grid of `{names[stop.kernel]}` {stop.described('blocks')}" for stop in stops]

    def _is_new(self, kernel: str, feature: str, value: object) -> bool:
        known = self.values[kernel, feature]
        return len(known) == 1 and self.counts[kernel] >= _FEW_LAUNCHES and value not in known


def _name(launch: Launch) -> object:
    return dict(launch.options)["as"].value


def _features(launch: Launch) -> Iterator[tuple[str, object]]:
    options = {name: scalar.value for name, scalar in launch.options}
    yield "block", tuple(options[f"block_{axis}"] for axis in "xyz")
    yield "use of dynamic shared memory", bool(options["shared_bytes"])
    for name, value in launch.arguments:
        if isinstance(value, Bytes) and len(value.content) <= 4 * ((_LARGEST_NUMBER + 2) // 3):
            yield f"argument {int(name) + 1}", "an address" if value.pointers else value.content
