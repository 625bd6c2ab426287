"""Sorts out the classes that repeat another one, or what is held out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from porter.learn.curation.alike import Signature, graph_digest, is_nearly, nearest, signature
from porter.learn.curation.clusters import clustered
from porter.learn.curation.families import family_of
from porter.learn.curation.holding_out import HeldOut
from porter.learn.curation.records import Curated, Reached, ReadClass, Trial


def sorted_out(read: Sequence[ReadClass], trials: Sequence[Trial], held_out: HeldOut) -> list[Curated]:
    """Returns all that make tasks; those that repeat another say which, and why that is so."""
    classes = {one.key: one for one in read}
    known = _Known(dict(held_out.graphs), [*held_out.names], [*held_out.signatures], frozenset(held_out.names))
    found = []
    for trial in (one for one in trials if one.reached is Reached.FIT):
        one = classes[trial.key]
        family, graph = family_of(trial.operations), graph_digest(trial.operations)
        found.append(known.compared(Curated(one.key, one.name, family, graph, "", "", -1, False), one.code))
    return _grouped(found, trials)


@dataclass
class _Known:
    """The tasks seen so far: the names of tasks, by their graphs and beside the runs of their words."""

    graphs: dict[str, str]
    names: list[str]
    signatures: list[Signature]
    held_out: frozenset[str]

    def compared(self, task: Curated, code: str) -> Curated:
        """Returns `task` with what it repeats; what repeats nothing is known from here on."""
        if same := self.graphs.get(task.graph):
            return replace(task, same_as=same, because="held out" if same in self.held_out else "graph")
        own = signature(code)
        if self.signatures:
            place, share = nearest(own, np.stack(self.signatures))
            same = self.names[place]
            if is_nearly(share):
                return replace(task, same_as=same, because="held out" if same in self.held_out else "code")
        self.graphs[task.graph] = task.key
        self.names.append(task.key)
        self.signatures.append(own)
        return task


def _grouped(tasks: Sequence[Curated], trials: Sequence[Trial]) -> list[Curated]:
    operations = {one.key: one.operations for one in trials}
    kept = [one for one in tasks if not one.same_as]
    groups = dict(zip((one.key for one in kept), clustered([operations[one.key] for one in kept]), strict=True))
    return [
        replace(one, cluster=groups[one.key][0], stands_for_cluster=groups[one.key][1]) if one.key in groups else one
        for one in tasks
    ]
