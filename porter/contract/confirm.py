"""Draft → contract: run the original at a few sizes and let what it touches answer what its source leaves open.

Every run is of a watched executable, on allocations far larger than needed and at sizes that are different primes.
1. `probe`: run at three sets of sizes; retry smaller where a launch cannot start, larger where an allocation was short.
2. `fit` the extent each pointer was seen to have; what was never written is `in`, what was never read before it was
   written is `out`.
3. indices: their bound is a symbol of its own while extents are fitted. Where extents show which symbol it stands for,
   it becomes that symbol; where the indexed tensor has no other extent, it stays.
4. `settle`: run the default workloads on exact allocations. What breaks at odd sizes, or computes with what nobody
   wrote, and does not at round ones gets the condition (`n % 4 == 0`) that mends it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from porter.contract.contract import Contract, EntryKind, Role, TensorArg, Values, Workload
from porter.contract.expressions import names_in
from porter.contract.fit import Fit, bound_by, fit
from porter.contract.garbage import POISONS, computes_with_garbage, takes_garbage
from porter.contract.placing import divisibilities, fitted_axes, lengthened, own_grids, placements, regridded
from porter.contract.probing import job, probe_job, probe_sizes
from porter.contract.questions import bound_question, extent_question, unknown_bounds, unknown_extents
from porter.contract.workloads import with_workloads
from porter.simt.job import FaultKind, Job, Run

Execute = Callable[[Job], Run]

_PROBE_ELEMENTS = 1 << 16
_MOST_ELEMENTS = 1 << 22
_GROWTH = 8
_MOST_RUNS = 40
_TROUBLE = frozenset(
    (FaultKind.OUT_OF_BOUNDS, FaultKind.MISALIGNED, FaultKind.LAUNCH, FaultKind.HOST_CHECK, FaultKind.CRASH)
)


@dataclass(frozen=True, slots=True)
class Probe:
    """One finished run: sizes (bounds of indices among them), and what was seen."""

    sizes: Mapping[str, int]
    run: Run


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The contract as far as running could complete it, how many runs that took, and what broke where it did not.

    `inferred` are the conditions among the contract's that no source states: the original breaks without them.
    """

    contract: Contract
    runs: int
    trouble: str = ""
    inferred: tuple[str, ...] = ()


def confirm(contract: Contract, execute: Execute, fixed: Mapping[str, int] | None = None) -> Confirmation:
    """Answer `contract`'s questions about extents, bounds and roles; `fixed` holds sizes the user chose."""
    if contract.entry.kind is EntryKind.PROGRAM:
        return Confirmation(contract, 0)
    return _Confirmer(contract, execute, dict(fixed or {})).confirmed()


class _Confirmer:
    """Counts runs and remembers the last thing that broke."""

    def __init__(self, contract: Contract, execute: Execute, fixed: dict[str, int]) -> None:
        self.contract = contract
        self.execute = execute
        self.fixed = {s: n for s, n in fixed.items() if s in contract.symbols}
        self.runs = 0
        self.elements = _PROBE_ELEMENTS
        self.trouble = ""
        self.stated = contract.conditions
        self.seen: dict[tuple[object, ...], Run] = {}

    def confirmed(self) -> Confirmation:
        """The whole procedure."""
        torch = self.contract.entry.kind is EntryKind.TORCH
        if torch or unknown_extents(self.contract) or unknown_bounds(self.contract):
            if not self._start():
                return Confirmation(self.contract, self.runs, self.trouble)
            probed = self._with_bounds_as_symbols()
            probes = self._probes(probed)
            if len(probes) < _needed(probed):
                return Confirmation(self.contract, self.runs, self.trouble)
            self._learn(*self._on_a_fitting_grid(probed, probes))
        self.contract = with_workloads(self.contract, self.fixed)
        self._settle()
        inferred = tuple(c for c in self.contract.conditions if c not in self.stated)
        return Confirmation(self.contract, self.runs, self.trouble, inferred)

    def run(self, contract: Contract, sizes: Mapping[str, int], elements: int = 0, *, poison: int = POISONS[0]) -> Run:
        """One run of `contract` at `sizes`; unknown extents are `elements` long, fresh memory holds `poison`."""
        key = (tuple(sizes.items()), elements, contract.arguments, poison)
        if key not in self.seen:
            self.runs += 1
            exact = Workload("probe", sizes, seed=1)
            given = probe_job(contract, sizes, elements) if elements else job(contract, exact, poison)
            self.seen[key] = self.execute(given)
        run = self.seen[key]
        broken = next((f for f in run.faults if f.kind in _TROUBLE or f.fatal), None)
        if broken is not None:
            self.trouble = f"{broken.kind.value} at line {broken.line}: {broken.message}"
        return run

    def _start(self) -> bool:
        """Make the first probes run at all: find shapes host code accepts, and sizes a launch can start with.

        What runs at two sets of sizes is taken; what runs at one only if nothing better is found.
        """
        second_best: Contract | None = None
        for conditions in ((), *divisibilities(self.contract)):
            limited = replace(self.contract, conditions=(*self.contract.conditions, *conditions))
            for candidate in placements(limited):
                found = self._starting(candidate, smaller=0)
                found = found or (self._starting(candidate, smaller=1) if not conditions else None)
                if found is not None and self._starts_again(found):
                    self.contract, self.trouble = found, ""
                    return True
                second_best = second_best or found
            if self.runs > _MOST_RUNS:
                break
        self.contract = second_best or self.contract
        return second_best is not None

    def _starts_again(self, candidate: Contract) -> bool:
        sizes = probe_sizes(candidate, frozenset(), self.fixed, 1, 0)
        return sizes is not None and _starts(self.run(candidate, sizes, self.elements))

    def _starting(self, candidate: Contract, smaller: int) -> Contract | None:
        """`candidate`, its torch tensors given the axes they are seen to lack, if it runs; else None."""
        sizes = probe_sizes(candidate, frozenset(), self.fixed, 0, smaller)
        if sizes is None:
            return None
        run = self._roomy(candidate, sizes)
        if run.finished and candidate.entry.kind is EntryKind.TORCH and any(t.beyond for t in run.touched):
            candidate = lengthened(candidate, run)
            run = self.run(candidate, sizes, self.elements)
            candidate = fitted_axes(candidate, run, sizes)
        return candidate if _starts(run) else None

    def _with_bounds_as_symbols(self) -> Contract:
        """The contract with a symbol for every unknown bound."""
        unknown = {t.name for t in unknown_bounds(self.contract)}
        arguments = tuple(
            replace(a, bound=_bound_symbol(a)) if isinstance(a, TensorArg) and a.name in unknown else a
            for a in self.contract.arguments
        )
        symbols = (*self.contract.symbols, *(_bound_symbol(t) for t in self.contract.tensors if t.name in unknown))
        return replace(self.contract, arguments=arguments, symbols=symbols)

    def _probes(self, contract: Contract) -> list[Probe]:
        probes: list[Probe] = []
        for attempt in range(3):
            probe = self._probe(contract, attempt)
            if probe is not None and all(probe.sizes != p.sizes for p in probes):
                probes.append(probe)
        return probes

    def _probe(self, contract: Contract, attempt: int) -> Probe | None:
        """A run that touches nothing beyond its allocations, at the sizes wanted or at smaller ones."""
        bounds = frozenset(contract.symbols) - set(self.contract.symbols)
        for smaller in (0, 1, 2):
            sizes = probe_sizes(contract, bounds, self.fixed, attempt, smaller)
            if sizes is None:
                return None
            run = self._roomy(contract, sizes)
            if _starts(run):
                return Probe(sizes, run)
        return None

    def _roomy(self, contract: Contract, sizes: Mapping[str, int]) -> Run:
        """A run on allocations that grow until it touches nothing beyond them, or too much."""
        run = self.run(contract, sizes, self.elements)
        while _falls_short(contract, run) and self.elements < _MOST_ELEMENTS:
            self.elements *= _GROWTH
            run = self.run(contract, sizes, self.elements)
        return run

    def _on_a_fitting_grid(self, probed: Contract, probes: list[Probe]) -> tuple[Contract, list[Probe]]:
        """A grid of a size of its own that leaves extents unexplained may well span a size the kernel is given."""
        if self._explained(probed, probes):
            return probed, probes
        for own, size in own_grids(probed):
            trial = regridded(probed, own, size)
            found = self._probes(trial)
            if len(found) >= _needed(trial) and self._explained(trial, found):
                self.contract = regridded(self.contract, own, size)
                return trial, found
        return probed, probes

    def _explained(self, contract: Contract, probes: list[Probe]) -> bool:
        return all(f is not None and f.exact for f in self._fits(contract, probes).values())

    def _learn(self, probed: Contract, probes: list[Probe]) -> None:
        """Replace guessed shapes and roles by what the probes show."""
        fits = self._fits(probed, probes)
        bounds = self._bounds(probed, probes, fits)
        if bounds:
            probed = _with_bounds(probed, bounds)
            probes = self._probes(probed)
            if len(probes) < _needed(probed):
                return
            fits = self._fits(probed, probes)
        conditions = dict.fromkeys((*self.contract.conditions, *_roundings(fits)))
        arguments = tuple(self._argument(a, fits, probes) if isinstance(a, TensorArg) else a for a in probed.arguments)
        used = {
            n
            for a in arguments
            if isinstance(a, TensorArg)
            for text in (*a.shape, a.bound)
            if text
            for n in names_in(text)
        }
        symbols = tuple(s for s in probed.symbols if s in self.contract.symbols or s in used)
        answered = {extent_question(n) for n, f in fits.items() if f is not None}
        answered |= {bound_question(t.name) for t in probed.tensors}
        questions = tuple(q for q in self.contract.questions if q not in answered)
        self.contract = replace(
            self.contract, arguments=arguments, symbols=symbols, conditions=tuple(conditions), questions=questions
        )

    def _fits(self, contract: Contract, probes: list[Probe]) -> dict[str, Fit | None]:
        unknown = {t.name for t in unknown_extents(contract)}
        fits: dict[str, Fit | None] = {}
        for tensor in contract.tensors:
            if tensor.name in unknown:
                extents = self._extents(contract, probes, tensor.name)
                found = fit(extents, [p.sizes for p in probes]) if max(extents) else Fit("1", exact=True)
                fits[tensor.name] = found
        return fits

    def _bounds(self, probed: Contract, probes: list[Probe], fits: Mapping[str, Fit | None]) -> dict[str, str]:
        """Which symbol each unknown bound stands for; absent for one that the extents show to be a size of its own."""
        found: dict[str, str] = {}
        sizes = [p.sizes for p in probes]
        for tensor in unknown_bounds(self.contract):
            symbol = _bound_symbol(tensor)
            if any(f is not None and f.exact and _is_factor(symbol, f.text) for f in fits.values()):
                continue
            if all(f is not None and f.exact and symbol not in names_in(f.text) for f in fits.values()):
                found |= self._largest_bound(probed, probes[0].sizes, symbol)
                continue
            unexplained = [n for n, f in fits.items() if f is None or not f.exact or symbol in names_in(f.text)]
            seen = [self._extents(probed, probes, name) for name in unexplained]
            choices = [s for s in self.contract.symbols if s not in found.values()]
            fitting = (s for s in choices if any(bound_by(s, symbol, extents, sizes) for extents in seen))
            stands_for = next(fitting, choices[-1] if choices else "")
            if stands_for:
                found[symbol] = stands_for
        return found

    def _largest_bound(self, probed: Contract, sizes: Mapping[str, int], symbol: str) -> dict[str, str]:
        """The largest size that indices may reach without leaving tensors whose extents are known."""
        for choice in sorted(self.contract.symbols, key=lambda s: -sizes[s]):
            trial = _with_bounds(probed, {symbol: choice})
            run = self.run(trial, {s: n for s, n in sizes.items() if s != symbol}, self.elements)
            if run.finished and not any(f.kind in _TROUBLE for f in run.faults):
                return {symbol: choice}
        return {}

    @staticmethod
    def _extents(contract: Contract, probes: list[Probe], name: str) -> list[int]:
        """Elements from the start to the last one touched, for each probe."""
        position = [t.name for t in contract.tensors].index(name)
        width = contract.tensors[position].dtype.bytes
        touched = [p.run.touched[position] for p in probes]
        return [-(-max(t.read_end, t.written_end) // width) for t in touched]

    def _argument(self, tensor: TensorArg, fits: Mapping[str, Fit | None], probes: list[Probe]) -> TensorArg:
        position = [t.name for t in self.contract.tensors].index(tensor.name)
        touched = [p.run.touched[position] for p in probes]
        found = fits.get(tensor.name)
        role = tensor.role
        if any(t.written_end or t.read_end for t in touched):
            written, read = any(t.written_end for t in touched), any(t.read_end for t in touched)
            role = (Role.INOUT if read else Role.OUT) if written else Role.IN
        if role is Role.OUT and found is not None and not found.exact:
            role = Role.INOUT  # elements that are never written must have a value of their own
        shape = self._shape(tensor, found)
        bound = f"{shape[0]} - 1" if tensor.values is Values.SORTED and found is not None else tensor.bound
        return replace(tensor, role=role, shape=shape, bound=bound)

    def _shape(self, tensor: TensorArg, found: Fit | None) -> tuple[str, ...]:
        """The fitted extent; for a torch tensor the shape of another one with as many elements."""
        if found is None:
            return tensor.shape
        text = _plain(found)
        torch = self.contract.entry.kind is EntryKind.TORCH
        alike = (t.shape for t in self.contract.tensors if torch and " * ".join(t.shape) == text)
        return next(alike, (text,))

    def _settle(self) -> None:
        """Run the odd workload on exact allocations; find the condition that mends what breaks."""
        if not self.contract.workloads or self._sound(self.contract):
            self.trouble = "" if self.contract.workloads else self.trouble
            return
        for condition in divisibilities(self.contract):
            trial = with_workloads(
                replace(self.contract, conditions=(*self.contract.conditions, *condition)), self.fixed
            )
            if trial.workloads and self._sound(trial):
                self.contract, self.trouble = trial, ""
                return

    def _sound(self, contract: Contract) -> bool:
        """Whether the tiny and the odd workload run without trouble."""
        return all(self._clean(contract, w.sizes) for w in contract.workloads[:2])

    def _clean(self, contract: Contract, sizes: Mapping[str, int]) -> bool:
        run = self.run(contract, sizes)
        if not run.finished or any(f.kind in _TROUBLE for f in run.faults):
            return False
        return not takes_garbage(run) or not computes_with_garbage(run, self.run(contract, sizes, poison=POISONS[1]))


def _needed(contract: Contract) -> int:
    """Probes it takes to learn from: what has no size is always the same."""
    return 2 if contract.symbols else 1


def _bound_symbol(tensor: TensorArg) -> str:
    return f"{tensor.name}_bound"


def _with_bounds(contract: Contract, bounds: Mapping[str, str]) -> Contract:
    arguments = tuple(
        replace(a, bound=bounds.get(a.bound, a.bound)) if isinstance(a, TensorArg) else a for a in contract.arguments
    )
    return replace(contract, arguments=arguments, symbols=tuple(s for s in contract.symbols if s not in bounds))


def _falls_short(contract: Contract, run: Run) -> bool:
    """Whether a tensor of unknown extent was allocated too small."""
    unknown = unknown_extents(contract)
    far_out = any(f.kind is FaultKind.OUT_OF_BOUNDS and f.fatal for f in run.faults)
    beyond = (t in unknown and touched.beyond for t, touched in zip(contract.tensors, run.touched, strict=False))
    return (far_out and bool(unknown)) or any(beyond)


def _starts(run: Run) -> bool:
    return run.finished and not any(f.kind in (FaultKind.LAUNCH, FaultKind.HOST_CHECK) for f in run.faults)


def _is_factor(symbol: str, text: str) -> bool:
    """Whether an extent is a plain product with `symbol` in it."""
    return symbol in names_in(text) and not any(c in text for c in "+-/")


def _roundings(fits: Mapping[str, Fit | None]) -> Iterator[str]:
    """A pointer used in whole vectors or blocks: what it spans must be a multiple of them."""
    for found in fits.values():
        if found is not None and found.multiple_of:
            yield f"{_unrounded(found)} % {found.multiple_of} == 0"


def _plain(found: Fit) -> str:
    return _unrounded(found) if found.multiple_of else found.text


def _unrounded(found: Fit) -> str:
    """`n` for `4 * cdiv(n, 4)`."""
    inner = found.text[found.text.index("cdiv(") + 5 : found.text.rindex(",")]
    coefficient = int(found.text.split(" * ")[0]) if found.text[0].isdigit() else 1
    factor = coefficient // found.multiple_of
    return inner if factor == 1 else f"{factor} * {inner}"
