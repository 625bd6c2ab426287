"""A backend for a platform whose language is CUDA under other names: all of it comes from tables.

A subclass names its platform and the folder of its package, in which lie

    targets.toml    the devices: the fields of `porter.backend.Target`, the default first
    names.toml      `[headers]` and `[names]`: CUDA's on the left, the platform's on the right
    findings.toml   the findings it reports; the one named `left_behind` is about CUDA names that `names.toml` lacks
    include/        the headers of the platform, for porter's executor: see `porter.dialect.Dialect`

What only a search or a device needs has a default here. A platform that must change more than names overrides `port`;
one with a compiler `probe` and `compile`; one with waves of 64 lanes has to mend what counts on 32, as MACA's does.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from porter.backend import Availability, Port, PortedFile, Target
from porter.diagnostics.catalogue import load_catalogue
from porter.diagnostics.findings import CatalogueEntry, Finding
from porter.dialect import Dialect
from porter.errors import MachineError
from porter.source.program import Program
from porter.source_text import Source

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
    from porter.native.place import Place
    from porter.rules.original import OwnCode
    from porter.translation_unit import TranslationUnit
    from porter.worker.kinds import WorkerKind

_INCLUDE = re.compile(r"(#\s*include\s*[<\"])([^>\"]+)")
_WORD = re.compile(r"[A-Za-z_]\w*")
_CUDA = re.compile(r"(cuda|cublas|curand|cusparse|cufft)[A-Z]\w*")


class RenamingBackend:
    """Ports by renaming, and executes ports on porter's executor. Its members are those of `porter.backend.Backend`."""

    name: str
    folder: Path
    left_behind: str

    @property
    def suffixes(self) -> tuple[str, ...]:
        """The names of its ports end in `.NAME.cpp`; any other C++ may be meant, too."""
        return (f".{self.name}.cpp", ".cpp")

    @cached_property
    def dialect(self) -> Dialect:
        """The platform's spelling of CUDA: `names.toml` read from right to left."""
        spelling = tuple((own, cuda) for cuda, own in sorted(self._table("names").items()))
        return Dialect(self.name, self.folder / "include", (), spelling)

    def targets(self) -> tuple[Target, ...]:
        """The devices of `targets.toml`."""
        rows = tomllib.loads((self.folder / "targets.toml").read_text("utf-8"))["target"]
        return tuple(Target(backend=self.name, **row) for row in rows)

    def probe(self) -> Availability:
        """Neither compiler nor device, until a subclass knows of one."""
        return Availability(compile=False, run=False, because=f"porter knows no compiler of {self.name}")

    def workers(self, cache: Path) -> tuple[WorkerKind, ...]:  # noqa: ARG002 - none of them is Python
        """None: porter's executor runs the ports."""
        return ()

    def catalogue(self) -> tuple[CatalogueEntry, ...]:
        """The findings of `findings.toml`."""
        return tuple(load_catalogue(self.folder / "findings.toml").values())

    def brief(self, target: Target) -> str:
        """The device, in sentences."""
        language = f"The language is CUDA under the names of {self.name}. Forbidden: the names of CUDA."
        sizes = f"{target.warp_size} lanes in a wave, {target.shared_bytes} bytes of shared memory"
        return f"# {target.description}\n\n{sizes} and {target.max_threads} threads in a block. {language}\n"

    def port(self, program: Program, headers: tuple[Source, ...], target: Target) -> Port:  # noqa: ARG002
        """The source and its local headers with the platform's names."""
        main = PortedFile(f"{program.source.path.stem}{self.suffixes[0]}", "", program.source)
        files = (main, *(PortedFile(header.path.name, "", header) for header in headers))
        ported = tuple(PortedFile(one.name, self._renamed(one.source), one.source) for one in files)
        return Port(ported, tuple(found for one in files for found in self._left_behind(one.source, program)))

    def lint(self, files: tuple[PortedFile, ...], original: OwnCode) -> tuple[Finding, ...]:  # noqa: ARG002
        """None is known."""
        return ()

    def knobs(self, files: tuple[PortedFile, ...], target: Target) -> tuple[Knob, ...]:  # noqa: ARG002
        """None: a search finds nothing to turn."""
        return ()

    def tuned(
        self,
        files: tuple[PortedFile, ...],
        point: Mapping[str, Value],
        target: Target,  # noqa: ARG002
    ) -> tuple[PortedFile, ...] | None:
        """The files as they are, where nothing is to be turned."""
        return None if point else files

    def rewrites(self, files: tuple[PortedFile, ...]) -> tuple[Rewritten, ...]:  # noqa: ARG002
        """None."""
        return ()

    def axes(self) -> tuple[Axis, ...]:
        """Returns the axes of every kernel."""
        from porter.evolve.features import AXES  # noqa: PLC0415 - only where a port is to be made better

        return AXES

    def features(self, files: tuple[PortedFile, ...]) -> tuple[int, ...]:  # noqa: ARG002
        """The first place on each axis: nothing is read from the text."""
        return (0,) * len(self.axes())

    def cost(  # noqa: PLR0917
        self,
        port: Port,  # noqa: ARG002 - the same answer for all
        original: TranslationUnit,  # noqa: ARG002
        contract: Contract,  # noqa: ARG002
        workload: Workload,  # noqa: ARG002
        target: Target,  # noqa: ARG002
        bench: Bench,  # noqa: ARG002
        *,
        construction: Construction | None = None,  # noqa: ARG002
    ) -> Cost | str:
        """None."""
        return f"there is no model of what a port costs on {self.name}"

    def ready(
        self, port: Port, original: TranslationUnit, target: Target, bench: Bench, *, is_trusted: bool = True
    ) -> AbstractContextManager[Ported]:
        """The port on porter's executor, at the target's width and at CUDA's."""
        from porter.evaluate.judge.ported import emulated  # noqa: PLC0415 - only where a port is executed

        return nullcontext(emulated(port, original, target, bench, self.dialect, is_trusted=is_trusted))

    def on_device(
        self,
        port: Port,  # noqa: ARG002 - it runs nowhere
        original: TranslationUnit,  # noqa: ARG002
        target: Target,  # noqa: ARG002
        place: Place,  # noqa: ARG002
    ) -> AbstractContextManager[Ported]:
        """Raises `MachineError`: no device runs it, until a subclass knows of one."""
        raise MachineError(f"porter cannot run ports to {self.name} on a device", "leave out --fidelity native")

    def compile(self, port: Port, target: Target, workdir: Path) -> Finding | None:  # noqa: ARG002
        """None: there is no compiler."""
        return None

    @cached_property
    def _tables(self) -> Mapping[str, Mapping[str, str]]:
        return tomllib.loads((self.folder / "names.toml").read_text("utf-8"))

    def _table(self, name: str) -> Mapping[str, str]:
        return self._tables.get(name, {})

    def _renamed(self, source: Source) -> str:
        from porter.source.lexer import TokenKind, tokens  # noqa: PLC0415 - only where something is ported

        names, headers = self._table("names"), self._table("headers")
        written = []
        for token in tokens(source.text):
            text = token.text
            if token.kind is TokenKind.DIRECTIVE:
                text = _INCLUDE.sub(lambda found: found[1] + headers.get(found[2], found[2]), text)
            if token.kind in (TokenKind.DIRECTIVE, TokenKind.IDENTIFIER):
                text = _WORD.sub(lambda found: names.get(found[0], found[0]), text)
            written.append(text)
        return "".join(written)

    def _left_behind(self, source: Source, program: Program) -> Iterator[Finding]:
        """Yields a finding for each name of CUDA that the table lacks, at its first place."""
        from porter.source.lexer import TokenKind, tokens  # noqa: PLC0415 - only where something is ported

        entry = next(one for one in self.catalogue() if one.code == self.left_behind)
        seen = set(self._table("names"))
        for token in tokens(source.text):
            if token.kind is TokenKind.IDENTIFIER and token.text not in seen and _CUDA.fullmatch(token.text):
                seen.add(token.text)
                found = entry.at(source.span(token.start, token.end), f"{token.text} has no name in names.toml")
                yield found if source is program.source else replace(found, source=source)
