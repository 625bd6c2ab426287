"""The prompt of an operator of the suite, as the first request of a search asks it; nothing of it is proven here."""

import os
from pathlib import Path

from porter.agent.prompt import Material, written
from porter.agent.task import task
from porter.contract.model.reader import load_contracts
from porter.evaluate.model.migration import MigrateOptions
from porter.evolve.candidate import Candidate, Origin
from porter.evolve.proposer import Member
from porter.evolve.scored import Scored
from porter.evolve.scoring.diagnosis import scored_sizes
from porter.evolve.scoring.evaluator import files_of
from porter.evolve.scoring.modelled import modelled_scorer
from porter.evolve.scoring.subject import Subject
from porter.registry import find_backend
from porter.source.parse import parse
from porter.source_text import Source
from porter.translation_unit import original_unit

SUITE = Path(__file__).parents[3] / "op_suites" / "kernelbench"
ROOM = 32_768


def subject_of(operator: str, cache: Path) -> Subject:
    folder, backend = SUITE / operator, find_backend("triton")
    path = folder / "kernel.cu"
    program, contract = parse(Source(path, path.read_text())), folder / "contract.toml"
    original, target = original_unit(program, (), ()), backend.targets()[0]
    options = MigrateOptions("triton", cache, contract=contract, environment=dict(os.environ))
    return Subject(original, backend.port(program, (), target), target, load_contracts(contract), options)


def prompt_of(operator: str, cache: Path, **changed) -> tuple[str, str]:
    """What the system says, and the user."""
    subject, backend = subject_of(operator, cache), find_backend("triton")
    with modelled_scorer(subject, backend) as scorer:
        ranked = scorer.score(subject.seed)
        sizes = scored_sizes(subject, backend, scorer.workloads, scorer.planning)
    asked = task(
        backend, subject.target, subject.original.source, (),
        contracts=subject.contracts, scored=sizes, findings=subject.seed.findings,
        axes=backend.axes(),
    )  # fmt: skip
    candidate = Candidate(files_of(subject.seed), Origin("seed"))
    cell = backend.features(subject.seed.files)
    current = Member(candidate, Scored(candidate.digest, "verified", "", ranked.score, cell, ranked.said))
    system, user = written(Material(asked, current, findings=asked.findings, **changed), ROOM).messages
    return system.text, user.text
