"""Compiles a port with `mxcc` and reports its errors at the user's lines."""

from __future__ import annotations

import sysconfig
from collections.abc import Sequence
from difflib import SequenceMatcher
from importlib.util import find_spec
from pathlib import Path

from porter.backend import Port, PortedFile, Target
from porter.diagnostics.findings import Finding
from porter.source_text import Source, Span
from porter_maca.catalogue import finding
from porter_maca.targets import offload_arch
from porter_maca.toolchain import (
    COMPILE_LIMIT_S,
    CompilerError,
    MacaSdk,
    Ran,
    errors,
    extension_command,
    native_command,
    run,
)


def compile_port(
    sdk: MacaSdk, port: Port, target: Target, workdir: Path, limit_s: float = COMPILE_LIMIT_S
) -> Finding | None:
    """Returns the first error of compiling `port` in `workdir`, which must exist; None when it builds."""
    for file in port.files:
        path = workdir / file.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file.text, "utf-8")
    main = port.files[0]
    source, output = workdir / main.name, workdir / f"{main.name}.o"
    arch = offload_arch(target)
    if source.suffix == ".cu":
        command = extension_command(sdk, arch, source, output, torch_includes())
    else:
        command = native_command(sdk, arch, source, output)
    return _verdict(run(command, workdir, limit_s), port, workdir, limit_s)


def torch_includes() -> tuple[Path, ...]:
    """Returns the header folders of the torch installed beside porter, without importing it, and Python's own."""
    spec = find_spec("torch")
    roots = [Path(place) / "include" for place in (spec.submodule_search_locations or ())] if spec else []
    inner = [root / "torch" / "csrc" / "api" / "include" for root in roots]
    return (*roots, *inner, Path(sysconfig.get_path("include")))


def _verdict(ran: Ran, port: Port, workdir: Path, limit_s: float) -> Finding | None:
    if ran.timed_out:
        return finding("PORT1701", None, f"mxcc did not finish within {limit_s:g} s")
    if ran.status == 0:
        return None
    first = next(iter(errors(ran.output)), None)
    if first is None:
        return finding("PORT1700", None, f"mxcc failed with status {ran.status}", ran.output.strip()[-500:])
    file = next((f for f in port.files if (workdir / f.name).resolve() == (workdir / first.file).resolve()), None)
    if file is None:
        return finding("PORT1700", None, f"mxcc, in {first.file}:{first.line}: {first.message}")
    return finding("PORT1700", original_place(file, first), f"mxcc: {first.message}")


def original_place(file: PortedFile, error: CompilerError) -> Span | None:
    """Returns the user's line behind the place of `error`; None for a line that porter added."""
    row = error.line - 1
    theirs, ours = file.source.text.splitlines(), file.text.splitlines()
    for tag, i, i_end, j, j_end in SequenceMatcher(None, theirs, ours, autojunk=False).get_opcodes():
        if j <= row < j_end:
            origin = i + row - j if tag == "equal" else _most_like(ours[row], theirs, i, i_end)
            return None if origin is None else _line_span(file.source, origin)
    return None


def _most_like(line: str, theirs: Sequence[str], start: int, end: int) -> int | None:
    """Returns the row of `theirs[start:end]` that `line` was made from: names change, most of a line does not."""
    ratios = {row: SequenceMatcher(None, theirs[row], line, autojunk=False).ratio() for row in range(start, end)}
    best = max(ratios, key=lambda row: ratios[row], default=None)
    return best if best is not None and ratios[best] > 0.5 else None


def _line_span(source: Source, row: int) -> Span:
    start = source.line_starts[row]
    end = source.line_starts[row + 1] - 1 if row + 1 < len(source.line_starts) else len(source.text)
    return source.span(start, end)
