"""The code that tasks may not repeat: the modules of a suite that a model is measured on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from porter.learn.curation.alike import Signature, graph_digest, signature
from porter.learn.curation.question import Ask
from porter.learn.curation.records import Reached
from porter.learn.curation.trials import confined
from porter.source.encoding import read_text
from porter.suite.selection import find_operators


@dataclass(frozen=True, slots=True)
class HeldOut:
    """The code of a suite's modules, and the graphs of those that run, by digest with their names."""

    names: Sequence[str] = ()
    signatures: Sequence[Signature] = ()
    graphs: Mapping[str, str] = field(default_factory=dict)


def held_out_of(suite: Path) -> HeldOut:
    """Returns what the suite holds: its modules, or the references beside its CUDA sources.

    Raises `InputError` where there is none.
    """
    texts = {}
    for operator in find_operators(suite):
        file = operator.source if operator.module else operator.reference
        if file.is_file():
            texts[operator.key] = read_text(file)
    graphs = {}
    for name, text in texts.items():
        if digest := _graph(text):
            graphs[digest] = name
    return HeldOut(list(texts), [signature(text) for text in texts.values()], graphs)


def _graph(text: str) -> str:
    """Returns the digest of what a module computes; empty where it does not run as it stands."""
    with confined(text, "Model") as place:
        report = place.ask(Ask.SHAPES).report
    return graph_digest(report.operations) if report is not None and report.reached is Reached.RAN else ""
