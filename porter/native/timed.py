"""Runs and times an entry on the device, by the jobs of a contract."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from porter.execution.job import Job, Run
from porter.native.requests import Entry, ReferenceEntry
from porter.native.session import CandidateError, Prepared, Replayed, Session


def _same_job(job: Job) -> Job:
    return job


def _same_run(run: Run, job: Job) -> Run:  # noqa: ARG001 - one that has nothing to change
    return run


@dataclass(frozen=True)
class Timed:
    """An entry in `session`; host code also reads arguments at the positions `host`.

    A candidate has one for each job: its plan. `before` turns a contract's job into one for the entry, `after` turns
    its run into one of the contract.
    """

    session: Session
    entry: Entry | Callable[[Job], Entry]
    host: frozenset[int] = frozenset()
    before: Callable[[Job], Job] = _same_job
    after: Callable[[Run, Job], Run] = _same_run

    @property
    def is_planned(self) -> bool:
        """Returns True for a candidate's plan, which has to launch kernels of its own."""
        return callable(self.entry)

    def through(self, before: Callable[[Job], Job], after: Callable[[Run, Job], Run]) -> Timed:
        """Returns the same for jobs that `before` turns into jobs for this one."""
        return replace(
            self,
            before=lambda job: self.before(before(job)),
            after=lambda run, job: after(self.after(run, before(job)), job),
        )

    def run(self, job: Job) -> Run:
        """Returns the run of one call."""
        given = self.before(job)
        try:
            entry = self._entry(given)
        except CandidateError as failed:
            return self.after(failed.run, job)
        return self.after(self.session.run(entry, given, self.host), job)

    @property
    def compiles_on_call(self) -> bool:
        """Returns True for a reference that the first call of each size compiles, which takes seconds."""
        return isinstance(self.entry, ReferenceEntry) and self.entry.compiled

    def compile(self, job: Job) -> None:
        """Compiles what a call of such a reference takes, for sizes and types of `job`. Raises `CandidateError`."""
        if isinstance(self.entry, ReferenceEntry):
            self.session.compile(self.entry, self.before(job))

    def prepare(self, job: Job) -> Prepared:
        """Returns the next arm of the session. Raises `CandidateError`."""
        given = self.before(job)
        return self.session.prepare(self._entry(given), given, self.host)

    def _entry(self, job: Job) -> Entry:
        return self.entry(job) if callable(self.entry) else self.entry

    def replay(self, arm: int, job: Job, index: int) -> Replayed:
        """Returns what the timed graphs make of `job`, in the set `index` of their buffers."""
        found = self.session.replay(arm, self.before(job), index)
        return replace(found, run=self.after(found.run, job))
