"""Goes from `model.py` to a port that was executed and compared: lifts a PyTorch module, schedules and judges it.

The module's answers are the standard: the port is judged as any candidate is that has a Python reference.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from porter.backend import Follow, Port, Target
from porter.contract.model.contract import Contract
from porter.diagnostics.findings import Effort, Finding, Severity
from porter.errors import InputError, PorterError
from porter.evaluate.formula.module_lift import formula_of_module
from porter.evaluate.migrate import SEED
from porter.evaluate.model.migration import EntryOutcome, Followed, MigrateOptions, Migration, Progress
from porter.evaluate.model.outcome import Checked, Crashed, Outcome, Refused, Verified, Wrong
from porter.evaluate.model.verdict import Verdict
from porter.evaluate.problem.standards import opened
from porter.evaluate.verify import verdict_on
from porter.lift.nodes import NotLiftedError
from porter.measure.deadline import Deadline, OutOfTime
from porter.measure.stages import Stage, Stages
from porter.oracle.python_reference import PythonStandard
from porter.registry import find_backend, find_target
from porter.schedule.polynomial import NotSchedulableError
from porter.source.parse import parse
from porter.source_text import Source

_NOT_LIFTED, _EXECUTED_AT = "PORT5006", "PORT5007"
_MOST_SIZES = 4  # of a symbol that are named


def migrate_module(path: Path, options: MigrateOptions, progress: Progress) -> Migration:
    """Returns the port of the module, or of the function `reference`, in the file at `path`, proven against it.

    Raises `PorterError`s for what the user has to mend: a file that does not run by itself, options that are for CUDA.
    """
    asked = replace(options, stages=Stages(), deadline=Deadline(options.deadline.limit_s), reference=None)
    _refuse_foreign_options(path, asked)
    target = find_target(find_backend(options.target), options.arch)
    begin = time.monotonic()
    progress(f"reading {path.name}")
    try:
        with asked.deadline.running(), opened(path, asked) as standard:
            assert isinstance(standard, PythonStandard)
            migration = _Porting(standard, target, asked, progress).migration()
    except OutOfTime:
        message = f"{path}: the limit of {asked.deadline.limit_s:g} s was over before there was a verdict"
        raise PorterError(message, "allow more with --limit S") from None
    stages = {stage.value: seconds for stage, seconds in asked.stages.seconds.items()}
    return replace(migration, stages=stages, seconds=time.monotonic() - begin)


def proven_against_module(
    path: Path, port: Port, target: Target, options: MigrateOptions, progress: Progress
) -> Migration:
    """Compares `port`, which anybody may have written, with the module in the file at `path`."""
    with opened(path, options) as standard:
        assert isinstance(standard, PythonStandard)
        verdict = verdict_on(port, standard, target, options, progress)
        migration = _Porting(standard, target, options, progress).judged(port, verdict)
    return replace(migration, followed=None)


def _refuse_foreign_options(path: Path, options: MigrateOptions) -> None:
    if options.kernels:
        raise InputError(f"{path}: a PyTorch module has no kernels", "leave out --kernel")
    if options.contract is not None:
        hint = "leave out --contract: get_inputs and get_init_inputs say how it is called"
        raise InputError(f"{path}: a module is its own contract", hint)


class _Porting:
    """Takes one module to one target."""

    def __init__(self, standard: PythonStandard, target: Target, options: MigrateOptions, progress: Progress) -> None:
        self._standard = standard
        self._target = target
        self._options = options
        self._progress = progress

    def migration(self) -> Migration:
        """Returns the migration."""
        (contract,) = self._standard.contracts()
        try:
            with self._options.stages.of(Stage.LIFT):
                self._progress(f"lifting {self._standard.source.path.name}")
                formula = formula_of_module(self._standard, contract, self._target)
                port = formula.port()
        except (NotLiftedError, NotSchedulableError) as error:
            return self._refused(contract, error)
        judged = replace(self._options, seed=SEED if self._options.seed is None else self._options.seed)
        with self._options.stages.of(Stage.PROVE):
            verdict = verdict_on(port, self._standard, self._target, judged, self._progress)
        return self.judged(port, verdict)

    def judged(self, port: Port, verdict: Verdict) -> Migration:
        """Returns the migration that a verdict on `port` makes."""
        return self._migration(verdict.outcome, verdict.entries, port, (*port.findings, *_told(verdict)), verdict)

    def _refused(self, contract: Contract, error: Exception) -> Migration:
        what = "lifted" if isinstance(error, NotLiftedError) else "scheduled"
        because = f"it is not {what}: {error}"
        hint = "take the operator out of the module, or write the kernel and check it with `porter verify`"
        finding = Finding(_NOT_LIFTED, Severity.ERROR, because, None, hint, Effort.REWRITE)
        outcome = Refused(f"{_NOT_LIFTED}: {because}")
        return self._migration(outcome, (EntryOutcome(contract, outcome),), Port((), ()), (finding,), None)

    def _migration(
        self,
        outcome: Outcome,
        entries: tuple[EntryOutcome, ...],
        port: Port,
        findings: tuple[Finding, ...],
        verdict: Verdict | None,
    ) -> Migration:
        source = self._standard.source
        return Migration(
            source=source,
            program=parse(Source(source.path, "")),
            target=self._target,
            outcome=outcome,
            entries=entries,
            files=port.files,
            findings=findings,
            warp_sizes=verdict.warp_sizes if verdict else (),
            seconds=0.0,
            fidelity=verdict.fidelity if verdict else self._options.fidelity,
            of_module=True,
            followed=Followed(Follow.FORMULA),
        )


def _told(verdict: Verdict) -> Iterator[Finding]:
    """Yields the findings of a verdict, and at which sizes and types it was reached."""
    yield from verdict.findings
    for entry in verdict.entries:
        if isinstance(entry.outcome, Verified | Wrong | Crashed) and entry.outcome.checked:
            message = _executed_at(entry.contract, entry.outcome.checked)
            yield Finding(_EXECUTED_AT, Severity.NOTE, message, None)


def _executed_at(contract: Contract, checked: Sequence[Checked]) -> str:
    dtypes = ", ".join(dict.fromkeys(str(tensor.dtype) for tensor in contract.tensors))
    ran = {check.name for check in checked}
    workloads = [workload for workload in contract.workloads if workload.name in ran]
    sizes = []
    for symbol in contract.symbols:
        values = sorted({workload.sizes[symbol] for workload in workloads if symbol in workload.sizes})
        named = [str(value) for value in values]
        shown = named if len(named) <= _MOST_SIZES else [*named[: _MOST_SIZES - 1], "...", named[-1]]
        sizes.append(f"{symbol} = {', '.join(shown)}")
    return f"executed in {dtypes} at {'; '.join(sizes) or 'only the sizes that it is written with'}"
