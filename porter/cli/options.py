"""Options that several commands share, and how their text becomes values."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from porter.cache_folder import cache_folder
from porter.errors import UsageError

if TYPE_CHECKING:
    from porter.backend import Follow
    from porter.contract.model.dtype import DType
    from porter.evaluate.model.migration import MigrateOptions
    from porter.evaluate.model.outcome import Fidelity

LONGEST_S = 1e6  # eleven days: clocks and timers overflow at what a float holds
_SEED_BITS = 48  # a number that every reader of JSON keeps exact
_SIZE = re.compile(r"(?P<name>[^\W\d]\w*)=0*(?P<size>[1-9]\d{,17})")  # an int64 holds it


def named_path(text: str) -> Path:
    """A path as it was typed; an empty one, which an unset variable of the shell leaves, names no folder."""
    if not text:
        raise typer.BadParameter("an empty path names nothing")
    return Path(text)


RunArgument = Annotated[Path, typer.Argument(metavar="RUN", parser=named_path, help="The folder of a search.")]
JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
QuietFlag = Annotated[bool, typer.Option("--quiet", "-q", help="Print only the verdict.")]
VerboseFlag = Annotated[bool, typer.Option("--verbose", "-v", help="Print every finding and every comparison.")]
DebugFlag = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
TargetsOption = Annotated[
    list[str], typer.Option("--target", metavar="NAME", help="The platform to port to, such as maca; repeatable.")
]
OnlyTargetOption = Annotated[
    str, typer.Option("--target", metavar="NAME", help="The platform; needed where porter cannot tell.")
]
ArchOption = Annotated[str, typer.Option("--arch", metavar="NAME", help="The target's model, such as C500.")]
FollowOption = Annotated[
    str,
    typer.Option(
        "--follow",
        metavar="NAME",
        help="What ports are written from: formula, what the source computes, or kernels, how it does; by default what "
        "was measured to be faster on the target.",
    ),
]
KernelOption = Annotated[
    list[str] | None, typer.Option("--kernel", metavar="NAME", help="Port only this kernel; repeatable.")
]
SizeOption = Annotated[
    list[str] | None,
    typer.Option("--size", metavar="NAME=N", help="The value of a size that the source does not give; repeatable."),
]
LimitOption = Annotated[
    float,
    typer.Option(
        "--limit",
        metavar="S",
        min=1,
        max=LONGEST_S,
        help="Time limit for one source, shared by its entries; what is left then is not verified.",
    ),
]
ContractOption = Annotated[
    Path | None,
    typer.Option("--contract", metavar="FILE", parser=named_path, help="Use this contract instead of drafting one."),
]
ReferenceOption = Annotated[
    Path | None,
    typer.Option(
        "--reference",
        metavar="FILE",
        parser=named_path,
        help="PyTorch code to time the port against, where there is a device.",
    ),
]
TimeLimitOption = Annotated[
    float,
    typer.Option(
        "--time-limit",
        metavar="S",
        min=0.1,
        max=LONGEST_S,
        help="Processor time limit for one run of original or port.",
    ),
]

SeedOption = Annotated[
    int | None,
    typer.Option("--seed", metavar="N", min=0, max=2**_SEED_BITS - 1, help="Repeat the run that reported this seed."),
]


def checked_file(path: Path | None) -> Path | None:
    """`path`, if it is given; raises `UsageError` where there is no such file."""
    if path is not None and not path.is_file():
        raise UsageError(f"{path}: no such file")
    return path


def drawn_seed() -> int:
    """A seed that nobody knows before."""
    return secrets.randbits(_SEED_BITS)


FidelityOption = Annotated[
    str, typer.Option("--fidelity", metavar="NAME", help="How to run the candidate: emulated, or native on a device.")
]


def parse_fidelity(name: str) -> Fidelity:
    """Returns how a candidate is executed; raises `UsageError` for another name, `MachineError` where there is no
    device.

    What a device executes says itself whether it is native or a proxy.
    """
    from porter.evaluate.model.outcome import Fidelity
    from porter.native.place import require_device

    if name not in ("emulated", "native"):
        raise UsageError(f"--fidelity {name}: neither emulated nor native")
    if name == "native":
        require_device()
    return Fidelity(name)


def parse_follow(name: str) -> Follow | None:
    """Returns what ports are written from, None where the target says it; raises `UsageError` for another name."""
    from porter.backend import Follow

    if name and name not in tuple(Follow):
        raise UsageError(f"--follow {name}: neither {' nor '.join(Follow)}")
    return Follow(name) if name else None


def parse_sizes(texts: Iterable[str]) -> Mapping[str, int]:
    """`["n=1000003"]` as `{"n": 1000003}`; raises `UsageError` for anything but a name and a positive integer."""
    sizes: dict[str, int] = {}
    for text in texts:
        found = _SIZE.fullmatch(text)
        if found is None:
            raise UsageError(f"--size {text}: not a name and a positive integer", "for example --size n=1000003")
        sizes[found["name"]] = int(found["size"])
    return sizes


def parse_dtypes(names: Iterable[str]) -> frozenset[DType]:
    """The element types of these names; raises `UsageError` for another name."""
    from porter.contract.model.dtype import DType

    known = {str(dtype): dtype for dtype in DType}
    for name in names:
        if name not in known:
            raise UsageError(f"--dtype {name}: not an element type", f"for example one of {', '.join(known)}")
    return frozenset(known[name] for name in names)


def check_writable(option: str, folder: Path) -> None:
    """Raises `UsageError` for a folder that cannot be made or written to, before any work is done for it."""
    standing = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    if not standing.is_dir():
        raise UsageError(f"{option} {folder}: {standing} is not a directory")
    if not os.access(standing, os.W_OK | os.X_OK):
        raise UsageError(f"{option} {folder}: {standing} cannot be written to", f"choose another {option}")


def cores() -> int:
    """Returns how many this process may use."""
    return len(os.sched_getaffinity(0))


@dataclass(frozen=True)
class Original:
    """The options of all commands that execute an original: how it is called."""

    kernel: KernelOption = None
    contract: ContractOption = None
    size: SizeOption = None
    time_limit: TimeLimitOption = 20.0

    def options(self, target: str) -> MigrateOptions:
        """Returns what is asked for `target`. Raises `UsageError` for a size that is none."""
        from porter.evaluate.model.migration import MigrateOptions

        return MigrateOptions(
            target=target,
            cache=cache_folder(),
            kernels=tuple(self.kernel or ()),
            contract=self.contract,
            sizes=parse_sizes(self.size or ()),
            time_limit_s=self.time_limit,
            environment=dict(os.environ),
        )
