"""Writes a tensor program, with a schedule for each of its nests, as kernels and launches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from porter.contract.model.dtype import DType
from porter.ir.tensor.program import TensorProgram
from porter.ir.tile.program import Buffer, Host, Kernel, Launch, Operator
from porter.schedule.apart import apart
from porter.schedule.grids import bracketed
from porter.schedule.host_values import HostValues, Names, host
from porter.schedule.kernel_writer import KernelWriter
from porter.schedule.launches import Launches
from porter.schedule.nests import Nest, nests
from porter.schedule.polynomial import NotSchedulableError, Polynomial, product
from porter.schedule.row_kernels import flat_kernel, row_kernel
from porter.schedule.schedule import Algorithm, Schedule
from porter.schedule.shared_kernels import is_short, shared_kernel
from porter.schedule.space import usual_tiles
from porter.schedule.split_kernels import split_kernels

# What kernels call their values: host code computes nothing of these names.
_WORDS = ("row", "outer", "program", "tiles", "start", "lanes", "inside", "left", "value", "factor", "total")
_SHARE_OF_WARP = 512  # elements of 4 bytes that each warp of a short row holds
Chooser = Callable[[Nest], Schedule]


def operator(program: TensorProgram, arguments: Sequence[str], choose: Chooser, *, is_fitted: bool = False) -> Operator:
    """Returns `program` with the schedule that `choose` gives each nest; `arguments` are the names in a call.

    Where it `is_fitted` host code makes tiles no wider than their axes, so that kernels are compiled for a call. Raises
    `NotSchedulableError` where a nest is not expressed, or a schedule does not suit it.
    """
    writing = _Writing(program, arguments, is_fitted=is_fitted)
    words = []
    found = nests(program)
    for number, nest in enumerate(found):
        schedule = choose(nest)
        words.append(str(schedule))
        writing.add(nest, schedule)
        _refuse_overwritten(nest, {name for before in found[:number] for name in (r.name for r in before.results)})
    return writing.operator("; ".join(dict.fromkeys(words)))


def _refuse_overwritten(nest: Nest, before: set[str]) -> None:
    """Raises where an argument that is written is read elsewhere than where it is written, or after it was."""
    own = {result.name: result.place for result in nest.results}
    for read in nest.reads:
        if not read.tensor.startswith("part_") and (
            read.tensor in before or (read.tensor in own and read.place != own[read.tensor])
        ):
            raise NotSchedulableError(f"'{read.tensor}' is written before all of it is read")


class _Writing:
    """The kernels so far."""

    def __init__(self, program: TensorProgram, arguments: Sequence[str], *, is_fitted: bool) -> None:
        self._program = program
        self._arguments = frozenset(arguments)
        self._sizes = frozenset((*program.symbols, *program.parameters))
        self._names = Names({*self._sizes, *arguments, *_WORDS, *(output.name for output in program.outputs)})
        self._values = HostValues(self._names)
        self._is_fitted = is_fitted
        self._launching = Launches(self._values, self._names, is_fitted=is_fitted)
        types = {*(one.dtype for one in program.inputs), *(one.dtype for one in program.outputs)}
        self._precision = DType.FLOAT64 if DType.FLOAT64 in types else DType.FLOAT32
        self._kernels: list[Kernel] = []
        self._launches: list[Launch] = []
        self._buffers: list[Buffer] = []
        self._shares: list[tuple[str, Host]] = []
        self._limits: list[tuple[Host, str]] = []

    def add(self, nest: Nest, schedule: Schedule) -> None:
        """Adds the kernels of a nest."""
        if schedule.algorithm is Algorithm.APART:
            two = apart(nest, self._names, self._precision)
            self.add(two.reducing, replace(schedule, algorithm=Algorithm.SPLIT))
            self.add(two.storing, usual_tiles(two.storing))
            return
        outputs = {output.name for output in self._program.outputs}
        for result in nest.results:
            if result.name not in outputs:
                extent = product(loop.extent for loop in result.loops)
                self._buffers.append(Buffer(result.name, result.dtype, (host(extent),)))
        if schedule.algorithm is Algorithm.SHARED:
            self._add_shared(nest, schedule)
            return
        if schedule.algorithm is Algorithm.SPLIT:
            split = split_kernels(nest, schedule, self._writer, _word(nest), self._launching)
            self._kernels += split.kernels
            self._launches += split.launches
            self._buffers += split.buffers
            return
        writer = self._writer(_word(nest))
        if schedule.algorithm is Algorithm.FLAT:
            kernel = flat_kernel(nest, schedule, writer, self._launching.tiled_loops(nest, schedule))
            self._launches.append(self._launching.flat(kernel, nest, schedule))
        else:
            kernel = row_kernel(nest, schedule, writer)
            launch = self._launching.by_row(kernel, nest, schedule)
            self._launches.append(replace(launch, when=self._beside_short(nest, schedule)))
        self._kernels.append(kernel)

    def _beside_short(self, nest: Nest, schedule: Schedule) -> Host | None:
        """Adds a kernel of short rows beside one that reads long ones twice; returns when a row is long."""
        return self._add_short(nest)[1] if schedule.holds_short else None

    def _add_short(self, nest: Nest) -> tuple[Host, Host]:
        """Adds the kernel of rows that one program holds by itself; returns when a row is short, and when it is not."""
        own = Schedule(Algorithm.HELD, columns=_SHARE_OF_WARP * 4 // nest.element_bytes, warps=1)
        kernel = row_kernel(nest, own, self._writer(f"short_{_word(nest)}"))
        short = self._launching.by_row(kernel, nest, own)
        test = is_short(nest, short, is_fitted=self._is_fitted)
        self._kernels.append(kernel)
        self._launches.append(replace(short, when=test))
        return test, Host(test.text.replace("<=", ">"))

    def _add_shared(self, nest: Nest, schedule: Schedule) -> None:
        """Adds the kernel of rows that several programs hold, and that of rows which one program holds by itself."""
        shared = shared_kernel(nest, schedule, self._writer(_word(nest)), self._names)
        launch, demands = shared.launch, shared.demands
        if nest.fits_a_tile:
            test, is_long = self._add_short(nest)
            launch = replace(launch, when=is_long)
            demands = tuple((Host(f"{test.text} or {demand.text}"), because) for demand, because in demands)
        self._kernels.append(shared.kernel)
        self._launches.append(launch)
        self._buffers += shared.buffers
        self._shares += shared.sizes
        self._limits += demands

    def operator(self, schedule: str) -> Operator:
        """Returns all of it."""
        program = self._program
        results = tuple(
            Buffer(output.name, output.dtype, tuple(host(Polynomial.of_extent(extent)) for extent in output.shape))
            for output in program.outputs
            if output.name not in self._arguments
        )
        sizes = tuple((name, host(size)) for size, name in self._values.sizes.items())
        return Operator(
            program.name,
            schedule,
            (*sizes, *self._launching.sizes, *self._shares),
            tuple((name, quantity) for quantity, name in self._values.numbers.items()),
            (*_demands(self._values.sizes), *self._limits),
            tuple(self._buffers),
            results,
            tuple(self._kernels),
            tuple(self._launches),
            self._precision,
        )

    def _writer(self, name: str) -> KernelWriter:
        return KernelWriter(self._names.fresh(name), self._values, self._sizes, self._precision)


def _word(nest: Nest) -> str:
    if nest.scans:
        return "scan_kernel"
    if not nest.folds:
        return "pointwise_kernel"
    has_columns = any(len(result.loops) > len(nest.rows) for result in nest.results)
    return "row_kernel" if has_columns else "reduce_kernel"


def _demands(sizes: Iterable[Polynomial]) -> Iterator[tuple[Host, str]]:
    """Yields what sizes have to be divisible by, for quotients to be whole."""
    seen: set[str] = set()
    for size in sizes:
        for monomial, factor in size.terms:
            below = [atom for atom, power in monomial for _ in range(-power)]
            above = [atom for atom, power in monomial for _ in range(power)]
            if not below or factor != 1:
                continue
            divisor, dividend = " * ".join(below), " * ".join(above)
            text = f"{bracketed(dividend)} % {bracketed(divisor)} == 0"
            if text not in seen:
                seen.add(text)
                yield Host(text), f"{divisor} does not divide {dividend}"
