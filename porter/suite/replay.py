"""Checks a run's ports against their originals once more: as they stand, nothing is ported again.

`python -m porter.suite.replay PORT ORIGINAL TARGET ARCH CACHE` is the process that does it for one of them. It
prints the document of a migration; ORIGINAL is the operator's folder in the run. A port is checked with all that a
judge draws at the contract's sizes, by a seed that the contract gives: with other inputs each time these would change,
and not a driver. Where there is a device it is timed there, beside its original.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from porter.backend import Port, Target
from porter.errors import PorterError, exhaustion
from porter.evaluate.judge.admission import not_admitted
from porter.evaluate.migrate import proven
from porter.evaluate.model.migration import MigrateOptions, Migration
from porter.evaluate.model.outcome import KernelsVerified, NotVerified, Outcome, Verified
from porter.evaluate.problem.candidate import candidate_port
from porter.evaluate.timing.baselines import of_cuda
from porter.evaluate.timing.speeds import Subject, timed_if_possible
from porter.evaluate.verify import verify
from porter.native.place import missing_device
from porter.registry import find_backend, find_target
from porter.report.migration.document import migration_document
from porter.report.migration.judgement import judgement_document
from porter.source.headers import DiskHeaders
from porter.source.load import read_sources
from porter.source.parse import parse
from porter.suite.children import Children
from porter.suite.operators import Operator
from porter.suite.reading import result_of
from porter.suite.result import ERROR, ORIGINAL, Result, SuiteResult
from porter.translation_unit import TranslationUnit, original_unit
from porter.writing.document import Json, encode_json

_SEED_BYTES = 6


def replay(
    folder: Path, run: SuiteResult, cache: Path, children: Children, told: Callable[[Result], None]
) -> dict[str, Result]:
    """Returns what comes of the ports of `run`, which lie in `folder`, by key. What had no port stays as it was."""
    kept = [one for one in run.results if one.port]
    found = {one.key: one for one in (*run.results, *run.missing) if not one.port}
    for result in children.each(kept, lambda one: _replayed(folder, run, one, cache, children)):
        found[result.key] = result
        told(result)
    return found


def _replayed(folder: Path, run: SuiteResult, before: Result, cache: Path, children: Children) -> Result:
    begin = time.monotonic()
    original = folder / before.key / ORIGINAL
    paths = (str(folder / before.port), str(original), run.target, run.arch, str(cache))
    document = children.ask("porter.suite.replay", *paths)
    operator = Operator(before.suite, before.category, before.name, original)
    now = result_of(document, operator, before.digest, time.monotonic() - begin, folder)
    kernels_alone = before.outcome == KernelsVerified.label and now.outcome == Verified.label  # by a contract of theirs
    return replace(now, port=before.port, outcome=before.outcome if kernels_alone else now.outcome)


def main(port: str, original: str, target: str, arch: str, cache: str) -> None:
    """Print what came of one port."""
    try:
        options = MigrateOptions(target, Path(cache), arch, environment=dict(os.environ))
        document = _document(Path(port), Path(original), options)
    except (PorterError, OSError, MemoryError) as error:
        failed = error if isinstance(error, PorterError) else exhaustion(error)
        if failed is None:
            raise
        document = {"outcome": ERROR, "error": {"message": failed.message, "exit_code": failed.exit_code}}
    sys.stdout.write(encode_json(document))


def _document(port: Path, folder: Path, options: MigrateOptions) -> dict[str, Json]:
    operator = Operator("", "", "", folder)
    backend = find_backend(options.target)
    if not operator.kernel.is_file():
        return _of_module(port, folder, options)
    (source,) = read_sources(operator.kernel)[:1]
    original = original_unit(parse(source, headers=DiskHeaders(())), (), ())
    drawing = hashlib.blake2b(operator.contract.read_bytes(), digest_size=_SEED_BYTES)
    with_contract = replace(options, contract=operator.contract, seed=int.from_bytes(drawing.digest(), "little"))
    candidate = candidate_port(port, backend, ())
    device = find_target(backend, options.arch)
    if refused := not_admitted(backend.lint(candidate.files, original.own), candidate, backend, device):
        return migration_document(_unrun(original, candidate, device, refused), ())
    plain = replace(with_contract, seed=None)
    migration = proven(original, candidate, device, with_contract, _unheard)
    if isinstance(migration.outcome, NotVerified):  # nothing that is tried besides can be told right from wrong
        migration = proven(original, candidate, device, plain, _unheard)
    if not missing_device():
        beside = Subject(candidate, original, device, of_cuda(original, None))
        migration = replace(migration, entries=timed_if_possible(migration.entries, beside, plain, _unheard))
    return migration_document(migration, ())


def _of_module(port: Path, folder: Path, options: MigrateOptions) -> dict[str, Json]:
    """Returns what comes of the port of the module that lies in `folder`, asked for the same as every time."""
    (module,) = folder.glob("*.py")
    seed = int.from_bytes(hashlib.blake2b(module.read_bytes(), digest_size=_SEED_BYTES).digest(), "little")
    verdict = verify(port, module, replace(options, seed=seed, timed=not missing_device()), _unheard)
    return judgement_document(verdict)


def _unrun(original: TranslationUnit, candidate: Port, device: Target, refused: Outcome) -> Migration:
    """Returns what is said of a port that is not run."""
    return Migration(original.program.source, original.program, device, refused, (), candidate.files, (), (), 0.0)


def _unheard(step: str) -> None:
    """Nobody listens to what a replay does."""


if __name__ == "__main__":
    main(*sys.argv[1:])
