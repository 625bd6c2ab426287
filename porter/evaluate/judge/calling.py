"""Calls a candidate's function with all arguments of the contract, or with inputs, where it returns the outputs.

The function's parameters say which: by their names where these are the contract's, else by their number. A function
that takes all arguments writes the outputs, as ports do; one that takes the inputs, with or without the numbers among
them, returns the outputs in the contract's order. Backends know nothing of it: arguments go, results come back in their
places.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from porter.contract.model.contract import Argument, Contract, Entry, EntryKind, Role, ScalarArg, TensorArg
from porter.evaluate.judge.ported import Candidates, Ported, Signature
from porter.evaluate.model.outcome import Fidelity, NotBuilt
from porter.execution.job import Execute, Fault, FaultKind, Job, Run, TensorValue, Value
from porter.simt.sample import SampledCall

FORWARD, MODEL = "forward", "ModelNew"
_FLAT = (EntryKind.POINTER, EntryKind.KERNEL)  # their tensors are counts of elements, whatever shape these have


@dataclass(frozen=True)
class Called:
    """Calls a candidate by a function it has: `entry` where that is given, else the contract's, else `forward`.

    An entry that only porter's own conventions name, a kernel's launcher or an instance of a template, is called by
    those.
    """

    ported: Ported
    entry: str = ""

    @property
    def warp_sizes(self) -> tuple[int, ...]:
        """The warp sizes of the candidate."""
        return self.ported.warp_sizes

    @property
    def fidelity(self) -> Fidelity:
        """The fidelity of the candidate."""
        return self.ported.fidelity

    @property
    def runs_programs(self) -> bool:
        """Returns whether the candidate is a program and can be run as one."""
        return self.ported.runs_programs and bool(self.ported.signatures("main"))

    def named(self, entry: Entry) -> str:
        """Returns the function that answers for `entry`."""
        by_name = self.ported.named(entry)
        return self.entry or by_name or next((name for name in (FORWARD, MODEL) if self.ported.signatures(name)), "")

    def signatures(self, function: str) -> tuple[Signature, ...]:
        """Returns the signatures of the candidate's functions."""
        return self.ported.signatures(function)

    def candidates(self, contracts: Sequence[Contract]) -> tuple[Candidates, ...]:
        """Returns what answers for each contract, or why nothing does."""
        calls = [self._call(contract, contracts) for contract in contracts]
        found = iter(self.ported.candidates([call.as_called for call in calls if isinstance(call, _Call)]))
        return tuple(call.through(next(found)) if isinstance(call, _Call) else call for call in calls)

    def _call(self, contract: Contract, contracts: Sequence[Contract]) -> _Call | NotBuilt:
        function, kind = self.named(contract.entry), contract.entry.kind
        if not function:
            looked_for = dict.fromkeys((FORWARD,) if kind is EntryKind.PROGRAM else (contract.entry.name, FORWARD))
            plainly = " or ".join(map(repr, looked_for))
            missing = f"the candidate defines no function {plainly} (another: --entry), and no class '{MODEL}'"
            return NotBuilt(missing, missing)
        by_name = not self.entry and self.ported.named(contract.entry) == function
        if by_name and (kind not in (EntryKind.TORCH, EntryKind.POINTER) or contract.entry.template):
            return _Call(contract, contract, ())
        names = tuple(dict.fromkeys(c.entry.name for c in contracts))
        if not by_name and len(names) > 1:
            several = f"'{function}' cannot answer for each of {', '.join(names)} (one of them: --kernel)"
            return NotBuilt(several, several)
        signatures = self.ported.signatures(function)
        if not signatures:
            missing = f"the candidate defines no function '{function}'"
            return NotBuilt(missing, missing)
        return next((c for s in signatures if (c := _fitting(contract, function, s))), None) or _impossible(
            contract, function, signatures
        )


@dataclass(frozen=True)
class _Call:
    """A contract, and the one of a function that takes fewer arguments and returns those named in `returned`."""

    contract: Contract
    as_called: Contract
    returned: tuple[str, ...]

    def through(self, candidates: Candidates) -> Candidates:
        """Returns `candidates`, callable under the contract."""
        if not isinstance(candidates, tuple) or self.contract is self.as_called:
            return candidates
        return tuple(
            replace(
                candidate,
                execute=self._executing(candidate.execute),
                rehearse=candidate.rehearse and self._rehearsing(candidate.rehearse),
                operations=candidate.operations and self._counting(candidate.operations),
                sample=candidate.sample and self._sampling(candidate.sample),
                timed=candidate.timed and candidate.timed.through(self._reduced, self._whole),
            )
            for candidate in candidates
        )

    def _executing(self, execute: Execute) -> Execute:
        def run_job(job: Job) -> Run:
            return self._whole(execute(self._reduced(job)), job)

        return run_job

    def _rehearsing(self, rehearse: Execute) -> Execute:
        return lambda job: rehearse(self._reduced(job))

    def _counting(self, operations: Callable[[Job], int]) -> Callable[[Job], int]:
        return lambda job: operations(self._reduced(job))

    def _sampling(self, sample: Callable[[Job], SampledCall]) -> Callable[[Job], SampledCall]:
        return lambda job: sample(self._reduced(job))

    def _reduced(self, job: Job) -> Job:
        """Returns `job` with the arguments that the function takes, in its order."""
        return replace(job, arguments=self._taken(job.arguments), before=self._taken(job.before) if job.before else ())

    def _taken(self, arguments: Sequence[Value]) -> tuple[Value, ...]:
        named = {a.name: value for a, value in zip(self.contract.arguments, arguments, strict=True)}
        return tuple(named[argument.name] for argument in self.as_called.arguments)

    def _whole(self, run: Run, job: Job) -> Run:
        """Returns the run as one of the contract's `job`: returned tensors stand where they would have been written."""
        if not run.finished:
            return run
        named = zip(self.contract.arguments, job.arguments, strict=True)
        tensors = [(argument.name, value) for argument, value in named if isinstance(value, TensorValue)]
        if len(run.results) < len(self.returned):
            wanted = f"{len(self.returned)} tensors ({', '.join(self.returned)})"
            message = f"{self.as_called.entry.name} has to return {wanted}, and returned {len(run.results)}"
            return replace(run, finished=False, faults=(*run.faults, Fault(FaultKind.HOST_CHECK, "", 0, "", message)))
        results = dict(zip(self.returned, run.results, strict=False))
        passed = dict(zip((t.name for t in self.as_called.tensors), run.outputs, strict=True))
        outputs = [
            given if given.null else self._placed(results[name], given) if name in results else passed.get(name, given)
            for name, given in tensors
        ]
        return replace(run, outputs=tuple(outputs), results=run.results[len(self.returned) :], touched=())

    def _placed(self, result: TensorValue, given: TensorValue) -> TensorValue:
        if self.contract.entry.kind not in _FLAT or result.count != given.count:
            return result
        placed = replace(result, shape=given.shape)
        return replace(placed, storage=result.storage.reshape(given.shape)) if placed.is_whole else placed


def _forms(contract: Contract) -> list[tuple[Argument, ...]]:
    """Returns what a function may take, the most first, each once. A stream is left out before an output is."""
    numbers = tuple(a for a in contract.arguments if isinstance(a, TensorArg) or not a.type.endswith("Stream_t"))
    inputs = tuple(a for a in numbers if isinstance(a, ScalarArg) or a.role is not Role.OUT)
    tensors = tuple(a for a in inputs if isinstance(a, TensorArg))
    return list(dict.fromkeys((contract.arguments, numbers, inputs, tensors)))


def _fitting(contract: Contract, function: str, signature: Signature) -> _Call | None:
    """Returns the call that `signature` allows: by its parameters' names, else by number, first without defaults."""
    forms = [form for form in _forms(contract) if _takes(signature, len(form))]
    plain = [form for form in forms if len(form) == signature.required]
    form = _by_name(contract, signature) or next(iter((*plain, *forms)), None)
    if signature.is_class:  # behind its inputs the parameters of the reference's module
        form = tuple(a for a in contract.arguments if isinstance(a, ScalarArg) or a.role is not Role.OUT)
    if form is None:
        return None
    if form == contract.arguments and contract.entry.name == function:
        return _Call(contract, contract, ())
    taken = frozenset(a.name for a in form)
    returned = tuple(t.name for t in contract.tensors if t.name not in taken)
    # Without a template: the function is the candidate's own.
    entry = Entry(EntryKind.TORCH if returned else contract.entry.kind, function)
    return _Call(contract, replace(contract, entry=entry, arguments=form), returned)


def _by_name(contract: Contract, signature: Signature) -> tuple[Argument, ...] | None:
    """Returns the arguments that the parameters name, if all tensors that are read are among them; None if not."""
    arguments = {argument.name: argument for argument in contract.arguments}
    known = tuple(takewhile(arguments.__contains__, signature.parameters))
    read = {tensor.name for tensor in contract.tensors if tensor.role is not Role.OUT}
    if len(known) < signature.required or not read <= set(known):
        return None
    return tuple(arguments[name] for name in known)


def _takes(signature: Signature, count: int) -> bool:
    return signature.required <= count and (signature.variadic or count <= len(signature.parameters))


def _impossible(contract: Contract, function: str, signatures: Sequence[Signature]) -> NotBuilt:
    """Returns what was expected, and what is there."""
    expected = " or ".join(f"({', '.join(a.name for a in form)})" for form in _forms(contract))
    found = " or ".join(f"({', '.join(s.parameters)})" for s in signatures)
    message = f"{function}{found} does not take {expected}, which the contract has"
    return NotBuilt(message, message)
