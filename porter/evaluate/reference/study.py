"""Builds the CUDA original for the executor, settles its contract and examines its answers, before any port is seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial

from porter.contract.infer.launch import GUESSED_SHARED_BYTES
from porter.contract.infer.number_lists import lists
from porter.contract.model.confirmation import Confirmation
from porter.contract.model.contract import Contract, EntryKind, ScalarArg, Workload
from porter.contract.model.findings import contract_findings, extents_of
from porter.contract.model.questions import guessed_launch, unknown_elements
from porter.contract.probe.branch_search import branch_workloads
from porter.contract.probe.confirm import confirm
from porter.contract.probe.known_probes import KnownProbes
from porter.contract.probe.other_values import unvaried
from porter.contract.probe.trials import Trials
from porter.diagnostics.findings import Finding
from porter.errors import ContractError
from porter.evaluate.model.migration import Progress
from porter.evaluate.problem.bench import BRIEF_S, CUDA_WARP_SIZE, Bench
from porter.evaluate.reference.choices import Examine, Examined, examined
from porter.evaluate.reference.doubt import launch_words, misled, misvalued, not_built, still_open, too_slow, unsound
from porter.evaluate.reference.judging import Judging, of_judgement
from porter.evaluate.reference.jumps import jumping
from porter.evaluate.reference.vacuous import vacuous
from porter.evaluate.reference.views import with_views
from porter.execution.job import DISHONEST, BuildFailure, Built, Executable, Execute, FaultKind, HardwareLimits, Part
from porter.oracle.reference import Reference, examine
from porter.oracle.single_precision import in_single_precision
from porter.oracle.text_output import of_devices
from porter.oracle.yardstick import in_whole_numbers, measured, shaken
from porter.translation_unit import TranslationUnit

_FEW_WORKLOADS = 3  # show what host code does


@dataclass(frozen=True, slots=True)
class Unproven:
    """Why there is nothing to compare with, and what was seen.

    `at_fault` is as in a reference, `too_slow` as in a verdict.
    """

    contract: Contract
    because: str
    findings: tuple[Finding, ...] = ()
    at_fault: bool = False
    launched: tuple[str, ...] = ()
    too_slow: bool = False


@dataclass(frozen=True)
class Settled:
    """A contract without questions, and its original, ready to be asked.

    `execute` runs the original, of the contract as it was `drafted`, and `briefly` does so as long as that takes hardly
    any time: a slow original is only asked `in_brief`. `left_out` is what it had to be built without, and the sizes at
    which it breaks. To run it once on each workload takes `once_s` seconds of processor time at least.
    """

    contract: Contract
    drafted: Contract
    execute: Execute
    briefly: Execute
    noted: tuple[Finding, ...]
    left_out: tuple[str, ...]
    in_brief: bool
    once_s: float = 0.0


@dataclass(frozen=True)
class Studied:
    """Answers that can be believed. `apart` are the choices at which the original is wrong, each with what is said.

    `execute` runs the original, `left_out` is what it had to be built or examined without: headers, choices, sizes.
    """

    reference: Reference
    execute: Execute
    noted: tuple[Finding, ...]
    apart: tuple[tuple[str, Unproven], ...]
    left_out: tuple[str, ...]


@dataclass(frozen=True)
class Originals:
    """Studies the entries of one CUDA source.

    `sizes` are those that the user chose; `stated` says that the user wrote the contracts. With `judging` there are
    more workloads than the contracts'.
    """

    source: TranslationUnit
    sizes: Mapping[str, int]
    bench: Bench
    stated: bool = False
    judging: Judging | None = None

    def begin(self, contracts: Sequence[Contract]) -> Future[tuple[Built, ...]]:
        """Starts the builds of all entries."""
        return self.bench.begin(self.source.request(contracts, CUDA_WARP_SIZE))

    def study(self, contract: Contract, built: Built, progress: Progress) -> Studied | Unproven:
        """Returns the answers to those workloads that are not for devices alone."""
        settled = self.settled(contract, built, progress)
        return settled if isinstance(settled, Unproven) else self.answers(settled)

    def settled(
        self,
        contract: Contract,
        built: Built,
        progress: Progress,
        *,
        in_brief: bool = False,
        known: KnownProbes | None = None,
    ) -> Settled | Unproven:
        """Settles the questions of `contract`, and drops workloads that are for devices alone.

        `in_brief` asks only at sizes at which the original takes hardly any time. Probes that are `known` are not made
        again; others that take more than its `longest_s` of processor time are broken off.
        """
        here = tuple(workload for workload in contract.workloads if not workload.device_only)
        known = known or KnownProbes()
        known = known.within(BRIEF_S if in_brief else max(known.longest_s, BRIEF_S))
        found = self._settled(replace(contract, workloads=here), built, progress, known)
        return found if isinstance(found, Unproven) else replace(found, drafted=contract)

    def _settled(self, contract: Contract, built: Built, progress: Progress, known: KnownProbes) -> Settled | Unproven:
        if isinstance(built, BuildFailure):
            return Unproven(contract, not_built(built, contract, self.source.program))
        progress(f"running {contract.name} as CUDA at {CUDA_WARP_SIZE} lanes")
        in_parts = contract.entry.kind is EntryKind.PROGRAM and not self.stated
        execute = self.bench.program(built) if in_parts else self.bench.original(built)
        asked = execute if in_parts else self.bench.within(known.longest_s).original(built)
        complete = self.stated and contract.workloads and not contract.questions
        try:
            confirmation = Confirmation(contract, 0) if complete else confirm(contract, asked, self.sizes, known)
        except ContractError as error:
            if self.stated:
                raise
            return Unproven(contract, f"the contract is open: its draft contradicts itself, {error} (--contract)")
        settled = confirmation.contract
        noted = contract_findings(confirmation, self.source.program)
        if because := still_open(settled, confirmation.trouble):
            return Unproven(settled, because, noted, too_slow=confirmation.trouble.startswith(FaultKind.TIMEOUT))
        is_drafted = settled.entry.launch is not None and not self.stated
        constant = "" if self.stated else _constant(settled, self.sizes)
        guessed = "" if self.stated else _guessed(settled)
        chosen = "" if self.stated else _words(settled), _elements(settled), "" if self.stated else _lists(settled)
        limited = _limited(confirmation, is_drafted=is_drafted), _extents(confirmation), _values(confirmation)
        left_out = *limited, constant, guessed, *chosen, _left_out(built)
        brief, in_brief = self.bench.briefly(built), known.longest_s <= BRIEF_S
        return Settled(settled, contract, execute, brief, noted, left_out, in_brief, confirmation.once_s)

    def answers(self, settled: Settled) -> Studied | Unproven:
        """Returns the answers to the workloads of a contract without questions."""
        contract, execute, noted = settled.contract, settled.execute, settled.noted
        look = partial(self.examined, execute=execute)
        found = self._examined(contract, look, execute)
        if unsound(found.reference):
            return _doubted(found.reference, settled.drafted, noted, look)
        found = with_views(contract, found, partial(look, once=True))
        if because := vacuous(found.reference, execute):
            return Unproven(contract, because, noted, launched=found.reference.launched)
        apart = tuple((choice, _doubted(reference, settled.drafted, (), look)) for choice, reference in found.wrong)
        left_out = (*settled.left_out, found.left_out, _of_devices(found.reference))
        return Studied(found.reference, execute, noted, apart, left_out)

    def _examined(self, settled: Contract, look: Examine, execute: Execute) -> Examined:
        if self.judging is None:
            return examined(settled, look, is_code=True)
        wanted, left_out = self.judging.wanted(self._with_sides(settled, execute))
        drawn = self.judging.reseeded(wanted)
        numbers = () if self.stated else self.judging.numbers(drawn)
        further = of_judgement((*self.judging.further(drawn), *numbers, *self._jumping(drawn, execute)))
        found = examined(drawn, look, further, is_code=True)
        return replace(found, left_out="; ".join(filter(None, (found.left_out, left_out))))

    def _with_sides(self, contract: Contract, execute: Execute) -> Contract:
        """Returns a contract of the user's with workloads for sides of the original's branches that its own leave out.

        Contracts that porter drafted have them already.
        """
        if not self.stated or self.judging is None or not self.judging.edges:
            return contract
        found = branch_workloads(contract, Trials(execute), self.sizes)
        return replace(contract, workloads=(*contract.workloads, *found))

    def _jumping(self, contract: Contract, execute: Execute) -> tuple[Workload, ...]:
        """Returns workloads with values of numbers at which the original's answer jumps."""
        if self.judging is None:
            return ()
        bases = self.judging.usual(contract)
        return tuple(jumping(contract, bases, execute, lambda: self.twin(contract), self.judging.seed))

    def examined(self, contract: Contract, execute: Execute, *, once: bool = False) -> Reference:
        """Examines the answers of `execute`, the original; sizes that nobody stated may not suit it."""
        drafted = not self.stated and any(symbol not in self.sizes for symbol in contract.symbols)
        return examine(contract, self.source.program, execute, drafted=drafted, once=once)

    def measured(self, studied: Studied) -> Reference:
        """Returns the answers with the error of the original, measured by a twin of it that rounds otherwise.

        Inputs are moved by their last bits, too: where sums cancel, these bits decide all that is left. (The mean of 13
        channels at a scale of 1e3 in a batch norm: one came to 0.01, and another order of adding up to 5e-6 beside.)
        """
        reference, twin = studied.reference, self.twin(studied.reference.contract)
        if twin is None:
            unknown = (replace(expected, rounds_otherwise=False) for expected in reference.expected)
            reference = replace(reference, expected=tuple(unknown))
        else:
            reference = in_single_precision(measured(reference, twin), studied.execute, twin)
        return shaken(reference, studied.execute)

    def in_whole_numbers(self, reference: Reference, execute: Execute) -> Reference | None:
        """Returns `reference` on whole numbers, whose sums are exact; None where it owes nothing to chance."""
        whole, twin = in_whole_numbers(reference), self.twin(reference.contract)
        if whole is None or twin is None:
            return None
        return in_single_precision(measured(examine(whole, self.source.program, execute), twin), execute, twin)

    def with_habits(self, reference: Reference) -> Reference:
        """Returns the answers with what the original's own host code does that a candidate's must not do by itself.

        The original is planned for this, as candidates are.
        """
        contract = reference.contract
        (built,) = self.bench.begin(replace(self.source.request((contract,), CUDA_WARP_SIZE), part=Part.HOST)).result()
        if not isinstance(built, Executable) or built.device is None:
            return reference
        own = self.source.own.library_work
        planned = self.bench.planned(built, built.device, HardwareLimits(), own)
        runs = [planned.execute(expected.job(contract)) for expected in reference.expected[:_FEW_WORKLOADS]]
        faults = (*planned.conclude(), *(fault for run in runs for fault in run.faults))
        return replace(reference, habits=reference.habits | ({fault.kind for fault in faults} & DISHONEST))

    def twin(self, contract: Contract) -> Execute | None:
        """Returns the twin of the original that rounds otherwise; None where it cannot be compiled so."""
        (built,) = self.bench.begin(self.source.request((contract,), CUDA_WARP_SIZE, double_precision=True)).result()
        return self.bench.execute(built) if isinstance(built, Executable) else None


def _doubted(reference: Reference, drafted: Contract, noted: tuple[Finding, ...], look: Examine) -> Unproven:
    """Returns what is said of an original that cannot be compared with: the contract may be the reason, or itself."""
    contract, launched = reference.contract, reference.launched
    if asked := misled(reference, drafted) or misvalued(reference, drafted, look):
        return Unproven(contract, asked, noted, launched=launched)
    seen = (*noted, *reference.findings)
    return Unproven(contract, unsound(reference), seen, reference.at_fault, launched, too_slow(reference))


def _limited(confirmation: Confirmation, *, is_drafted: bool) -> str:
    """Returns the sizes at which the original is right, if it breaks at others; empty where no tried size broke it.

    The reason may be a launch that `is_drafted`: porter's guess of its shared memory is too small for some sizes.
    """
    conditions = " and ".join(confirmation.inferred)
    launch = " with the launch that porter drafted" if is_drafted else ""
    return f"only with {conditions}, for the original breaks at other sizes{launch}" if conditions else ""


def _extents(confirmation: Confirmation) -> str:
    """Returns what is said of tensors of which data decide how far accesses go."""
    said = [f"{count} of '{name}'" for name, count in extents_of(confirmation)]
    return f"no size decides how many elements some tensors have, which were given {', '.join(said)}" if said else ""


def _values(confirmation: Confirmation) -> str:
    """Returns what is said of values with which the original leaves its memory: positions outside of a box, say."""
    names = ", ".join(confirmation.without)
    return f"not compared at {names}, with which the original leaves its memory" if names else ""


def _lists(contract: Contract) -> str:
    """Returns what is said of lists of numbers: how many porter gave them, which is what the source reads."""
    given = [f"{count} numbers in '{name}'" for name, count in lists(contract.arguments).items()]
    return f"with {', '.join(given)}, which are as many as the source reads" if given else ""


def _constant(contract: Contract, fixed: Mapping[str, int]) -> str:
    """Returns what is said of sizes and other numbers that no workload varies, except the user's own."""
    seen = {s: {w.sizes[s] for w in contract.workloads} for s in contract.symbols if s not in fixed}
    alike = [f"{symbol} = {next(iter(sizes))}" for symbol, sizes in seen.items() if len(sizes) == 1]
    numbers = [f"{argument.name} = {argument.value}" for argument in unvaried(contract)]
    said = [f"another {what} than {', '.join(which)}" for what, which in (("size", alike), ("value", numbers)) if which]
    return f"no drafted workload has {' or '.join(said)}" if said and len(contract.workloads) > 1 else ""


def _guessed(contract: Contract) -> str:
    """Returns what is said of a launch, or of its dynamic shared memory, that the source says nothing of."""
    launch = contract.entry.launch
    words = [launch_words(contract)] if guessed_launch(contract) else []
    if launch is not None and launch.shared_bytes == GUESSED_SHARED_BYTES:
        words.append(f"{GUESSED_SHARED_BYTES} bytes of dynamic shared memory")
    return f"launched with {', '.join(words)}, a guess" if words else ""


def _elements(contract: Contract) -> str:
    """Returns what is said of tensors of which neither the source nor the user says what their elements are."""
    names = [f"'{t.name}'" for t in contract.tensors if t.name in unknown_elements(contract)]
    return f"the elements of {', '.join(names)} were taken to be float32, a guess" if names else ""


def _of_devices(reference: Reference) -> str:
    """Returns what is said of printed lines that are another on each device."""
    lines = max((of_devices(expected.outputs.text) for expected in reference.expected), default=0)
    return f"printed lines that change with the properties of the device were not compared: {lines}" if lines else ""


def _words(contract: Contract) -> str:
    """Returns what is said of the words that a program was run with, which porter chose."""
    is_program = contract.entry.kind is EntryKind.PROGRAM
    given = " ".join(a.value for a in contract.arguments if isinstance(a, ScalarArg)) if is_program else ""
    return f"the program was run with the arguments {given} alone, which porter chose" if given else ""


def _left_out(built: Executable) -> str:
    """Returns what the original had to be built without; empty when it is whole."""
    if built.failure is None:
        return ""
    empty = f", and {', '.join(built.absent)} treated as empty" if built.absent else ""
    return f"unused functions that do not build here ({built.failure.message}), were left out{empty}"
