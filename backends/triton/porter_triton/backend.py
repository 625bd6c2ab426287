"""`TritonBackend`: Triton as porter sees it. What costs time to import is imported by the method that needs it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from porter.backend import Availability, Port, PortedFile, Target
from porter.findings import CatalogueEntry, Finding
from porter.source.program import Program
from porter.source.text import Source
from porter_triton.targets import BACKEND, targets

if TYPE_CHECKING:
    from porter.evaluate.bench import Bench
    from porter.evaluate.ported import Ported
    from porter.evaluate.side import Side
    from porter.native.place import Place
    from porter.rules.original import OwnCode

# The driver's interface to its devices; torch would say the same after seconds of importing.
_DEVICES = (Path("/dev/nvidiactl"), Path("/dev/kfd"))


class TritonBackend:
    """Lowers CUDA to a Python module of Triton kernels and launchers, executed by Triton's interpreter."""

    name = BACKEND
    suffixes = (".py",)

    def targets(self) -> tuple[Target, ...]:
        """The devices Triton compiles for, Hopper first."""
        return targets()

    def probe(self) -> Availability:
        """Whether Triton and a device are here; neither torch nor triton is imported for the answer."""
        missing = [package for package in ("torch", "triton") if find_spec(package) is None]
        if missing:
            return Availability(False, False, f"not installed: {', '.join(missing)}")
        if not any(device.exists() for device in _DEVICES):
            return Availability(True, False, "no GPU: kernels are executed by Triton's interpreter")
        return Availability(True, True, "")

    def catalogue(self) -> tuple[CatalogueEntry, ...]:
        """What lowering and Triton's compiler can complain about."""
        from porter_triton.catalogue import catalogue  # noqa: PLC0415 - it reads the registry, which imports this module

        return tuple(catalogue().values())

    def brief(self, target: Target) -> str:
        """`brief.md.j2` for `target`; forbidden is what the rules on a module's text find."""
        from porter.agent.brief import brief  # noqa: PLC0415 - only where a model is asked

        rules = (entry for entry in self.catalogue() if entry.code.startswith("PORT19"))
        return brief(Path(__file__).with_name("brief.md.j2"), target, rules)

    def port(self, program: Program, headers: tuple[Source, ...], target: Target) -> Port:  # noqa: ARG002
        """The program as one Python module; `target` changes nothing in it, since Triton compiles for any."""
        from porter_triton.port import port  # noqa: PLC0415 - the parser takes a while to import

        return port(program, headers)

    def lint(self, files: tuple[PortedFile, ...], original: OwnCode) -> tuple[Finding, ...]:
        """What in a module cannot be honest."""
        from porter_triton.rules.lint import lint  # noqa: PLC0415 - only where a candidate is judged

        return tuple(lint(files, original))

    def ready(
        self,
        port: Port,
        original: Side,
        target: Target,
        bench: Bench,
    ) -> AbstractContextManager[Ported]:
        """The port's module in Triton's interpreter; what it launches compiles, or it is no port."""
        from porter_triton.proof import interpreted  # noqa: PLC0415 - only where a port is executed

        return interpreted(port, original, target, bench.cache, bench.limits)

    def on_device(self, port: Port, original: Side, target: Target, place: Place) -> AbstractContextManager[Ported]:
        """The port's module on the device itself."""
        from porter_triton.native import on_device  # noqa: PLC0415 - only where there is a device

        return on_device(port, original, target, place)

    def compile(self, port: Port, target: Target, workdir: Path) -> Finding | None:  # noqa: ARG002
        """The first line of the module that is no Python. Kernels compile for a launch, which takes a run."""
        from porter_triton.compile import syntax_error  # noqa: PLC0415 - only where a port was made

        return syntax_error(port)
