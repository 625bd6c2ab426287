"""Backends, found by entry point (group `porter.backends`) and imported only when one is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from porter.backend import Backend, Target
from porter.errors import MachineError, UsageError

GROUP = "porter.backends"


@dataclass(frozen=True, slots=True)
class Unavailable:
    """An installed backend that cannot be imported, and why."""

    name: str
    because: str


def backend_names() -> tuple[str, ...]:
    """The names of the installed backends, sorted; nothing is imported."""
    return tuple(_claims(entry_points(group=GROUP)))


def load_backends() -> tuple[Backend | Unavailable, ...]:
    """Every installed backend, sorted by name; one that fails to import is a row like the others."""
    return tuple(_load(claim) for claim in _claims(entry_points(group=GROUP)).values())


def loadable_backends() -> tuple[Backend, ...]:
    """The installed backends that can be imported, sorted by name."""
    return tuple(b for b in load_backends() if not isinstance(b, Unavailable))


def find_backend(name: str = "") -> Backend:
    """The backend called `name`, the only one there is when empty.

    Raises `UsageError` when none is meant, `MachineError` when it cannot be imported.
    """
    claims = _claims(entry_points(group=GROUP))
    meant = name or ("".join(claims) if len(claims) == 1 else "")
    if meant not in claims:
        complaint = f"unknown target {name!r}" if name else "this needs a target: add --target"
        raise UsageError(complaint, f"targets: {', '.join(claims) or 'none is installed'}")
    backend = _load(claims[meant])
    if isinstance(backend, Unavailable):
        raise MachineError(
            f"the backend {meant!r} cannot be loaded: {backend.because}", "`porter doctor` shows them all"
        )
    return backend


def backend_of(candidate: Path) -> Backend:
    """The backend in whose language `candidate` is, by its name, or by those of the files in a folder.

    The longest suffix that fits decides: `op.acme.cpp` is acme's, although others write `.cpp`, too. Raises
    `UsageError` where several come into question, or none.
    """
    names = [file.name for file in candidate.iterdir()] if candidate.is_dir() else [candidate.name]
    fits = {backend.name: _longest_suffix(backend, names) for backend in loadable_backends()}
    longest = max(fits.values(), default=0)
    meant = [name for name, length in fits.items() if length == longest > 0]
    return find_backend(meant[0] if len(meant) == 1 else "")


def _longest_suffix(backend: Backend, names: Iterable[str]) -> int:
    """Returns the length of the longest suffix of the backend that one of `names` ends in; 0 where none does."""
    return max((len(suffix) for suffix in backend.suffixes for name in names if name.endswith(suffix)), default=0)


def find_target(backend: Backend, arch: str = "") -> Target:
    """The backend's target `arch`, given as its arch or as a product named in its description; the default when empty.

    Raises `UsageError` for one it does not know.
    """
    targets = backend.targets()
    if not arch:
        return targets[0]
    named = [t for t in targets if arch.lower() in (t.arch.lower(), *t.description.lower().split())]
    if len(named) != 1:
        known = "; ".join(f"{t.arch} ({t.description})" for t in targets)
        raise UsageError(f"unknown arch {arch!r} of target {backend.name!r}", f"archs: {known}")
    return named[0]


def _claims(points: Iterable[EntryPoint]) -> Mapping[str, EntryPoint]:
    """Entry points by name, sorted; raises `MachineError` when two distributions claim one name."""
    claims: dict[str, EntryPoint] = {}
    for point in sorted(points, key=lambda p: (p.name, _distribution(p))):
        if point.name in claims:
            rivals = f"{_distribution(claims[point.name])} and {_distribution(point)}"
            raise MachineError(
                f"two distributions provide the backend {point.name!r}: {rivals}", "uninstall one of them"
            )
        claims[point.name] = point
    return claims


def _distribution(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else point.value


def _load(point: EntryPoint) -> Backend | Unavailable:
    try:
        backend: Backend = point.load()()
    except Exception as error:  # noqa: BLE001 - a vendor's module may raise anything while it is imported
        return Unavailable(point.name, f"{type(error).__name__}: {error}")
    return backend
