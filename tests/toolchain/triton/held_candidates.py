"""Candidates that are kept as text: a preamble that all of them share, and a piece of a module for each."""

import re
from dataclasses import dataclass, replace
from pathlib import Path

from porter.backend import Port, PortedFile
from porter.contract.model.contract import (
    Contract,
    Distribution,
    Entry,
    EntryKind,
    Role,
    ScalarArg,
    TensorArg,
    Tolerance,
    Workload,
)
from porter.contract.model.dtype import DType
from porter.evaluate.judge.calling import Called
from porter.evaluate.judge.device_sizes import DeviceSizes
from porter.evaluate.judge.judge import judge
from porter.evaluate.judge.rehearsal import rehearsals
from porter.evaluate.model.outcome import Outcome, Verified
from porter.evaluate.problem.bench import CUDA_WARP_SIZE, bench
from porter.evaluate.reference.judging import Judging
from porter.oracle.reference import Reference, examine
from porter.registry import find_backend, find_target
from porter.source.parse import parse
from porter.source_text import Source
from porter.translation_unit import TranslationUnit, original_unit
from porter_triton.proof import interpreted

FOLDER = Path(__file__).parent / "candidates"
FAMILIES = (
    "not_the_work",
    "only_when_large",
    "remembering",
    "stealing",
    "bending_time",
    "bending_correctness",
    "bending_the_judge",
)
_HEAD = re.compile(r"^# --- (\w+)(?:: (.*))?$", re.MULTILINE)
_SIZES = (("tiny", 1, 3), ("small", 3, 37), ("odd", 5, 65))
# The same size again, so that what is kept by size is another's.
CONTRACT = Contract(
    "softmax", "softmax", Entry(EntryKind.POINTER, "softmax"),
    (TensorArg("x", Role.IN, DType.FLOAT32, ("rows", "cols")),
     TensorArg("y", Role.OUT, DType.FLOAT32, ("rows", "cols")),
     ScalarArg("rows", "int", "rows"), ScalarArg("cols", "int", "cols")),
    ("rows", "cols"), (),
    (*(Workload(name, {"rows": r, "cols": c}, seed) for seed, (name, r, c) in enumerate(_SIZES, 3)),
     Workload("again", {"rows": 3, "cols": 37}, 11),
     Workload("large values", {"rows": 3, "cols": 37}, 12, scale=100.0),
     Workload("sorted", {"rows": 3, "cols": 37}, 13, distribution=Distribution.SORTED)),
    {DType.FLOAT32: Tolerance(1e-5, 1e-6)},
)  # fmt: skip


@dataclass(frozen=True)
class Piece:
    """A candidate: `expected` are outcomes and codes, of which one has to be what comes of it.

    Of an honest one all words of it are said.
    """

    name: str
    expected: tuple[str, ...]
    text: str


def pieces(file: str) -> list[Piece]:
    """The candidates of a file, each behind the preamble."""
    preamble = (FOLDER / "preamble.py.txt").read_text()
    text = (FOLDER / f"{file}.py.txt").read_text()
    heads = [*_HEAD.finditer(text)]
    ends = [*(head.start() for head in heads[1:]), len(text)]
    return [
        Piece(head[1], tuple((head[2] or "").split()), f"{preamble}\n\n{text[head.end() : end]}")
        for head, end in zip(heads, ends, strict=True)
    ]


@dataclass(frozen=True)
class Verdict:
    """What came of a candidate: the codes of rules that its text breaks, and the outcome of running it."""

    by_text: tuple[str, ...]
    by_run: Outcome

    @property
    def said(self) -> str:
        """All of it in words, the text first."""
        because = getattr(self.by_run, "because", "") or getattr(self.by_run, "caveat", "")
        missing = self.by_run.coverage.missing if isinstance(self.by_run, Verified) else ()
        return " ".join((*self.by_text, self.by_run.label, because, *(side.described for side in missing)))

    @property
    def verified(self) -> bool:
        """Returns whether the candidate passed."""
        return not self.by_text and self.by_run.label == "verified"


class Judge:
    """One original and its answers, for one candidate after the other."""

    def __init__(self, cache: Path) -> None:
        self._cache = cache
        self._backend = find_backend("triton")
        self._target = find_target(self._backend)
        original = Source(FOLDER / "softmax.cu", (FOLDER / "softmax.cu").read_text())
        self._original: TranslationUnit = original_unit(parse(original), (), ())
        self._reference: Reference = self._examined()

    def _examined(self) -> Reference:
        with bench(self._cache, 60.0) as place:
            (built,) = place.begin(self._original.request((CONTRACT,), CUDA_WARP_SIZE)).result()
            return examine(CONTRACT, self._original.program, place.execute(built))

    def verdict(self, piece: Piece, *, compiling: bool = True) -> Verdict:
        """Returns what is said of a candidate: its text is read, and whatever that gives it is run, too.

        Kernels are only compiled where that is asked for, which takes most of the time.
        """
        source = Source(Path(f"{piece.name}.py"), piece.text)
        port = Port((PortedFile(source.path.name, piece.text, source),), ())
        codes = tuple(finding.code for finding in self._backend.lint(port.files, self._original.own))
        with (
            bench(self._cache, 20.0) as place,
            interpreted(port, self._original, self._target, self._cache, place.limits) as ported,
        ):
            (found,) = Called(ported, "forward").candidates((CONTRACT,))
            if not isinstance(found, tuple):
                return Verdict(codes, found)
            candidates = found if compiling else tuple(replace(candidate, compiled=tuple) for candidate in found)
            at = rehearsals(CONTRACT, {}, {}, lambda _: None)
            outcome = judge(self._reference, candidates)
            if isinstance(outcome, Verified):
                outcome = DeviceSizes(candidates, at, Judging(0, {})).named(outcome, self._reference.habits)
            return Verdict(codes, outcome)
