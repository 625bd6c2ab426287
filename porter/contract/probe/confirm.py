"""Turns a draft into a contract: runs the original at a few sizes, and lets what it touches answer open questions.

Every run is of a watched executable, on allocations far larger than needed and at sizes that are different primes.
1. `probe`: run at three sets of sizes; retry smaller where a launch cannot start, larger where an allocation was short.
2. `fit` the extent each pointer was seen to have; what was never written is `in`, what was never read before it was
   written is `out`.
3. indices: their bound is a symbol of its own while extents are fitted. Where extents show which symbol it stands for,
   it becomes that symbol; where the indexed tensor has no other extent, it stays.
4. `settle`: run the default workloads on exact allocations. What breaks at odd sizes, or computes with what nobody
   wrote, and does not at round ones gets the condition (`n % 4 == 0`) that mends it; what writes rows over each other,
   and does not where they are as wide as they lie apart, gets that one (`V <= P`).
5. `settled_choices`: the same for each other value of an argument that only selects (`chosen.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from functools import partial

from porter.contract.analysis.equalities import with_compared
from porter.contract.analysis.shares import shared_evenly
from porter.contract.model.confirmation import Confirmation
from porter.contract.model.contract import Contract, EntryKind
from porter.contract.model.expressions import holds, names_in
from porter.contract.model.questions import sizes_question, unknown_bounds, unknown_extents
from porter.contract.model.resized import with_size
from porter.contract.model.selections import selections
from porter.contract.model.validate import satisfies
from porter.contract.probe.bounds import found_bounds, largest_bounds, with_bounds, with_bounds_as_symbols
from porter.contract.probe.chosen import Chosen, settled_choices
from porter.contract.probe.covering import covering
from porter.contract.probe.enlarging import beyond_constant, decided_by_data, enlarged, leaving, roomy
from porter.contract.probe.known_probes import KnownProbes
from porter.contract.probe.placing import (
    array_limits,
    divisibilities,
    fitted_axes,
    flipped,
    left_known,
    lengthened,
    own_grids,
    placements,
    repairs,
    tiles,
)
from porter.contract.probe.probed import Probe, Probed
from porter.contract.probe.regular import Change, limited, multiples, regularities
from porter.contract.probe.relations import agreements, alike, overlap, relations, tied, without
from porter.contract.probe.retyped import other_types, types
from porter.contract.probe.trials import MOST_ELEMENTS, SLOW_S, SOME_ELEMENTS, Trials, endless, starts, too_small
from porter.contract.workload.probing import EVEN, FALLING, probe_sizes
from porter.contract.workload.workloads import choose_sizes, with_workloads
from porter.execution.job import Execute, FaultKind, Run

_ATTEMPTS = 3
_CUBES = {1: 61, 2: 131, EVEN: 96}  # sizes by attempt whose third power is no more than `MOST_ELEMENTS`
_NEARLY = 0.75  # of a third power: a stencil leaves out the borders
_SMALLEST = 2  # the last step of sizes that a probe is made at
_LOW, _HIGH = 5, 37  # sizes of which one is clearly the larger
_MOST_RUNS = 40  # until one reading of a draft is given up


def confirm(
    contract: Contract, execute: Execute, fixed: Mapping[str, int] | None = None, known: KnownProbes | None = None
) -> Confirmation:
    """Answers `contract`'s questions about extents, bounds and roles; `fixed` holds sizes the user chose.

    Probes of this draft that are `known` are not made again.
    """
    if contract.entry.kind is EntryKind.PROGRAM:
        return Confirmation(contract, 0)
    given = {s: n for s, n in (fixed or {}).items() if s in contract.symbols}
    trials = Trials(execute, known or KnownProbes())
    contract, found = _typed(contract, _Confirmer(contract, trials, given).confirmed(), trials, given)
    related, kept_within = contract, False
    for other in _others(contract, trials, given):
        sound = _is_sound(found, contract, trials)
        if sound and set(found.inferred) <= {*contract.shares}:
            break
        before, reading = other.contract, other.confirmed()
        if _is_sound(reading, contract, trials) and not (sound and reading.inferred):
            found, related, kept_within = reading, before, other.kept_within
    apart = _Apart(contract, trials, given, kept_within)
    found = apart.found(found, tied(contract, related)) if related is not contract else found
    if given and not _complete(found):
        found = _learnt_elsewhere(contract, trials, given) or found
    chosen = settled_choices(found.contract, execute, given) if not found.trouble else Chosen(found.contract, ())
    once_s = sum(trials.seconds_at(workload.sizes) for workload in chosen.contract.workloads)
    return replace(found, contract=chosen.contract, runs=trials.runs, limits=chosen.conditions, once_s=once_s)


def _learnt_elsewhere(contract: Contract, trials: Trials, given: Mapping[str, int]) -> Confirmation | None:
    """Returns the contract learnt at free sizes, restricted to those that the user fixed; None where it is incomplete.

    At one set of sizes an extent may be any expression: fixing all sizes must not teach less than fixing none.
    """
    trials.trouble = ""
    free = _Confirmer(contract, trials, {}).confirmed()
    if not _complete(free):
        return None
    fixed = _Confirmer(with_workloads(free.contract, given), trials, given).settled(contract.conditions)
    return fixed if _complete(fixed) and fixed.contract.workloads else None


def _typed(
    contract: Contract, found: Confirmation, trials: Trials, fixed: Mapping[str, int]
) -> tuple[Contract, Confirmation]:
    """Returns the draft with element types that host code takes, and what running it showed; else both unchanged."""
    pending, tried = [(contract, found.trouble)], {types(contract)}
    while pending:
        refused, trouble = pending.pop()
        for other in other_types(refused, trouble):
            if types(other) not in tried and not trials.are_many:
                trials.trouble = ""
                tried.add(types(other))
                reading = _Confirmer(other, trials, fixed).confirmed()
                if not reading.trouble.startswith(FaultKind.HOST_CHECK):
                    return other, reading
                pending.append((other, reading.trouble))
    return contract, found


def _complete(confirmation: Confirmation) -> bool:
    """Returns whether no question is open and nothing broke, at sizes that the contract allows."""
    contract = confirmation.contract
    if confirmation.trouble or unknown_extents(contract) or unknown_bounds(contract):
        return False
    return all(satisfies(contract, workload.sizes) for workload in contract.workloads)


def _is_sound(confirmation: Confirmation, drafted: Contract, trials: Trials) -> bool:
    """Returns whether nothing is open, and threads do not meet in a tensor that was drafted with sizes of its own."""
    contract = confirmation.contract
    if not _complete(confirmation) or contract.entry.kind is not EntryKind.TORCH:
        return _complete(confirmation)
    return not any(overlap(drafted, trials.exact(contract, w.sizes)) for w in contract.workloads[:1])


def _others(contract: Contract, trials: Trials, fixed: Mapping[str, int]) -> Iterator[_Confirmer]:
    """Yields other readings of a draft: limited indices, extents that are equal though nothing says so."""
    for related in (contract, *relations(contract)):
        for kept_within in (False, True) if unknown_bounds(contract) else (False,):
            if not trials.are_many and (kept_within or related is not contract):
                trials.trouble = ""
                yield _Confirmer(related, trials, fixed, kept_within)


@dataclass(frozen=True)
class _Apart:
    """Tells sizes apart again that a reading of a draft has as one, where the original does not need that.

    A port that takes one of them for the other would be right in every workload.
    """

    drafted: Contract
    trials: Trials
    fixed: Mapping[str, int]
    kept_within: bool

    def found(self, reading: Confirmation, groups: list[list[str]]) -> Confirmation:
        """Returns the reading in which fewest sizes of the `groups` are one, each taken out of its group in turn."""
        for size in [size for group in groups for size in group]:
            looser = without(groups, size)
            if looser == groups or self.trials.are_many:
                continue
            self.trials.trouble = ""
            apart = _Confirmer(alike(self.drafted, looser), self.trials, self.fixed, self.kept_within).confirmed()
            sound = _is_sound(apart, self.drafted, self.trials) and set(apart.inferred) <= set(reading.inferred)
            (others,) = ([other for other in group if other != size] for group in groups if size in group)
            if sound and self._is_free(apart.contract, size, others[0]):
                reading, groups = apart, looser
        return reading

    def _is_free(self, contract: Contract, size: str, other: str) -> bool:
        """Returns whether the original is clean with `size` below `other` and above it.

        At the usual sizes one is the larger in all workloads, and a row of it may be longer than it has to be.
        """
        usual = contract.workloads[1].sizes
        for low, high in ((size, other), (other, size)):
            sizes = choose_sizes(contract, self.fixed, {**usual, low: _LOW, high: _HIGH})
            if sizes is None or sizes[low] >= sizes[high] or not self.trials.clean(contract, sizes):
                return False
        return True


@dataclass
class _Confirmer:
    """Completes a contract, and keeps the runs that it takes."""

    contract: Contract
    trials: Trials
    fixed: Mapping[str, int]
    kept_within: bool = False  # indices are to stay within tensors of known extent
    apart: tuple[str, ...] = ()  # what keeps the rows of written tensors apart, if they are meant to be
    probed: Probed | None = None  # what the contract's extents were learnt from
    mended: str = ""  # what broke at sizes that the contract no longer allows
    enlarged: tuple[str, ...] = ()  # tensors whose extent no size decides
    without: tuple[str, ...] = ()  # workloads with values that the original does not take
    is_cubed: bool = False  # a tensor has the third power of the only size: that of a stencil, say
    takes_long: bool = False  # a probe at the usual sizes took long, or would: its only size multiplies itself

    def confirmed(self) -> Confirmation:
        """Runs the whole procedure."""
        stated = self.contract.conditions
        torch = self.contract.entry.kind is EntryKind.TORCH
        asks = torch or unknown_extents(self.contract) or unknown_bounds(self.contract)
        if asks and not (self._start() and self._learn()):
            return Confirmation(self.contract, self.trials.runs, self.trials.trouble)
        self.contract = with_workloads(self.contract, self.fixed)
        if not self.contract.workloads and asks:
            questions = (*self.contract.questions, sizes_question(self.contract))
            self.contract = replace(self.contract, questions=tuple(dict.fromkeys(questions)))
        if selections(self.contract):
            self._relax(stated)
        return self.settled(stated)

    def settled(self, stated: tuple[str, ...] = ()) -> Confirmation:
        """Returns the contract that holds for the workloads; conditions that are not `stated` were inferred."""
        self._settle()
        if not self.trials.trouble:
            self._share_evenly()
            self._cover()
            self._compare()
            self._take_usual()
        inferred = tuple(c for c in self.contract.conditions if c not in stated)
        return Confirmation(
            self.contract,
            self.trials.runs,
            self.trials.trouble,
            inferred,
            mended=self.mended,
            enlarged=self.enlarged,
            without=self.without,
        )

    def _start(self) -> bool:
        """Makes the first probes run at all: finds shapes host code accepts, and sizes a launch can start with.

        A candidate that runs at two sets of sizes is taken; one that runs at one set, or only at sizes that leave it
        next to nothing to do, if nothing better is found.
        """
        if self._knows_extents and self.contract.symbols:
            self._tile()
        second_best: Contract | None = None
        for conditions in self._demands():
            limited = replace(self.contract, conditions=(*self.contract.conditions, *conditions))
            for candidate in placements(limited):
                found = self._starting(candidate, smaller=0)
                found = found or (self._starting(candidate, smaller=1) if not conditions else None)
                if found is not None and self._starts_again(found) and not self._leaves_alone(found):
                    self.contract, self.trials.trouble = found, ""
                    return True
                second_best = second_best or found
            if self.trials.runs > _MOST_RUNS:
                break
        if second_best is None:
            second_best = next(filter(None, (self._starting(c, smaller=0) for c in flipped(self.contract))), None)
        self.contract = second_best or self.contract
        return second_best is not None

    def _tile(self) -> None:
        """Makes sizes whole tiles, where tensors are left at other sizes and not at these.

        Else the tensors would be given one more axis, as those of which host code names no last one.
        """
        sizes = probe_sizes(self.contract, frozenset(), self.fixed, 0, 0)
        run = self.trials.roomy(self.contract, sizes) if sizes is not None else None
        if run is None or not run.finished or not left_known(self.contract, run):
            return
        for conditions in tiles(self.contract):
            limited = replace(self.contract, conditions=(*self.contract.conditions, *conditions))
            if all(self._stays_within(limited, attempt) for attempt in (0, 1)):
                self.contract = limited
                return

    def _stays_within(self, contract: Contract, attempt: int) -> bool:
        """Returns whether a probe leaves no tensor of known extent, and its threads do not meet."""
        sizes = probe_sizes(contract, frozenset(), self.fixed, attempt, 0)
        run = self.trials.roomy(contract, sizes) if sizes is not None else None
        if run is None or not starts(run) or left_known(contract, run):
            return False
        return not any(fault.kind is FaultKind.RACE for fault in run.faults)

    def _demands(self) -> Iterator[tuple[str, ...]]:
        """Yields conditions on the sizes of first probes: none, what their trouble tells, and rounder sizes."""
        yield ()
        yield from array_limits(self.contract, self.trials.trouble)
        yield from divisibilities(self.contract)

    def _starts_again(self, candidate: Contract) -> bool:
        """Returns whether `candidate` also runs at other sizes, where it has any."""
        first = probe_sizes(candidate, frozenset(), self.fixed, 0, 0)
        steps = (1,) if self.takes_long else (0, 1)
        others = (probe_sizes(candidate, frozenset(), self.fixed, 1, smaller) for smaller in steps)
        return not first or any(
            sizes is not None and sizes != first and starts(self.trials.roomy(candidate, sizes)) for sizes in others
        )

    def _leaves_alone(self, candidate: Contract) -> bool:
        """Returns whether first probes came to an end only where they leave alone what those that broke had touched.

        Rows of 5 have no whole vector of 8 elements, and no access that is off its alignment: they say nothing of what
        the vectors span. Rounder sizes may.
        """
        unknown = {t.name for t in unknown_extents(candidate)}
        ended, broken = set[str](), set[str]()
        for run in self._first_probes(candidate):
            touched = zip(candidate.tensors, run.touched, strict=False)
            names = {tensor.name for tensor, t in touched if t.read_end or t.written_end}
            if starts(run):
                ended |= names
            elif not endless(run):
                broken |= names
        return bool(broken & unknown - ended)

    def _first_probes(self, candidate: Contract) -> Iterator[Run]:
        """Yields the probes at the first two sets of sizes, each followed by smaller sizes where it broke."""
        for attempt in (0, 1):
            for smaller in (1,) if self.takes_long else (0, 1):
                sizes = probe_sizes(candidate, frozenset(), self.fixed, attempt, smaller)
                run = self.trials.roomy(candidate, sizes) if sizes is not None else None
                if run is not None:
                    yield run
                if run is not None and starts(run):
                    break

    def _starting(self, candidate: Contract, smaller: int) -> Contract | None:
        """Returns `candidate`, its torch tensors given the axes they are seen to lack, if it runs; else None."""
        sizes = probe_sizes(candidate, frozenset(), self.fixed, 0, smaller)
        if sizes is None:
            return None
        run = self.trials.roomy(candidate, sizes)
        self.takes_long |= run.seconds > SLOW_S or _is_squared(candidate, sizes, run)
        if run.finished and candidate.entry.kind is EntryKind.TORCH and any(t.beyond for t in run.touched):
            candidate = lengthened(candidate, run)
            run = self.trials.probe(candidate, sizes)
            candidate = fitted_axes(candidate, run, sizes)
        return candidate if starts(run) else None

    def _learn(self) -> bool:
        """Replaces guessed shapes, bounds and roles by what probes show; False where too few of them run."""
        free = with_bounds_as_symbols(self.contract)
        probed = self._probed(self._within(free) if self.kept_within else free)
        if not probed.explained and selections(free):  # one choice may well be wrong where the others are not
            self.trials.choices = False
            probed = self._probed(probed.contract)
        if not probed.suffices:
            return False
        probed = self._regular(self._enlarged(probed))
        bounds = found_bounds(probed, self.trials)
        if bounds:
            probed = self._probed(with_bounds(probed.contract, bounds))
        if probed.suffices:
            self._take(probed)
        return True

    @property
    def _knows_extents(self) -> bool:
        """Returns whether host code knows how many elements its tensors have."""
        return self.contract.entry.kind is EntryKind.TORCH

    def _enlarged(self, probed: Probed) -> Probed:
        """Returns what is seen where tensors of which data decide how far accesses go have room for that."""
        touched = {} if self._knows_extents else decided_by_data(probed, self.trials)
        found = self._probed(roomy(probed.contract, touched)) if touched else probed
        if not touched or not found.suffices:
            return probed
        self.contract, self.enlarged = roomy(self.contract, touched), tuple(touched)
        return replace(found, before=self.contract)

    def _within(self, free: Contract) -> Contract:
        """Returns `free` with the largest sizes for its bounds that leave no tensor of known extent."""
        sizes = probe_sizes(self.contract, frozenset(), self.fixed, 0, 0)
        return with_bounds(free, largest_bounds(free, self.trials, sizes)) if sizes is not None else free

    def _take(self, probed: Probed) -> None:
        self.contract, self.apart, self.probed = probed.learned(), probed.apart, probed

    def _probed(self, contract: Contract, wanted: Container[str] = ()) -> Probed:
        """Returns what runs at different sizes show; fewer runs where a `wanted` extent has no form in them."""
        probes: list[Probe] = []
        for attempt in range(_ATTEMPTS):
            probe = self._probe(contract, attempt)
            if probe is not None and all(probe.sizes != p.sizes for p in probes):
                probes.append(probe)
        found = Probed(self.contract, contract, tuple(probes))
        if not found.suffices or not contract.symbols or found.lacks(wanted):
            return found
        found = self._with(found, EVEN)  # of odd sizes `cols - 1` and `2 * (cols / 2)` are the same
        several = len(contract.symbols) > 1 and found.explained and not (self.takes_long or self._knows_extents)
        return self._with(found, FALLING) if found.quotients or several else found

    def _with(self, found: Probed, attempt: int) -> Probed:
        """Returns `found` with one more run; without it where it explains less, as where only odd sizes are allowed.

        It counts where it touches more than `found` says: rows of `width` that a count of elements fills, `i / width`
        of `i < count`, are one row as long as the count is the smaller one.
        """
        more = self._probe(found.contract, attempt)
        if more is None or any(more.sizes == p.sizes for p in found.probes):
            return found
        whole = replace(found, probes=(*found.probes, more))
        counts = whole.explained or not found.explained or (attempt == FALLING and found.is_exceeded_by(more))
        return whole if counts else found

    def _probe(self, contract: Contract, attempt: int) -> Probe | None:
        """Makes a run that touches nothing beyond its allocations, at the wanted sizes or smaller ones.

        These are taken where a run is slow, or would need a tensor of millions of elements, as where two sizes are
        multiplied: to make, hand over and read it takes a second, a run at smaller sizes some milliseconds.
        """
        bounds = frozenset(contract.symbols) - set(self.contract.symbols)
        for smaller in (1, _SMALLEST) if self.takes_long else (0, 1, _SMALLEST):
            sizes = probe_sizes(contract, bounds, self.fixed, attempt, smaller)
            if sizes is None:
                return None
            if self.is_cubed and attempt in _CUBES:
                sizes = choose_sizes(contract, self.fixed, dict.fromkeys(sizes, _CUBES[attempt])) or sizes
            most = MOST_ELEMENTS if smaller == _SMALLEST or self.is_cubed else SOME_ELEMENTS
            run = self.trials.roomy(contract, sizes, most=most)
            self.takes_long |= run.seconds > SLOW_S or _is_squared(contract, sizes, run)
            self.is_cubed |= _is_cubed(contract, sizes, run)
            if starts(run) and not too_small(contract, run):
                return Probe(sizes, run)
        return None

    def _regular(self, probed: Probed) -> Probed:
        """Explains extents by sizes that may go together though nothing says so."""
        formless = [name for name, f in probed.fits.items() if f is None]
        for change, suits in self._changes(probed):
            if self.trials.are_many:
                break
            found = self._probed(change(probed.contract), formless)
            if found.suffices and found.varied and suits(found):
                self.contract = change(self.contract)
                return replace(found, before=self.contract)
        return probed

    def _changes(self, probed: Probed) -> Iterator[tuple[Change, Callable[[Probed], bool]]]:
        """Yields changes: a grid or number of its own may be a known size; the rest is for extents without a form."""
        if not probed.explained:
            for own, size in own_grids(probed.contract):
                yield partial(with_size, size=own, text=size), lambda found: found.explained
            for condition in agreements(probed.contract):
                yield partial(limited, conditions=(condition,)), lambda found: found.explained
        if probed.idle or not (probed.covered or unknown_bounds(self.contract)):
            for change in regularities(probed.contract):
                yield change, lambda found: found.covered and not found.idle if probed.idle else found.explains(probed)

    def _reconsider(self) -> bool:
        """Tries sizes that go together, and returns whether the contract holds up with some.

        A contract that breaks because extents are only covered, never change or are ragged may hold with them.
        """
        broken, probed, trouble = self.contract, self.probed, self.trials.trouble
        if probed is None or (probed.exact and not (probed.constants or probed.ragged)):
            return False
        changes = multiples if probed.exact and not probed.ragged else regularities
        for change in changes(probed.contract):
            if self.trials.are_many:
                break
            self.contract = change(probed.before)
            found = self._probed(change(probed.contract), probed.fits)
            if found.improves(probed):
                self._take(found)
                self.contract = with_workloads(self.contract, self.fixed)
                if self._holds_up():
                    return True
        self.contract, self.trials.trouble = broken, trouble
        return False

    def _relax(self, stated: tuple[str, ...]) -> None:
        """Drops conditions that only another choice of a selecting argument needs, because it uses whole vectors."""
        trial = with_workloads(replace(self.contract, conditions=stated), self.fixed)
        if self._holds(trial, self.trials.clean):
            self.contract = trial

    def _settle(self) -> None:
        """Runs the tiny and the odd workload on exact allocations; finds the conditions that prevent what breaks."""
        if not self.contract.workloads:
            return
        self.trials.trouble = ""
        if self._holds_up() or self._lasts_too_long():
            return
        broken = self.trials.trouble or "its answers depend on memory that was never written"
        if self._reconsider():
            self.mended = broken
            return
        if self._enlarge(broken):
            return
        for condition in repairs(self.contract, broken):
            trial = self._limited(*condition)
            if self._holds(trial, self.trials.clean) and self._mends(condition, trial):
                self.contract, self.trials.trouble, self.mended = trial, "", broken
                return

    def _lasts_too_long(self) -> bool:
        """Returns whether the original does not come to its end in time, which no condition would mend."""
        runs = (self.trials.exact(self.contract, workload.sizes) for workload in self.contract.workloads[:2])
        return any(fault.kind is FaultKind.TIMEOUT for run in runs for fault in run.faults)

    def _mends(self, condition: tuple[str, ...], trial: Contract) -> bool:
        """Returns whether it is `condition` that mends what breaks, and not that it had other sizes drawn.

        No sizes that break satisfy it; they break where all but those it names are the drawn ones; and of several sizes
        that it names the drawn one of none is enough, for each has been tried by itself.
        """
        pairs = zip(self.contract.workloads[:2], trial.workloads[:2], strict=False)
        breaking = [(b.sizes, drawn.sizes) for b, drawn in pairs if not self.trials.clean(self.contract, b.sizes)]
        named = [names_in(text) for text in condition]
        unnamed = frozenset(self.contract.symbols) - frozenset[str]().union(*named)
        apart = named if len(named) > 1 and condition != self.contract.shares else []
        return (
            not any(all(holds(text, sizes) for text in condition) for sizes, _ in breaking)
            and not any(self._is_clean_with(unnamed, *sizes) for sizes in breaking)
            and not any(breaking and all(self._is_clean_with(own, *sizes) for sizes in breaking) for own in apart)
        )

    def _is_clean_with(self, names: Set[str], breaking: Mapping[str, int], drawn: Mapping[str, int]) -> bool:
        """Returns whether sizes are allowed and clean of which those with these names are `drawn`, the rest breaks."""
        sizes = {s: drawn[s] if s in names else n for s, n in breaking.items()}
        return sizes != breaking and satisfies(self.contract, sizes) and self.trials.clean(self.contract, sizes)

    def _enlarge(self, broken: str) -> bool:
        """Gives tensors more elements, if data decide how far accesses go and that is what went wrong."""
        if self.probed is None or self._knows_extents:
            return False
        names = beyond_constant(self.contract, self.probed, broken)
        found = enlarged(self.contract, names, lambda trial: self._holds(trial, self.trials.clean)) if names else None
        if found is not None:
            self.contract, self.trials.trouble, self.enlarged = found, "", (*self.enlarged, *names)
        return found is not None

    def _cover(self) -> None:
        """Tries other grids: one of its own size may leave elements unwritten; takes the first that leaves none.

        Elements that no thread can reach, such as gaps between rows, stay unwritten with every grid.
        """
        if self.trials.are_many or not next(covering(self.contract), None) or self._is_written(self.contract):
            return
        for other in covering(self.contract):
            trial = with_workloads(other, self.fixed)
            if trial.workloads and self._is_written(trial) and self._holds(trial, self.trials.clean):
                self.contract = trial
                return

    def _compare(self) -> None:
        """Makes elements that are compared with indices hold indices, if the original is as clean with them."""
        trial, before = with_compared(self.contract), self.trials.trouble
        if trial != self.contract and self._holds(trial, self.trials.clean):
            self.contract = trial
        self.trials.trouble = before

    def _take_usual(self) -> None:
        """Drops workloads of larger or smaller values with which alone the original leaves its memory.

        Nobody said that it takes these values.
        """
        left = leaving(self.contract, self.trials)
        self.trials.trouble = ""
        self.without = tuple(workload.name for workload in left)
        self.contract = replace(self.contract, workloads=tuple(w for w in self.contract.workloads if w not in left))

    def _is_written(self, contract: Contract) -> bool:
        """Returns whether every element of the outputs is written in some workload."""
        sizes = {tuple(w.sizes.items()): w.sizes for w in contract.workloads if not w.device_only}
        return not any(self.trials.unwritten(contract, own) for own in sizes.values())

    def _holds_up(self) -> bool:
        """Returns whether the contract holds as it is, or with its rows kept apart."""
        self._keep_apart()
        if not self._holds(self.contract, self.trials.clean):
            return False
        self.trials.trouble = ""
        return True

    def _keep_apart(self) -> None:
        """Keeps rows apart that threads write over each other, if they do not where rows are narrow enough."""
        if self.apart and not self._holds(self.contract, self.trials.ordered):
            trial = self._limited(*self.apart)
            if self._holds(trial, self.trials.ordered):
                self.contract = trial

    def _share_evenly(self) -> None:
        """Makes divided sizes multiples of their divisors, if that prevents what breaks."""
        uneven = [w.sizes for w in self.contract.workloads if not shared_evenly(self.contract, w.sizes)]
        if all(self.trials.clean(self.contract, s) and self.trials.ordered(self.contract, s) for s in uneven):
            return
        broken, trial = self.trials.trouble, self._limited(*self.contract.shares)
        if self._holds(trial, self.trials.clean) and self._holds(trial, self.trials.ordered):
            self.contract, self.trials.trouble = trial, ""
            self.mended = broken or "its threads write over each other"

    def _limited(self, *conditions: str) -> Contract:
        limited = replace(self.contract, conditions=(*self.contract.conditions, *conditions))
        return with_workloads(limited, self.fixed)

    def _holds(self, contract: Contract, examined: Callable[[Contract, Mapping[str, int]], bool]) -> bool:
        """Returns whether there are sizes to run, and `examined` holds at the tiny and the odd ones.

        Host code may have two names for one size, for axes of two tensors: one is the larger in both workloads, so they
        run at more rows as well, unless that takes too long.
        """
        first, others = ([w.sizes for w in some] for some in (contract.workloads[:2], contract.workloads[2:]))
        apart = contract.entry.kind is EntryKind.TORCH and len(contract.tensors) > 1
        rows = [sizes for sizes in others if sizes not in first][:1] if apart else []
        return (
            bool(first)
            and all(examined(contract, sizes) for sizes in first)
            and all(examined(contract, s) or endless(self.trials.exact(contract, s)) for s in rows)
        )


def _is_cubed(contract: Contract, sizes: Mapping[str, int], run: Run) -> bool:
    """Returns whether a tensor has nearly as many elements as the only size's third power, and no more."""
    if len(sizes) != 1 or too_small(contract, run):
        return False
    (cube,) = (size**3 for size in sizes.values())
    spans = zip(contract.tensors, run.touched, strict=False)
    extents = [max(t.read_end, t.written_end) // tensor.dtype.bytes for tensor, t in spans]
    return _NEARLY * cube <= max(extents, default=0) <= cube


def _is_squared(contract: Contract, sizes: Mapping[str, int], run: Run) -> bool:
    """Returns whether a tensor has a multiple of the only size's square: a row elsewhere is a matrix here."""
    if len(sizes) != 1:
        return False
    (square,) = (size * size for size in sizes.values())
    spans = zip(contract.tensors, run.touched, strict=False)
    extents = (-(-max(t.read_end, t.written_end) // tensor.dtype.bytes) for tensor, t in spans)
    return any(extent and extent % square == 0 for extent in extents)
