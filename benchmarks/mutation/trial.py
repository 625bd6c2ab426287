"""A mutated port judged as `porter verify --edges` judges a candidate, against the operator's own CUDA and contract."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.mutation import cpp_mutations, python_mutations
from benchmarks.mutation.mutation import Mutation
from porter.backend import Port
from porter.errors import PorterError
from porter.evaluate.model.migration import MigrateOptions
from porter.evaluate.model.outcome import KernelsVerified, Verified
from porter.evaluate.model.verdict import Verdict
from porter.evaluate.verify import verify
from porter.registry import find_backend, find_target
from porter.source.headers import DiskHeaders
from porter.source.load import read_sources
from porter.source.parse import parse
from porter.suite.operators import Operator
from porter.translation_unit import original_unit

# How each target's ports are changed.
MUTATIONS = {"triton": python_mutations.mutations, "maca": cpp_mutations.mutations}


@dataclass(frozen=True, slots=True)
class Judgement:
    """The answer of `porter verify --edges` for a candidate. `caveat` is what a verified one was not compared in."""

    outcome: str
    because: str
    caveat: str
    seconds: float


@dataclass(frozen=True)
class Trial:
    """One operator for one target: its port, and the judgement of what is made of it."""

    operator: Operator
    port: Port
    options: MigrateOptions

    @property
    def text(self) -> str:
        """The port's main file, which is what is mutated."""
        return self.port.files[0].text

    def mutations(self) -> tuple[Mutation, ...]:
        """Every single change of the port."""
        return MUTATIONS[self.options.target](self.text)

    def judge(self, text: str) -> Judgement:
        """The verdict on the port with `text` as its main file."""
        begin = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
            for file in self.port.files:
                (Path(folder) / file.name).write_text(file.text)
            candidate = Path(folder) / self.port.files[0].name
            candidate.write_text(text)
            try:
                verdict = verify(candidate, self.operator.kernel, self.options, _unheard)
            except PorterError as error:
                return Judgement("error", error.message, "", time.monotonic() - begin)
        return Judgement(*_said(verdict), time.monotonic() - begin)


def trial(operator: Operator, target: str, cache: Path, seed: int) -> Trial:
    """The operator ported to `target` as `porter migrate` ports it, to be judged at `seed`.

    Raises `PorterError` where it cannot be ported.
    """
    backend = find_backend(target)
    source = read_sources(operator.kernel)[0]
    program = parse(source, headers=DiskHeaders(()))
    original = original_unit(program, (), ())
    port = backend.port(program, tuple(header for _, header in original.headers), find_target(backend, ""))
    return Trial(operator, port, MigrateOptions(target, cache, contract=operator.contract, seed=seed, edges=True))


def _said(verdict: Verdict) -> tuple[str, str, str]:
    """The outcome's word, its reason, and what was left out."""
    outcome = verdict.outcome
    caveats = (entry.outcome.caveat for entry in verdict.entries if isinstance(entry.outcome, Verified))
    because = "" if isinstance(outcome, Verified | KernelsVerified) else outcome.because
    return outcome.label, because, "; ".join(dict.fromkeys(filter(None, caveats)))


def _unheard(step: str) -> None:
    """Nobody listens to what a judgement does."""
