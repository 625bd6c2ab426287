"""The port on a real device: the module is loaded in a native worker, and its kernels are compiled as it launches."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from porter.backend import Port, Target
from porter.contract.contract import Contract, EntryKind
from porter.evaluate.judge import Candidate
from porter.evaluate.outcome import Fidelity
from porter.evaluate.side import Side
from porter.native.original import host_positions
from porter.native.place import Place
from porter.native.requests import ModuleEntry
from porter.native.session import Session
from porter.native.timed import Timed
from porter.rules.operators import COMPUTING
from porter_triton.proof import InterpretedPort, Module, devices_of

_FOLLOWER = "porter_triton.judging.native"


@contextmanager
def on_device(ported: Port, original: Side, target: Target, place: Place) -> Iterator[NativePort]:
    """`ported` ready to run on the device of `place`."""
    with (
        tempfile.TemporaryDirectory(prefix="porter-triton-", ignore_cleanup_errors=True) as name,
        ExitStack() as workers,
        place.session("".join(file.text for file in ported.files)) as session,
    ):
        session.start()
        folder, cache = Path(name), place.cache / "triton"
        yield NativePort(ported.files, original, devices_of(target), folder, cache, place.limits, workers, session)


@dataclass(frozen=True)
class NativePort(InterpretedPort):
    """A module that the device runs, in `session`."""

    session: Session

    @property
    def fidelity(self) -> Fidelity:
        """What it is for executes it."""
        return Fidelity.NATIVE

    @property
    def warp_sizes(self) -> tuple[int, ...]:
        """That of the device."""
        return (32,)

    def candidate(self, contract: Contract, function: str, module: Module) -> Candidate:
        """The `function` of `module` on the device; what it launched was compiled for that."""
        launch = contract.entry.kind is EntryKind.KERNEL
        own = self.original.own.operators
        # What these are called in Python is not seen on a device: where any compute, runs on the CPU alone tell.
        follower = "" if own & COMPUTING else _FOLLOWER
        entry = ModuleEntry(str(module.path), function, launch, self.number(contract.entry), follower, own)
        timed = Timed(self.session, entry, host_positions(contract))
        return Candidate(self.warp_sizes[0], timed.run, lambda: (self.session.facts.arch,), timed=timed)
