"""Defines `MacaBackend`: MetaX MACA as porter sees it. Slow imports are made by the methods that need them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from porter.backend import Availability, Port, PortedFile, Target
from porter.diagnostics.findings import CatalogueEntry, Finding, Severity
from porter.source.program import Program
from porter.source_text import Source
from porter_maca.dialect import MACA
from porter_maca.targets import BACKEND, targets
from porter_maca.toolchain import MacaSdk

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


class MacaBackend:
    """Ports CUDA to MACA C++ and compiles it with `mxcc` where an SDK is installed.

    `maca_path` is the SDK's root; without it the environment's MACA_PATH counts. Only `probe` and `compile` read it,
    where the backend meets the machine.
    """

    name = BACKEND
    suffixes = (".maca.cpp", ".maca.cu", ".cpp", ".cu", ".maca", ".cc", ".cxx")
    dialect = MACA

    def __init__(self, maca_path: Path | None = None) -> None:
        self._maca_path = maca_path

    def targets(self) -> tuple[Target, ...]:
        """Returns the known MetaX devices, C500 first."""
        return targets()

    def probe(self) -> Availability:
        """Returns whether `mxcc` and a MetaX device are here."""
        return self._sdk().probe()

    def workers(self, cache: Path) -> tuple[WorkerKind, ...]:  # noqa: ARG002 - none of them is Python
        """Returns none: porter's own executor runs ports, which are C++."""
        return ()

    def catalogue(self) -> tuple[CatalogueEntry, ...]:
        """Returns the portability findings."""
        from porter_maca.catalogue import catalogue  # noqa: PLC0415 - it reads the registry, which imports this module

        return tuple(catalogue().values())

    def brief(self, target: Target) -> str:
        """Returns `brief.md.j2` for `target`; candidates must not hold what the rules on a source's text find."""
        from porter.agent.brief import brief  # noqa: PLC0415 - only where a model is asked

        of_rules = (entry for entry in self.catalogue() if entry.code.startswith("PORT119"))
        rules = (entry for entry in of_rules if entry.severity is Severity.ERROR)
        return brief(Path(__file__).with_name("brief.md.j2"), target, rules)

    def port(self, program: Program, headers: tuple[Source, ...], target: Target) -> Port:
        """Returns the program and its local headers as MACA C++."""
        from porter_maca.port import port  # noqa: PLC0415 - the parser takes a while to import

        return port(program, headers, target)

    def written(self, operators: Sequence[tuple[Operator, Contract]], source: Source) -> PortedFile | None:
        """Returns the operators as MACA C++, in the form that the source's entries have."""
        from porter_maca.tiles.module import module  # noqa: PLC0415 - the parser takes a while to import

        return module(operators, source)

    def lint(self, files: tuple[PortedFile, ...], original: OwnCode) -> tuple[Finding, ...]:
        """Returns what in MACA source cannot be honest, or is CUDA's."""
        from porter_maca.api import api_table  # noqa: PLC0415 - only where a candidate is judged
        from porter_maca.lint import lint  # noqa: PLC0415
        from porter_maca.rules import rules  # noqa: PLC0415

        sources = [Source(Path(file.name), file.text) for file in files]
        return (*rules(sources, original), *lint(sources, api_table()))

    def knobs(self, files: tuple[PortedFile, ...], target: Target) -> tuple[Knob, ...]:
        """Returns what can be turned in the text of a source."""
        from porter_maca.schedules import knobs  # noqa: PLC0415 - only where a port is to be made better

        return knobs(files, target)

    def tuned(
        self, files: tuple[PortedFile, ...], point: Mapping[str, Value], target: Target
    ) -> tuple[PortedFile, ...] | None:
        """Returns the files with their knobs turned."""
        from porter_maca.schedules import tuned  # noqa: PLC0415 - only where a port is to be made better

        return tuned(files, point, target)

    def rewrites(self, files: tuple[PortedFile, ...]) -> tuple[Rewritten, ...]:  # noqa: ARG002
        """Returns none: no rule over its text is known to pay."""
        return ()

    def axes(self) -> tuple[Axis, ...]:
        """Returns the axes of every kernel."""
        from porter.evolve.features import AXES  # noqa: PLC0415 - only where a port is to be made better

        return AXES

    def features(self, files: tuple[PortedFile, ...]) -> tuple[int, ...]:
        """Returns features read from the source."""
        from porter_maca.features import features  # noqa: PLC0415 - only where a port is to be made better

        return features(files[0].text)

    def cost(  # noqa: PLR0917
        self,
        port: Port,
        original: TranslationUnit,
        contract: Contract,
        workload: Workload,
        target: Target,
        bench: Bench,
        *,
        construction: Construction | None = None,  # noqa: ARG002 - C++ has no classes to build
    ) -> Cost | str:
        """Returns the cost by what a block of each launch asks of memory."""
        from porter_maca.cost import cost  # noqa: PLC0415 - only where a port is to be made better

        return cost(port, original, contract, workload, target, bench)

    def ready(
        self, port: Port, original: TranslationUnit, target: Target, bench: Bench, *, is_trusted: bool = True
    ) -> AbstractContextManager[Ported]:
        """Returns the port on the executor, at 64 lanes and at 32."""
        from porter.evaluate.judge.ported import emulated  # noqa: PLC0415 - only where a port is executed

        return nullcontext(emulated(port, original, target, bench, MACA, is_trusted=is_trusted))

    def on_device(
        self,
        port: Port,
        original: TranslationUnit,
        target: Target,  # noqa: ARG002 - an NVIDIA device stands in for all of them
        place: Place,
    ) -> AbstractContextManager[Ported]:
        """Returns the port through nvcc at 32 lanes: a proxy."""
        from porter_maca.proxy import on_device  # noqa: PLC0415 - only where there is a device

        return on_device(port, original, place)

    def compile(self, port: Port, target: Target, workdir: Path) -> Finding | None:
        """Returns the first error of `mxcc`, at the port's line; None when it builds or there is no compiler."""
        from porter_maca.compile import compile_port  # noqa: PLC0415 - only where there is a compiler

        sdk = self._sdk()
        return compile_port(sdk, port, target, workdir) if sdk.probe().compile else None

    def _sdk(self) -> MacaSdk:
        return MacaSdk.found(self._maca_path, os.environ)
