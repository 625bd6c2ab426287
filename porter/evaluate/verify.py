"""Compares a candidate as it stands with a standard: nothing is ported here, only executed and compared."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from porter.backend import Backend, Port, Target
from porter.contract.model.contract import Contract
from porter.diagnostics.findings import Finding
from porter.evaluate.judge.admission import not_admitted
from porter.evaluate.judge.calling import Called
from porter.evaluate.judge.ported import Candidates
from porter.evaluate.judge.prove import Proof
from porter.evaluate.judge.standard_answers import StandardAnswers
from porter.evaluate.judge.unexecuted import with_unexecuted
from porter.evaluate.migrate import executed, proven, worst
from porter.evaluate.model.migration import EntryOutcome, MigrateOptions, Progress
from porter.evaluate.model.outcome import Equal, Fidelity, Outcome, Refused
from porter.evaluate.model.verdict import Verdict
from porter.evaluate.problem.bench import bench
from porter.evaluate.problem.candidate import candidate_port
from porter.evaluate.problem.environment import environment
from porter.evaluate.problem.original import no_original, read_original
from porter.evaluate.problem.standards import AgainstCuda, against_cuda, opened
from porter.evaluate.timing.baselines import of_cuda
from porter.evaluate.timing.speeds import Subject, timed
from porter.evaluate.timing.standard_baselines import of_standard
from porter.oracle.standard import Standard
from porter.registry import find_backend, find_target
from porter.rules.original import OwnCode
from porter.source_text import Source


def verify(candidate: Path, against: Path, options: MigrateOptions, progress: Progress) -> Verdict:
    """Returns the verdict on `candidate`, a file or folder in the target's language, compared with `against`.

    That is a CUDA source, also one in a Python file; a contract that names its reference; a Python reference; or
    recorded answers. Raises `InputError` for a file that cannot be used as it is.
    """
    progress(f"reading {candidate.name}")
    port = candidate_port(candidate, find_backend(options.target), options.include_dirs)
    return verify_port(port, against, options, progress)


def verify_port(port: Port, against: Path, options: MigrateOptions, progress: Progress) -> Verdict:
    """Returns the verdict on a candidate whose files were read, the one that is called first."""
    begin = time.monotonic()
    backend = find_backend(options.target)
    target = find_target(backend, options.arch)
    verdict = _Trial(port, backend, target, _first(options), progress).against(against)
    if options.fidelity is not Fidelity.EMULATED and isinstance(verdict.outcome, Equal):
        verdict = _Trial(port, backend, target, options, progress).against(against)
    return replace(verdict, seconds=time.monotonic() - begin)


def verdict_on(port: Port, standard: Standard, target: Target, options: MigrateOptions, progress: Progress) -> Verdict:
    """Returns the verdict on a `port` that is compared with `standard` as any candidate is."""
    return _Trial(port, find_backend(target.backend), target, options, progress).checked_against(standard)


def _first(options: MigrateOptions) -> MigrateOptions:
    """Returns how a candidate is tried first: on the CPU, which shows all it does. A device only shows its numbers."""
    if options.fidelity is Fidelity.EMULATED:
        return options
    return replace(options, fidelity=Fidelity.EMULATED, timed=False)


@dataclass(frozen=True)
class _Trial:
    """A candidate, and how it is tried."""

    port: Port
    backend: Backend
    target: Target
    options: MigrateOptions
    progress: Progress

    def against(self, against: Path) -> Verdict:
        """Compares it with whatever `against` is."""
        source = against_cuda(against, self.options)
        if source is not None:
            return self.checked_against_cuda(source)
        with opened(against, self.options) as standard:
            return self.checked_against(standard)

    def checked_against_cuda(self, against: AgainstCuda) -> Verdict:
        """Compares it with a CUDA source, which may take several entries, and their parts where these cannot be run."""
        options = replace(self.options, contract=against.contract)
        original = read_original(against.source, options)
        broken = self._broken(original.own)
        if refused := self._refused(broken):
            return self._verdict(against.source, refused, (), broken, ())
        migration = proven(original, self.port, self.target, options, self.progress)
        findings = (*migration.findings, *broken)
        entries = migration.entries
        if options.timed:
            meet = of_cuda(original, options.reference)
            entries = timed(entries, Subject(self.port, original, self.target, meet), options, self.progress)
        verdict = self._verdict(against.source, migration.outcome, entries, findings, migration.warp_sizes)
        return replace(verdict, fidelity=migration.fidelity)

    def checked_against(self, standard: Standard) -> Verdict:
        """Compares it with a standard that is not a source: there are only its contracts."""
        contracts = standard.contracts()
        original = no_original(self.port.files[0].source.path, standard.own, contracts, self.options)
        broken = self._broken(original.own)
        if refused := self._refused(broken):
            return self._verdict(standard.source, refused, (), broken, ())
        with (
            bench(self.options.cache, self.options.time_limit_s) as place,
            executed(original, self.port, self.target, self.options, place, is_trusted=False) as ready,
        ):
            ported = Called(ready, self.options.entry)
            self.progress(f"building {self.port.files[0].name}")
            candidates = ported.candidates(contracts)
            proofs = [self._proof(c, standard, ready) for c, ready in zip(contracts, candidates, strict=True)]
            proofs = with_unexecuted(proofs)
            widths = ported.warp_sizes
        entries = tuple(proof.entry for proof in proofs)
        if self.options.timed:
            subject = Subject(self.port, original, self.target, of_standard(standard))
            entries = timed(entries, subject, self.options, self.progress)
        found = tuple(dict.fromkeys(f for proof in proofs for f in proof.findings))
        verdict = self._verdict(standard.source, worst(entries), entries, (*standard.findings, *found, *broken), widths)
        verdict = replace(verdict, fidelity=ready.fidelity)
        return verdict if standard.recorded is None else replace(verdict, seed=standard.recorded)

    def _proof(self, contract: Contract, standard: Standard, candidates: Candidates) -> Proof:
        """Compares the candidate under one contract."""
        self.progress(f"asking {standard.source.path.name}")
        asked = StandardAnswers.of(standard, contract, self.options)
        self.progress(f"running {self.port.files[0].name}")
        return asked.proof(candidates)

    def _broken(self, own: OwnCode) -> tuple[Finding, ...]:
        """Returns the rules that its text breaks, starting from the functions that are called."""
        chosen = frozenset(filter(None, (self.options.entry,)))
        return self.backend.lint(self.port.files, replace(own, functions=own.functions | chosen))

    def _refused(self, broken: tuple[Finding, ...]) -> Outcome | None:
        """Returns why the candidate is not run."""
        return not_admitted(broken, self.port, self.backend, self.target)

    def _verdict(
        self,
        standard: Source,
        outcome: Outcome,
        entries: tuple[EntryOutcome, ...],
        findings: tuple[Finding, ...],
        warp_sizes: tuple[int, ...],
    ) -> Verdict:
        seed = self.options.seed or 0
        found: Mapping[str, str] = environment()
        main = self.port.files[0].source
        seen = tuple(rule for entry in entries if isinstance(entry.outcome, Refused) for rule in entry.outcome.broken)
        said = (*findings, *seen)
        return Verdict(main, standard, self.target, outcome, entries, said, warp_sizes, seed, found, 0.0)
