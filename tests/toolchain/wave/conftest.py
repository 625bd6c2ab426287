"""All idioms as one program, built once for each language and width: compiling costs more than all the runs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from porter.cache_folder import cache_folder
from porter.contract.model.contract import Entry, EntryKind
from porter.contract.model.dtype import DType
from porter.dialect import CUDA, Dialect
from porter.execution.job import (
    BuildFailure,
    BuildRequest,
    Callee,
    Executable,
    Job,
    Run,
    ScalarValue,
    Schedule,
    TensorValue,
)
from porter.simt.build import build
from porter.simt.run import run
from porter.source.parse import parse
from porter.source_text import Source
from porter_maca import MacaBackend
from porter_maca import port as port_module
from porter_maca import ptx as ptx_module
from porter_maca.dialect import MACA
from porter_maca.wave import WaveResult

_SIZE = re.compile(r"// n = (\d+)")
_ENTRY = re.compile(r'extern "C" void run\(const (float|int) ?\* ?in')
_INCLUDE = re.compile(r"^#include .*\n", re.MULTILINE)


@dataclass(frozen=True)
class Idiom:
    """One file: `n` elements of `dtype` go in, as many come out."""

    name: str
    text: str
    n: int
    dtype: DType

    @staticmethod
    def read(path: Path) -> Idiom:
        text = path.read_text("utf-8")
        size, entry = _SIZE.match(text), _ENTRY.search(text)
        assert size is not None, path
        assert entry is not None, path
        return Idiom(path.stem, text, int(size[1]), DType.FLOAT32 if entry[1] == "float" else DType.INT32)

    def input(self) -> NDArray[np.generic]:
        """Signed values of few bits: their sums in float are exact, whatever the order."""
        values = np.random.default_rng(self.n).integers(-40, 40, self.n)
        return values.astype(np.int32) if self.dtype is DType.INT32 else (values / 16).astype(np.float32)


IDIOMS = {p.stem: Idiom.read(p) for p in sorted((Path(__file__).parent / "idioms").glob("*.cu"))}


def _program() -> Source:
    """Every idiom in a namespace of its own, and an entry that calls the one asked for."""
    includes = sorted({line for i in IDIOMS.values() for line in _INCLUDE.findall(i.text)})
    bodies = [
        f"namespace {i.name} {{\n{_INCLUDE.sub('', i.text)}\n}}".replace('extern "C" ', "") for i in IDIOMS.values()
    ]
    calls = [
        f"    if (which == {k}) {i.name}::run((const {_c_type(i)}*)in, ({_c_type(i)}*)out, n);"
        for k, i in enumerate(IDIOMS.values())
    ]
    entry = 'extern "C" void run(const int* in, int* out, int n, int which) {\n' + "\n".join(calls) + "\n}\n"
    return Source(Path("idioms.cu"), "\n".join(["".join(includes), *bodies, entry]))


def _c_type(idiom: Idiom) -> str:
    return "float" if idiom.dtype is DType.FLOAT32 else "int"


def _built(source: Source, dialect: Dialect, warp_size: int) -> Executable:
    program = parse(source)
    entry = next(f for f in program.host_functions if f.extern_c)
    types = tuple(p.type for p in entry.params)
    callee = Callee(Entry(EntryKind.POINTER, "run"), types)
    (result,) = build(BuildRequest(source, (), dialect, (callee,), warp_size), cache_folder())
    assert not isinstance(result, BuildFailure), result.log
    return result


@dataclass(frozen=True)
class Built:
    """The idioms in one language at one warp width."""

    executable: Executable

    def run(self, name: str, schedule: Schedule = Schedule.FORWARD) -> Run:
        """One run of an idiom; what it leaves in `out` is `outputs[1]`, as raw 32-bit words."""
        idiom = IDIOMS[name]
        words = TensorValue(DType.INT32, (idiom.n,), idiom.input().view(np.int32))
        nothing = TensorValue(DType.INT32, (idiom.n,), np.zeros(idiom.n, np.int32))
        which = list(IDIOMS).index(name)
        return run(self.executable, Job((words, nothing, ScalarValue(idiom.n), ScalarValue(which)), schedule))


def _port(source: Source) -> Source:
    backend = MacaBackend()
    ported = backend.port(parse(source), (), backend.targets()[0])
    return Source(Path(ported.files[0].name), ported.files[0].text)


@pytest.fixture(scope="session")
def idioms() -> dict[str, Idiom]:
    """The idioms by name."""
    return IDIOMS


@pytest.fixture(scope="session")
def original() -> Built:
    """The CUDA source on warps of 32."""
    return Built(_built(_program(), CUDA, 32))


@pytest.fixture(scope="session", params=[64, 32])
def ported(request: pytest.FixtureRequest) -> Built:
    """Porter's port on waves of 64 and of 32 lanes."""
    return Built(_built(_port(_program()), MACA, request.param))


@pytest.fixture(scope="session")
def renamed() -> Built:
    """A port that renames and nothing else, on waves of 64 lanes."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (port_module, ptx_module):
            patch.setattr(module, "rewrite", lambda *_: WaveResult())
        source = _port(_program())
    return Built(_built(source, MACA, 64))
