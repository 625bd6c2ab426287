"""From a source to executables: translated, compiled with the precompiled header, cached by content.

The layout of the cache: `headers/` and `objects/` hold the shared parts (see parts.py), `programs/<digest>/program` the
executables. A failure is not cached: it is rare, and what made it may be mended outside the source.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from itertools import product
from pathlib import Path

from porter.contract.model.contract import EntryKind
from porter.errors import MachineError
from porter.execution.job import BuildFailure, BuildRequest, Built, Executable, Part
from porter.simt.compiler import Compiler, compiler, language_flags, missing_compiler, uses_torch
from porter.simt.device_program import with_devices
from porter.simt.failure import (
    blamed,
    build_failure,
    error_lines,
    fails_anyway,
    lines_behind,
    missing_header,
    only_driver_fails,
    unknown_namespaces,
)
from porter.simt.parts import executor_objects, precompiled_header
from porter.simt.unit import Unit, unit

__all__ = ["Compiler", "build", "compiler", "prepare_executor", "prepare_header"]

_MOST_ROUNDS = 40  # in each of which a header is found to be missing, or bodies are left out
_KERNELS, _LAUNCHERS = (EntryKind.KERNEL,), (EntryKind.POINTER, EntryKind.TORCH)


def build(request: BuildRequest, cache: Path) -> tuple[Built, ...]:
    """For each callee of `request` the executable that calls it, from `cache` or made now, or why there is none.

    One executable (about a second; more for the first of its kind) serves all callees that compile; one that does not
    is left out and tried by itself. What still fails is tried without what other files define, and then, with that and
    without, without functions of the source that it does not need. Raises `MachineError` when the machine has no C++
    compiler.
    """
    units = [unit(one, _found(), cache) for one in dict.fromkeys((request, replace(request, elsewhere=())))]
    whole, built = units[-1], _whole(units[0])
    for other in units[1:]:
        built = _again(built, other, _whole)
    bare = built
    for each, (kinds, narrowed) in product(units, ((_KERNELS, Unit.of_kernels), (_LAUNCHERS, Unit.of_callees))):
        bare = _again(bare, each, partial(_bare, narrowed=narrowed), kinds)
    whichever = tuple(map(_either, built, bare))
    return with_devices(whole, whichever) if request.part is Part.HOST else whichever


def _again(
    built: tuple[Built, ...],
    whole: Unit,
    make: Callable[[Unit], tuple[Built, ...]],
    kinds: Collection[EntryKind] = tuple(EntryKind),
) -> tuple[Built, ...]:
    """`built`, with what `make` makes of those of these `kinds` that failed in their place."""
    failed = [i for i, one in enumerate(built) if isinstance(one, BuildFailure) and _kind(whole, i) in kinds]
    made = make(whole.calling(*(whole.request.callees[i] for i in failed))) if failed else ()
    anew = dict(zip(failed, made, strict=True))
    return tuple(anew.get(i, one) for i, one in enumerate(built))


def _whole(whole: Unit) -> tuple[Built, ...]:
    """Each callee built from all of the text; what may not build for the marks of branches is built without them."""
    built = _built(whole)
    marked = {(side.file, side.line) for side in whole.sides}
    marred = [i for i, one in enumerate(built) if isinstance(one, BuildFailure) and error_lines(one.log) & marked]
    if not marred:
        return built
    plain = dict(zip(marred, _built(whole.unmarked.calling(*(whole.request.callees[i] for i in marred))), strict=True))
    return tuple(plain.get(i, one) for i, one in enumerate(built))


def prepare_header(request: BuildRequest, cache: Path) -> None:
    """Builds the header that `request` is compiled with; beside the executor it is all that a later `build` shares."""
    precompiled_header(_found(), language_flags(request), request.dialect, cache)


def prepare_executor(request: BuildRequest, cache: Path) -> None:
    """Builds the objects that `request` is linked with."""
    executor_objects(_found(), uses_torch(request), request.double_precision, cache)


def _found() -> Compiler:
    found = compiler()
    if found is None:
        raise MachineError(missing_compiler(), "run `porter doctor`")
    return found


def _built(whole: Unit) -> tuple[Built, ...]:
    count = len(whole.request.callees)
    done = whole.make()
    if done.ok:
        path = str(whole.program)
        return tuple(Executable(path, whole.key, whole.request, i, sides=whole.sides) for i in range(count))
    if count == 1:
        return (_by_parameters(whole, done.log),)
    guilty = blamed(done.log)
    if picked := _picking(whole, guilty, done.log):
        return _built(picked)
    if fails_anyway(done.log) or (not guilty and not whole.calling().make().ok):
        return (build_failure(done.log, whole.request),) * count
    return _apart(whole, guilty or range(count))


def _kind(whole: Unit, index: int) -> EntryKind:
    return whole.request.callees[index].entry.kind


def _bare(failed: Unit, narrowed: Callable[[Unit], Iterator[Unit]]) -> tuple[Built, ...]:
    """Callees built from less text, step by step, in which headers that are not there are empty.

    Those that still fail are tried without the ones that mention what does not build.
    """
    callees, built = failed.request.callees, dict[int, Built]()
    left, absent = list(range(len(callees))), tuple[str, ...]()
    for bare in narrowed(failed) if left else ():
        made, absent = _without_absent(bare.calling(*(callees[i] for i in left)), absent)
        built |= zip(left, made, strict=True)
        left = [i for i in left if not isinstance(built[i], Executable)]
        if not left:
            break
    sound = _unconcerned(failed, {i: built[i] for i in left})
    if len(sound) < len(left):
        built |= zip(sound, _bare(failed.calling(*(callees[i] for i in sound)), narrowed), strict=True)
    return tuple(built[i] for i in range(len(callees)))


def _unconcerned(failed: Unit, built: Mapping[int, Built]) -> list[int]:
    """Returns which of the callees that did not build mention nothing in which an error lies."""
    errors = _failing(tuple(built.values()))
    return [i for i in built if not errors & failed.calling(failed.request.callees[i]).lines]


def _without_absent(bare: Unit, known: tuple[str, ...]) -> tuple[tuple[Built, ...], tuple[str, ...]]:
    """Built with nothing for every header that is not there, and then without bodies that need what these define.

    Also returns these headers; `known` are those that were found before not to be there.
    """
    absent, bare = known, reduce(Unit.treating_as_empty, known, bare)
    built = _built(bare)
    for _ in range(_MOST_ROUNDS):
        if name := missing_header(built[0]):
            first = bare.treating_as_empty(name)
            others = first.absent
            absent = (*absent, name, *others)
            fewer: Unit | None = reduce(Unit.treating_as_empty, others, first)
        else:
            fewer = _without_what_is_absent(bare, built) if absent else None
        if fewer is None:
            break
        bare = fewer
        built = _built(bare)
    return tuple(replace(one, absent=absent) if isinstance(one, Executable) else one for one in built), absent


def _without_what_is_absent(bare: Unit, built: Sequence[Built]) -> Unit | None:
    """`bare` with the namespaces that headers which are not there would open, else without host code that fails."""
    logs = (one.log for one in built if isinstance(one, BuildFailure))
    return bare.opening(frozenset[str]().union(*map(unknown_namespaces, logs))) or bare.without_host_code(
        _failing(built)
    )


def _failing(built: Sequence[Built]) -> frozenset[tuple[str, int]]:
    """The lines that led to the errors of what did not build."""
    logs = {one.log for one in built if isinstance(one, BuildFailure)}
    return frozenset[tuple[str, int]]().union(*map(lines_behind, logs))


def _either(whole: Built, bare: Built) -> Built:
    """`bare` where it alone builds, with the reason; where neither does for want of a header, with both reasons."""
    if isinstance(whole, BuildFailure) and isinstance(bare, Executable):
        return replace(bare, failure=whole)
    if isinstance(whole, BuildFailure) and missing_header(whole) and isinstance(bare, BuildFailure):
        return replace(whole, alone=bare.placed if bare.placed != whole.placed else "")
    return whole


def _picking(whole: Unit, guilty: Collection[int], log: str) -> Unit | None:
    """The same with the `guilty` picked by their parameters, where merely the driver fails, and they were not before:
    two that overload one name need no builds of their own.
    """
    if not only_driver_fails(log):
        return None
    picked = frozenset(c for i, c in enumerate(whole.request.callees) if i in guilty and c.parameters)
    return replace(whole, by_parameters=whole.by_parameters | picked) if picked - whole.by_parameters else None


def _apart(whole: Unit, guilty: Collection[int]) -> tuple[Built, ...]:
    """Each of the `guilty` by itself, the others together."""
    callees, alone = whole.request.callees, replace(whole, by_parameters=frozenset())
    others = [callee for index, callee in enumerate(callees) if index not in guilty]
    built = iter(_built(whole.calling(*others)) if others else ())
    return tuple(
        _built(alone.calling(callee))[0] if index in guilty else next(built) for index, callee in enumerate(callees)
    )


def _by_parameters(alone: Unit, log: str) -> Executable | BuildFailure:
    """The only callee, whose plain name gave `log`: where merely the driver fails, it is picked by its parameters."""
    request = alone.request
    if only_driver_fails(log) and request.callees[0].parameters:
        picked = replace(alone, by_parameters=frozenset(request.callees))
        done = picked.make()
        if done.ok:
            return Executable(str(picked.program), picked.key, request, 0, sides=picked.sides)
        if not only_driver_fails(done.log):
            log = done.log
    return build_failure(log, request)
