"""Proves entries: examines the original at 32 lanes, runs its port on the same workloads, compares."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce

from porter.branch_coverage import NOT_MEASURED, Branches
from porter.contract.model.contract import Contract
from porter.contract.probe.known_probes import KnownProbes
from porter.diagnostics.findings import Finding
from porter.evaluate.judge.device_sizes import DeviceSizes
from porter.evaluate.judge.judge import Candidate, judge
from porter.evaluate.judge.nulls import TOLD_BY_NOTHING, passing_null
from porter.evaluate.judge.ported import Candidates, Ported
from porter.evaluate.judge.rehearsal import rehearsals
from porter.evaluate.judge.telling import Held, Telling, telling
from porter.evaluate.model.migration import EntryOutcome, Progress
from porter.evaluate.model.outcome import Equal, Fidelity, NotVerified, Outcome, Refused, Verified, Wrong
from porter.evaluate.model.time_shares import TimeShares
from porter.evaluate.problem.bench import CUDA_WARP_SIZE, Bench
from porter.evaluate.reference.choices import deciding
from porter.evaluate.reference.doubt import never_answered, unsound
from porter.evaluate.reference.judging import Judging
from porter.evaluate.reference.smaller import smaller
from porter.evaluate.reference.study import Originals, Settled, Studied, Unproven
from porter.evaluate.reference.views import on_device
from porter.execution.job import BuildFailure, Built
from porter.measure.deadline import Deadline, OutOfTime
from porter.oracle.lost import lost_elements, without_lost
from porter.oracle.outputs import largest
from porter.oracle.reference import Reference
from porter.oracle.single_precision import as_seen_before
from porter.simt.compiler import end_calls
from porter.translation_unit import TranslationUnit

# The root of bfloat16's epsilon and a margin, in parts of the largest number: `compare` allows no more to any type.
_MOST_LOST = 0.1
# What an entry may use of its turn before it is asked at smaller sizes, at which a softmax took a tenth of the time.
_PART_AS_DRAFTED = 0.5
# How long a second turn has to be beside the first one: the original's runs of that are known.
_PART_OF_FIRST = 0.5
# Those of a workload: of the original in three schedules, and of its port at one width, which may take much longer.
_LEAST_RUNS = 4
_NOT_ASKED = "another entry of the source was not found equal"
_NO_SMALLER = ", since no smaller sizes exercise as much"
_IN_BRIEF = "the original is too slow here (--limit, --size), and short runs show too little: {}"


@dataclass(frozen=True, slots=True)
class Proof:
    """The outcome of an entry, and what was seen of the original on the way.

    `at_fault` says that running showed the original itself to be wrong; `apart` are the proofs of single choices of an
    argument at which it is, where it is not at the others.
    """

    entry: EntryOutcome
    findings: tuple[Finding, ...]
    at_fault: bool = False
    apart: tuple[Proof, ...] = ()

    @property
    def stands(self) -> bool:
        """Returns whether this is the verdict; False where the original gave no answer, but a part of the entry may."""
        return self.at_fault or self.compared

    @property
    def compared(self) -> bool:
        """Returns whether there was something to hold the port to, or no port."""
        return not isinstance(self.entry.outcome, NotVerified)


# Makes what answers for an entry from its settled contract and from the port of it.
Answering = Callable[[Contract, Candidates], Candidates]


class _Steps:
    """Tells `progress` of each step, and keeps the `latest`."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self.latest = ""

    def __call__(self, step: str) -> None:
        """Begins a step."""
        self.latest = step
        self._progress(step)


@dataclass(frozen=True, slots=True)
class _Waiting:
    """An entry, its original and its port, how long its first turn is, and what its contract was probed with."""

    contract: Contract
    built: Built
    port: Candidates
    share_s: float
    known: KnownProbes = field(default_factory=KnownProbes)


def as_built(_: Contract, port: Candidates) -> Candidates:
    """Returns the port itself."""
    return port


@dataclass(frozen=True)
class Prover:
    """Proves entries of an original and its port.

    `sizes` are those that the user chose; `stated` says that the user wrote the contracts. With `judging` a port that
    anyone may have written is tried on more than the contracts' workloads. With `all_or_none` nothing is proven after
    the first entry that is not equal.
    """

    original: TranslationUnit
    ported: Ported
    sizes: Mapping[str, int]
    bench: Bench
    stated: bool = False
    judging: Judging | None = None
    deadline: Deadline = field(default_factory=Deadline)
    answering: Answering = as_built
    all_or_none: bool = False

    def prove(self, contracts: Sequence[Contract], progress: Progress) -> list[Proof]:
        """Builds all entries at once; studies and judges them one by one, each in its turn (`turns.py`).

        Entries that are broken off, or left at the deadline, are not verified. Raises `OutOfTime` at the end of a span
        of the caller's.
        """
        proofs, steps = dict[int, Proof](), _Steps(progress)
        try:
            if contracts and not self.deadline.passed:
                for place, proof in self._proofs(contracts, steps):
                    proofs[place] = proof
                    if self.all_or_none and not isinstance(proof.entry.outcome, Equal):
                        return [proofs.get(at) or _late(one, _NOT_ASKED) for at, one in enumerate(contracts)]
        except OutOfTime:
            end_calls()
            if not self.deadline.passed:  # what was broken off is the caller's, who knows what to do without it
                raise
        where = f" while {steps.latest}" if steps.latest else ""
        late = f"the limit of {self.deadline.limit_s or 0:g} s was over{where} (--limit)"
        return [proofs.get(place) or _late(contract, late) for place, contract in enumerate(contracts)]

    def _proofs(self, contracts: Sequence[Contract], steps: _Steps) -> Iterator[tuple[int, Proof]]:
        """Yields the proof of each entry with its place; entries without values for their arguments are not built.

        An entry whose turn was over may get another turn, and another proof.
        """
        wanted = [contract for contract in contracts if not never_answered(contract)]
        ready = self._ready(wanted, steps) if wanted else iter(())
        shares, late = TimeShares.of(wanted, self.deadline), list[tuple[int, _Waiting]]()
        for place, contract in enumerate(contracts):
            if because := never_answered(contract):
                yield place, _unproven(Unproven(contract, because))
                continue
            waiting = _Waiting(contract, *next(ready), shares.share_s)
            proof = self._in_turn(waiting, shares, steps)
            late += [(place, waiting)] if proof is None else []
            yield place, proof or _late(contract, shares.late(steps.latest))
        yield from self._again(late, shares.again(len(late)), steps)

    def _again(
        self, late: Sequence[tuple[int, _Waiting]], shares: TimeShares, steps: _Steps
    ) -> Iterator[tuple[int, Proof]]:
        """Yields the proof of each entry that finishes in a second turn, where enough time is left for one."""
        for place, waiting in late:
            if shares.share_s < _PART_OF_FIRST * waiting.share_s:
                shares.taken += 1
            elif proof := self._in_turn(waiting, shares, steps):
                yield place, proof

    def _in_turn(self, waiting: _Waiting, shares: TimeShares, steps: _Steps) -> Proof | None:
        """Returns the proof of an entry; None where its turn was over before."""
        proof = None
        with shares.next():
            proof = self._proof(waiting, steps)
        if proof is None:
            end_calls()
        return proof

    def _ready(self, contracts: Sequence[Contract], steps: _Steps) -> Iterator[tuple[Built, Candidates]]:
        """Builds the original and the port of each entry."""
        steps(f"building {contracts[0].name if len(contracts) == 1 else f'{len(contracts)} entries'}")
        building = self._originals.begin(contracts)
        ports = self.ported.candidates(contracts)
        return zip(building.result(), ports, strict=True)

    @property
    def _originals(self) -> Originals:
        return Originals(self.original, self.sizes, self.bench, self.stated, self.judging)

    def _proof(self, waiting: _Waiting, progress: Progress) -> Proof:
        """Returns the proof at the drafted sizes, or at smaller ones where these take too long."""
        settled = self._settled(waiting, progress)
        if isinstance(settled, Unproven):
            return _unproven(settled)
        assert not isinstance(waiting.built, BuildFailure)
        port = waiting.port if waiting.built.failure is not None else _whole(waiting.port)
        if self.stated or self.judging or not settled.contract.symbols:
            return self._held(settled, port, progress)
        proof = None if self._takes_long(settled) else self._as_drafted(settled, port, progress)
        if proof is not None and not _is_too_slow(proof):
            return proof
        end_calls()
        smaller_sizes = self._at_smaller_sizes(settled, port, progress)
        return smaller_sizes or proof or self._held(settled, port, progress, _NO_SMALLER)

    def _settled(self, waiting: _Waiting, progress: Progress) -> Settled | Unproven:
        """Settles the contract's questions; for a slow original only as far as brief runs tell.

        A run after which there is no time to prove anything at its sizes says no more if it comes to its end.
        """
        allowed_s = _PART_AS_DRAFTED * self.deadline.left_s
        with self.deadline.span(allowed_s) as span:
            known = waiting.known.within(allowed_s / (2 * _LEAST_RUNS))
            settled = self._originals.settled(waiting.contract, waiting.built, progress, known=known)
        if not (span.passed or (isinstance(settled, Unproven) and settled.too_slow)):
            return settled
        known = waiting.known
        settled = self._originals.settled(waiting.contract, waiting.built, progress, in_brief=True, known=known)
        return replace(settled, because=_IN_BRIEF.format(settled.because)) if isinstance(settled, Unproven) else settled

    def _takes_long(self, settled: Settled) -> bool:
        """Returns whether what is known of the original leaves no time to prove its port at the drafted sizes."""
        return settled.in_brief or _LEAST_RUNS * settled.once_s > _PART_AS_DRAFTED * self.deadline.left_s

    def _as_drafted(self, settled: Settled, port: Candidates, progress: Progress) -> Proof | None:
        """Returns the proof, unless that takes too long."""
        with self.deadline.span(_PART_AS_DRAFTED * self.deadline.left_s):
            return self._held(settled, port, progress)
        return None

    def _at_smaller_sizes(self, settled: Settled, port: Candidates, progress: Progress) -> Proof | None:
        """Returns the proof at the smallest sizes that do as much, where there are any."""
        progress(f"looking for smaller sizes of {settled.drafted.name}")
        found = smaller(settled.contract, settled.briefly, self.sizes)
        if found is None:
            return None
        fewer = replace(settled, contract=found.contract, left_out=(*settled.left_out, found.said))
        return self._held(fewer, port, progress, " at smaller sizes")

    def _held(self, settled: Settled, port: Candidates, progress: Progress, where: str = "") -> Proof:
        contract = settled.drafted
        progress(f"running {contract.name} as CUDA at {CUDA_WARP_SIZE} lanes{where}")
        studied = self._originals.answers(settled)
        if isinstance(studied, Unproven):
            return _unproven(studied)
        if self.ported.fidelity is not Fidelity.EMULATED:
            reference, said = on_device(studied.reference)
            studied = replace(studied, reference=reference, left_out=(*studied.left_out, said))
        progress(f"running the port of {contract.name}{where}")
        held = self.answering(studied.reference.contract, port)
        proof = replace(judged(self._originals, studied, held), apart=tuple(_at(*apart) for apart in studied.apart))
        on_devices = tuple(workload for workload in contract.workloads if workload.device_only)
        proof = reduce(with_caveat, (*studied.left_out, _not_run([w.name for w in on_devices])), proof)
        own = proof.entry.contract
        whole = replace(own, workloads=(*own.workloads, *on_devices))
        return replace(proof, entry=replace(proof.entry, contract=whole))


def judged(originals: Originals, studied: Studied, port: Candidates) -> Proof:
    """Judges the port by sound answers.

    A twin of the original that rounds otherwise is only built where the port differs by more than tolerance: it says
    how much the original itself loses. Ports that keep the order of operations never need it. In the same way the
    original is planned only where the port breaks a rule: the port may do whatever the original does.
    """
    reference, seen = studied.reference, (*studied.noted, *studied.reference.findings)
    if originals.judging and (null := passing_null(reference)):
        return Proof(_entry(reference, NotVerified(TOLD_BY_NOTHING.format(null))), seen)
    if originals.judging is None or not isinstance(port, tuple):
        return Proof(_entry(*_held(originals, studied, port)), seen)
    at = rehearsals(reference.contract, originals.sizes, {}, lambda _: None)
    device = DeviceSizes(port, at, originals.judging)
    reference, outcome = _held(originals, studied, port, device)
    asked = _asked(originals, studied, reference, port)
    if isinstance(outcome, Verified):
        workloads = telling(reference, port, originals.source.numbers, originals.judging)
        reference, outcome = asked.held(reference, outcome, workloads)
    if isinstance(outcome, Verified):
        reference, outcome = device.held(reference, outcome, asked)
    return Proof(_entry(reference, outcome), seen)


def _held(originals: Originals, studied: Studied, port: Candidates, device: DeviceSizes | None = None) -> Held:
    """Returns what was expected, and the outcome of the port."""
    outcome = _outcome(studied.reference, port, device, is_trusted=not originals.judging)
    if isinstance(outcome, Refused):
        habitual = originals.with_habits(studied.reference)
        if habitual.habits != studied.reference.habits:
            studied = replace(studied, reference=habitual)
            outcome = _outcome(habitual, port, device, is_trusted=False)
    reference, outcome = _without_lost(originals, studied.reference, outcome, port, device)
    if isinstance(outcome, Wrong) and _may_round(reference, outcome):
        reference = originals.measured(replace(studied, reference=reference))
        outcome = _outcome(reference, port, device, is_trusted=not originals.judging)
        reference, outcome = _without_lost(originals, reference, outcome, port, device)
        if isinstance(outcome, Verified):
            outcome = outcome.joined(Verified((), _as_single(reference)))
            exact = originals.in_whole_numbers(reference, studied.execute)
            outcome = _both(outcome, _outcome(exact, port)) if exact else outcome
    if isinstance(outcome, Verified) and (lost := lost_elements(reference)):
        outcome = outcome.joined(Verified((), lost))
    return reference, outcome


def _without_lost(
    originals: Originals, reference: Reference, outcome: Outcome, port: Candidates, device: DeviceSizes | None
) -> Held:
    """Returns expectation and outcome, after a second run for each wrong workload that an overflow may explain."""
    while isinstance(outcome, Wrong) and (known := _less_lost(originals, reference, outcome)) is not reference:
        reference, outcome = known, _outcome(known, port, device, is_trusted=not originals.judging)
    return reference, outcome


def _less_lost(originals: Originals, reference: Reference, wrong: Wrong) -> Reference:
    """Returns what is expected where the workload that is `wrong` may hang on how the original overflows."""
    failed, twin = wrong.checked[-1], partial(originals.twin, reference.contract)
    return without_lost(reference, failed.name, twin, is_extreme=failed.is_extreme)


def _as_single(reference: Reference) -> str:
    """Returns what is said of outputs that are compared less exactly than their type allows."""
    names = sorted(frozenset[str]().union(*(expected.single for expected in reference.expected)))
    listed = ", ".join(f"'{name}'" for name in names)
    return f"compared as float32, in which the original computes it: float64 {listed}" if names else ""


def _asked(originals: Originals, studied: Studied, before: Reference, port: tuple[Candidate, ...]) -> Telling:
    """Returns how original and port are asked further than `before`."""

    def hold(contract: Contract) -> Held | None:
        reference = originals.examined(contract, studied.execute)
        if unsound(reference):
            return None
        reference = as_seen_before(deciding(contract, reference), before)
        return _held(originals, replace(studied, reference=reference), port)

    return Telling(port, lambda contract: originals.examined(contract, studied.execute, once=True), hold)


def _may_round(reference: Reference, wrong: Wrong) -> bool:
    """Returns whether the original's own errors may explain the answer: never all of it, nor what has no number."""
    failed = wrong.checked[-1]
    expected = (e for e in reference.expected if e.workload.name == failed.name)
    return any(failed.max_abs_error <= _MOST_LOST * largest(e.outputs) for e in expected)


def _late(contract: Contract, because: str) -> Proof:
    return Proof(EntryOutcome(contract, NotVerified(because)), ())


def _is_too_slow(proof: Proof) -> bool:
    return isinstance(proof.entry.outcome, NotVerified) and proof.entry.outcome.too_slow


def _unproven(found: Unproven) -> Proof:
    outcome = NotVerified(found.because, found.too_slow)
    entry = EntryOutcome(found.contract, outcome, launched=found.launched)
    return Proof(entry, found.findings, found.at_fault)


def _at(choice: str, found: Unproven) -> Proof:
    proof = _unproven(found)
    return replace(proof, entry=replace(proof.entry, choice=choice))


def with_caveat(proof: Proof, caveat: str) -> Proof:
    """Returns the proof, which says what its verdict leaves out."""
    outcome = proof.entry.outcome
    if not isinstance(outcome, Equal) or not caveat:
        return proof
    whole = "; ".join(filter(None, (outcome.caveat, caveat)))
    return replace(proof, entry=replace(proof.entry, outcome=replace(outcome, caveat=whole)))


def _entry(reference: Reference, outcome: Outcome) -> EntryOutcome:
    branches = Branches(reference.coverage, outcome.coverage if isinstance(outcome, Verified) else NOT_MEASURED)
    return EntryOutcome(reference.contract, outcome, launched=reference.launched, branches=branches)


def _both(first: Verified, second: Outcome) -> Outcome:
    """Returns the verdict over the workloads of two."""
    return first.joined(second) if isinstance(second, Verified) else second


def _not_run(workloads: list[str]) -> str:
    """Returns what is said of those that only a device runs."""
    return f"not run without a device: {', '.join(workloads)}" if workloads else ""


def _whole(port: Candidates) -> Candidates:
    """Returns `port`, or None where it had to be built without its host functions."""
    if not isinstance(port, tuple):
        return port
    return next((c.failure for c in port if c.failure is not None), port)


def _outcome(
    reference: Reference, port: Candidates, device: DeviceSizes | None = None, *, is_trusted: bool = True
) -> Outcome:
    """Returns the outcome of the port on the workloads; with `device` its host code is run at sizes for one too."""
    if not isinstance(port, tuple):
        return port
    outcome = judge(reference, port, is_trusted=is_trusted)
    return device.named(outcome, reference.habits) if device and isinstance(outcome, Verified) else outcome
