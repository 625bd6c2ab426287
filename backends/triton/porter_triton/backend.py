"""Defines `TritonBackend`: Triton as porter sees it. Slow imports are made by the methods that need them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from porter.backend import Availability, Port, PortedFile, Target
from porter.diagnostics.findings import CatalogueEntry, Finding
from porter.source.program import Program
from porter.source_text import Source
from porter_triton.targets import BACKEND, targets

if TYPE_CHECKING:
    from porter.contract.model.contract import Contract, Workload
    from porter.evaluate.judge.ported import Ported
    from porter.evaluate.problem.bench import Bench
    from porter.evolve.axis import Axis
    from porter.evolve.candidate import Value
    from porter.evolve.proposing.rewrite import Rewritten
    from porter.evolve.scoring.cost import Cost
    from porter.evolve.space import Knob
    from porter.execution.job import Construction
    from porter.ir.tile.program import Operator
    from porter.native.place import Place
    from porter.rules.original import OwnCode
    from porter.translation_unit import TranslationUnit
    from porter.worker.kinds import WorkerKind

# The driver's interface to its devices; torch would say the same after seconds of importing.
_DEVICES = (Path("/dev/nvidiactl"), Path("/dev/kfd"))


class TritonBackend:
    """Lowers CUDA to a Python module of Triton kernels and launchers, executed by Triton's interpreter."""

    name = BACKEND
    suffixes = (".py",)
    dialect = None

    def targets(self) -> tuple[Target, ...]:
        """Returns the devices Triton compiles for, Hopper first."""
        return targets()

    def probe(self) -> Availability:
        """Returns whether Triton and a device are here; neither torch nor triton is imported for the answer."""
        missing = [package for package in ("torch", "triton") if find_spec(package) is None]
        if missing:
            return Availability(False, False, f"not installed: {', '.join(missing)}")
        if not any(device.exists() for device in _DEVICES):
            return Availability(True, False, "no GPU: kernels are executed by Triton's interpreter")
        return Availability(True, True, "")

    def workers(self, cache: Path) -> tuple[WorkerKind, ...]:
        """Returns the workers that plan calls of modules, execute kernels, and compile them."""
        from porter.worker.kinds import WorkerKind  # noqa: PLC0415 - only where they are started for a try

        return (
            WorkerKind("plan calls of Triton modules", "porter_triton.programs", {}, ("plan",)),
            WorkerKind("execute Triton kernels", "porter_triton.replay.worker", {"TRITON_INTERPRET": "1"}),
            WorkerKind("compile Triton kernels", "porter_triton.programs", {}, (str(cache / "triton"), "compile")),
        )

    def catalogue(self) -> tuple[CatalogueEntry, ...]:
        """Returns what lowering and Triton's compiler can complain about."""
        from porter_triton.catalogue import catalogue  # noqa: PLC0415 - it reads the registry, which imports this module

        return tuple(catalogue().values())

    def brief(self, target: Target) -> str:
        """Returns `brief.md.j2` for `target`; candidates must not hold what the rules on a module's text find."""
        from porter.agent.brief import brief  # noqa: PLC0415 - only where a model is asked

        rules = (entry for entry in self.catalogue() if entry.code.startswith("PORT19"))
        return brief(Path(__file__).with_name("brief.md.j2"), target, rules, _installed_version())

    def port(self, program: Program, headers: tuple[Source, ...], target: Target) -> Port:  # noqa: ARG002
        """Returns the program as one Python module; `target` changes nothing in it, since Triton compiles for any."""
        from porter_triton.port import port  # noqa: PLC0415 - the parser takes a while to import

        return port(program, headers)

    def written(self, operators: Sequence[tuple[Operator, Contract]], source: Source) -> PortedFile | None:
        """Returns the operators as one module."""
        from porter_triton.tiles.module import module  # noqa: PLC0415 - only where a formula is written out

        return module(operators, source)

    def lint(self, files: tuple[PortedFile, ...], original: OwnCode) -> tuple[Finding, ...]:
        """Returns what in a module cannot be honest."""
        from porter_triton.rules.lint import lint  # noqa: PLC0415 - only where a candidate is judged

        return tuple(lint(files, original))

    def knobs(self, files: tuple[PortedFile, ...], target: Target) -> tuple[Knob, ...]:
        """Returns what can be turned in the text of a module."""
        from porter_triton.schedules import knobs  # noqa: PLC0415 - only where a port is to be made better

        return knobs(files, target)

    def tuned(
        self, files: tuple[PortedFile, ...], point: Mapping[str, Value], target: Target
    ) -> tuple[PortedFile, ...] | None:
        """Returns the files with their knobs turned."""
        from porter_triton.schedules import tuned  # noqa: PLC0415 - only where a port is to be made better

        return tuned(files, point, target)

    def rewrites(self, files: tuple[PortedFile, ...]) -> tuple[Rewritten, ...]:
        """Returns the rule that takes divisions out of loops."""
        from porter_triton.rewrites import rewrites  # noqa: PLC0415 - only where a port is to be made better

        return tuple(rewrites(files))

    def axes(self) -> tuple[Axis, ...]:
        """Returns the axes of every kernel."""
        from porter.evolve.features import AXES  # noqa: PLC0415 - only where a port is to be made better

        return AXES

    def features(self, files: tuple[PortedFile, ...]) -> tuple[int, ...]:
        """Returns features read from the module."""
        from porter_triton.features import features  # noqa: PLC0415 - only where a port is to be made better

        return features(files[0].text)

    def cost(  # noqa: PLR0917 - a candidate, what is asked of it, and where
        self,
        port: Port,
        original: TranslationUnit,
        contract: Contract,
        workload: Workload,
        target: Target,
        bench: Bench,
        *,
        construction: Construction | None = None,
    ) -> Cost | str:
        """Returns the cost by the instructions that Triton's compiler makes of the module's launches."""
        from porter_triton.cost import cost  # noqa: PLC0415 - only where there is no device

        return cost(port, original, contract, workload, target, bench, construction)

    def ready(
        self,
        port: Port,
        original: TranslationUnit,
        target: Target,
        bench: Bench,
        *,
        is_trusted: bool = True,  # noqa: ARG002 - none is
    ) -> AbstractContextManager[Ported]:
        """Returns the port's module in Triton's interpreter, which also has to compile what it launches."""
        from porter_triton.proof import interpreted  # noqa: PLC0415 - only where a port is executed

        return interpreted(port, original, target, bench.cache, bench.limits)

    def on_device(
        self, port: Port, original: TranslationUnit, target: Target, place: Place
    ) -> AbstractContextManager[Ported]:
        """Returns the port's module on the device itself."""
        from porter_triton.native import on_device  # noqa: PLC0415 - only where there is a device

        return on_device(port, original, target, place)

    def compile(self, port: Port, target: Target, workdir: Path) -> Finding | None:  # noqa: ARG002
        """Returns the first line of the module that is not Python. Kernels compile for a launch, which needs a run."""
        from porter_triton.compile import syntax_error  # noqa: PLC0415 - only where a port was made

        return syntax_error(port)


def _installed_version() -> str:
    """Returns the version of Triton that is installed here; empty without it."""
    try:
        return version("triton")
    except PackageNotFoundError:
        return ""
