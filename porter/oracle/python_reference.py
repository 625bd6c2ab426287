"""A Python file as the standard: `reference(*inputs)`, or a `Model` with `get_inputs` and `get_init_inputs`.

The right answer is what it gives in double precision, rounded once to the type of its answer. What it gives at its own
types, and to inputs that differ in the last bits, is the yardstick. Where the two disagree about what is finite it has
no answer; where it cannot be asked in double precision its own answer is the right one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from porter.contract.model.contract import (
    Argument,
    Contract,
    Entry,
    EntryKind,
    Role,
    ScalarArg,
    TensorArg,
    Values,
    Workload,
)
from porter.contract.model.dtype import DType, decode
from porter.contract.workload.workloads import choose_sizes
from porter.diagnostics.findings import Finding
from porter.errors import InputError
from porter.execution.job import Construction, Job, Limits, TensorValue
from porter.launch_plan.wire import WireError
from porter.launch_plan.wire import decode as decode_graph
from porter.lift.exported.graph import ExportedGraph
from porter.oracle.faults import named
from porter.oracle.python_answers import Asking, Drawn, said
from porter.oracle.python_calling import NoAnswerError
from porter.oracle.python_question import Ask, Described, Description, Question, description
from porter.oracle.python_sizes import MAX_ELEMENTS, Sizes, elements, expression, find_sizes, sizes_near
from porter.oracle.reference import Expected, Reference
from porter.rules.original import NO_CODE, OwnCode
from porter.source.encoding import read_text
from porter.source_text import Source
from porter.worker.frames import Task
from porter.worker.run import Worker

_WORKER = "porter.oracle.python_worker"
_SEED = 20_021
_SPLIT = 6  # rows of what is asked with an axis more, which makes them two times three
_STATE_IT = 'state it in a contract that names it: reference = "{}"'


@contextmanager
def python_standard(path: Path, contracts: tuple[Contract, ...], limits: Limits) -> Iterator[PythonStandard]:
    """The file at `path`, asked in a process of its own; `contracts` are what it is called by, else it says so itself.

    Raises `InputError` where it cannot be read.
    """
    source = Source(path, read_text(path))
    with TemporaryDirectory(prefix="porter-reference-", ignore_cleanup_errors=True) as folder:
        worker = Worker(_WORKER, path.resolve(), Path(folder), limits)
        try:
            yield PythonStandard(source, worker, contracts)
        finally:
            worker.close()


@dataclass(frozen=True)
class PythonStandard:
    """A Python reference and the process that runs it."""

    source: Source
    worker: Worker
    stated: tuple[Contract, ...]
    findings: tuple[Finding, ...] = ()
    recorded: int | None = None
    left_out: str = ""
    own: OwnCode = NO_CODE

    def contracts(self) -> tuple[Contract, ...]:
        """Returns those that were stated, else the one that its inputs give. Raises `InputError` where they do not."""
        return self.stated or (self._drafted,)

    def written_sizes(self, contract: Contract) -> Mapping[str, int]:
        """The sizes of its own inputs."""
        written = {} if self.stated else self._sizes.symbols
        return written if set(contract.symbols) <= written.keys() else {}

    def sizes_near(self, contract: Contract, targets: Mapping[str, int]) -> Mapping[str, int] | None:
        """The sizes nearest to `targets` at which it runs; those that a stated contract's conditions allow."""
        if self.stated:
            return choose_sizes(contract, {}, targets)
        chosen = sizes_near(self._written, self._sizes.symbols, targets, self._describe)
        found = None if chosen is None else self._describe(self._sizes.extents(chosen))
        if chosen is None or found is None:
            return None
        extents = {f"{p.name}_size{axis}": extent for p in found.parameters for axis, extent in enumerate(p.shape)}
        sizes = {**extents, **chosen}
        return {symbol: sizes[symbol] for symbol in contract.symbols}

    def other_axes(self, contract: Contract) -> tuple[Workload, ...]:
        """Workloads with an axis more and one less, as far as it runs there; a stated contract says how many it has."""
        first = next((i.shape for i in self._written.inputs if i.dtype), ()) if not self.stated else ()
        symbol = next((s for s, extent in self._sizes.symbols.items() if first[:1] == (extent,)), "") if first else ""
        if not symbol:
            return ()
        tiny = contract.workloads[0]
        sizes = {**tiny.sizes, symbol: _SPLIT}
        found = (
            replace(tiny, name=_counted(len(first) + axes), sizes=sizes, axes=axes)
            for axes in (1, -1)
            if self._describe(self._sizes.extents(sizes), axes) is not None
        )
        return tuple(found)

    def reference(self, contract: Contract) -> Reference:
        """Its answers; the first workload without one ends them and says why."""
        expected: list[Expected] = []
        because, seconds = "", 0.0
        for workload in contract.workloads:
            asking = Asking(self.worker, contract, workload, None if self.stated else self._drawn(workload.sizes))
            try:
                self._check_size(workload)
                expected.append(replace(asking.expected(), construction=self.construction(workload.sizes)))
            except NoAnswerError as error:
                because = f"{self.source.path.name}: {error}, {named(workload)}"
            seconds += asking.seconds
            if because:
                break
        complete = len(expected) == len(contract.workloads)
        return Reference(contract, tuple(expected), (), True, complete, because, seconds)

    def exported(self, sizes: Mapping[str, int]) -> ExportedGraph:
        """Returns the graph of operators that it calls at these sizes of its own contract.

        Raises `NoAnswerError`, which names the line where it cannot be exported.
        """
        question = Question(Ask.EXPORT, self._sizes.extents(sizes))
        run, text = self.worker.run(Task(question.encoded(), Job()))
        if not run.finished:
            raise NoAnswerError(said(run))
        try:
            return decode_graph(ExportedGraph, "\n".join(text))
        except WireError as error:
            raise NoAnswerError(f"its process says no graph: {error}") from error

    def construction(self, sizes: Mapping[str, int]) -> Construction | None:
        """Returns how its module is built at these sizes; None where it is a function, or a contract says how it is
        called.
        """
        found = None if self.stated else self._describe(self._sizes.extents(sizes))
        return Construction(found.built_with, found.state) if found and found.built_with else None

    def _check_size(self, workload: Workload) -> None:
        """Raises `NoAnswerError` where the reference does not run, or would take too long."""
        if self.stated:
            return
        found = self._describe(self._sizes.extents(workload.sizes))
        if found is None:
            raise NoAnswerError("it does not run at these sizes")
        if elements(found) > MAX_ELEMENTS:
            raise NoAnswerError("it is too large to run here")

    def _drawn(self, sizes: Mapping[str, int]) -> Drawn:
        return Drawn(self._sizes.extents(sizes), self._signed, self._written.arguments)

    @cached_property
    def _written(self) -> Description:
        """Returns what it takes and gives at the sizes it is written with."""
        run, text = self.worker.run(Task(Question(Ask.DESCRIBE).encoded(), Job()))
        if not run.finished:
            raise InputError(f"{self.source.path}: {said(run)}", "a reference has to run by itself")
        written = description("\n".join(text))
        if not written.inputs:
            missing = "it does not say what its 'reference' takes"
            hint = "add get_inputs(), which returns its inputs, or " + _STATE_IT.format(self.source.path.name)
            raise InputError(f"{self.source.path}: {missing}", hint)
        return written

    @cached_property
    def _sizes(self) -> Sizes:
        found = find_sizes(self._written, self._describe, self._runs)
        if found is None:
            large = "it does not run at sizes that are small enough to be executed here"
            raise InputError(f"{self.source.path}: {large}", _STATE_IT.format(self.source.path.name))
        return found

    def _describe(self, extents: Mapping[int, int], axes: int = 0) -> Description | None:
        """Returns what it takes and gives at other sizes, and with so many axes more; None where it does not run."""
        run, text = self.worker.run(Task(Question(Ask.DESCRIBE, extents, axes=axes).encoded(), Job()))
        try:
            return description("\n".join(text)) if run.finished else None
        except ValueError:
            return None

    def _runs(self, sizes: Sizes) -> bool:
        """Returns whether it answers to contents of its own at the smallest of `sizes`."""
        tiny = Workload("tiny", sizes.tiny, _SEED)
        entry = Entry(EntryKind.TORCH, "forward")
        contract = Contract(self.source.path.stem, "other", entry, (), tuple(sizes.symbols), (), (tiny,), {})
        drawn = Drawn(sizes.extents(tiny.sizes), signed=False, arguments=self._written.arguments)
        asking = Asking(self.worker, contract, tiny, drawn)
        try:
            asking.results(asking.arguments())
        except NoAnswerError:
            return False
        return True

    @cached_property
    def _signed(self) -> bool:
        """Returns whether numbers that it draws from [0, 1) may be any: not where it then has no finite answer."""
        return self._finite(signed=True) or not self._finite(signed=False)

    def _finite(self, *, signed: bool) -> bool:
        tiny = Workload("tiny", self._sizes.tiny, _SEED)
        drawn = Drawn(self._sizes.extents(tiny.sizes), signed, self._written.arguments)
        asking = Asking(self.worker, replace(self._unsized, workloads=(tiny,)), tiny, drawn)
        try:
            results = asking.results(asking.arguments())
        except NoAnswerError:
            return False
        return all(_is_finite(value) for value in results)

    @property
    def _unsized(self) -> Contract:
        """The contract without arguments."""
        entry = Entry(EntryKind.TORCH, "forward")
        return Contract(self.source.path.stem, "other", entry, (), tuple(self._sizes.symbols), (), (), {})

    @cached_property
    def _drafted(self) -> Contract:
        sizes = self._sizes
        tiny, odd = (self._describe(sizes.extents(chosen)) for chosen in (sizes.tiny, sizes.odd))
        if tiny is None or odd is None:
            raise InputError(f"{self.source.path}: it runs once at these sizes, but not a second time")
        draft = _Draft(sizes)
        names = {extent: symbol for symbol, extent in sizes.symbols.items()}
        inputs = (draft.argument(i, [names.get(e, str(e)) for e in i.shape]) for i in self._written.inputs)
        parameters = zip(self._written.parameters, tiny.parameters, odd.parameters, strict=True)
        arguments = (*inputs, *(draft.argument(w, draft.extents(w, t, o)) for w, t, o in parameters))
        workloads = (
            Workload("tiny", {**sizes.tiny, **draft.tiny}, _SEED),
            Workload("odd", {**sizes.odd, **draft.odd}, _SEED + 1),
        )
        symbols = (*sizes.symbols, *draft.tiny)
        return replace(self._unsized, arguments=arguments, symbols=symbols, workloads=workloads)


class _Draft:
    """Arguments in symbols; an extent that none of them gives is a symbol of its own, with a size in each choice."""

    def __init__(self, sizes: Sizes) -> None:
        self._sizes = sizes
        self.tiny: dict[str, int] = {}
        self.odd: dict[str, int] = {}

    def argument(self, described: Described, shape: Sequence[str]) -> Argument:
        """A tensor of `shape`, or a number."""
        if not described.dtype:
            number = described.value
            text = repr(int(number) if number.is_integer() else number)
            return ScalarArg(described.name, "int" if number.is_integer() else "double", text)
        dtype = DType(described.dtype)
        values = Values.NORMAL if dtype.is_float else Values.BOOLEAN
        return TensorArg(described.name, Role.IN, dtype, tuple(shape), values)

    def extents(self, written: Described, tiny: Described, odd: Described) -> list[str]:
        """The shape of a parameter that is `written` so, and `tiny` and `odd` at these sizes."""
        extents = enumerate(zip(written.shape, tiny.shape, odd.shape, strict=True))
        return [self._extent(written.name, axis, *extent) for axis, extent in extents]

    def _extent(self, name: str, axis: int, written: int, tiny: int, odd: int) -> str:
        if given := expression(written, tiny, odd, self._sizes):
            return given
        symbol = f"{name}_size{axis}"
        self.tiny[symbol], self.odd[symbol] = tiny, odd
        return symbol


def _counted(axes: int) -> str:
    return "1 axis" if axes == 1 else f"{axes} axes"


def _is_finite(value: TensorValue) -> bool:
    return bool(np.isfinite(decode(value.storage, value.dtype)).all())
