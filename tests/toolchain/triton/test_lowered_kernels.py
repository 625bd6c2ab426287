"""Lowered kernels run in Triton's interpreter and give what their CUDA says, computed here by hand."""

import json
import subprocess
import sys
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from porter.contract.model.dtype import DType, decode, encode
from porter.source.parse import parse
from porter.source_text import Source
from porter.syntax.read import read_unit
from porter_triton.device.source import helper_source
from porter_triton.kernel_records import Dimension, LaunchInfo, ParameterKind
from porter_triton.thread_level.kernel import prepared_kernel, print_kernel

ROOT = Path(__file__).parent
RNG = np.random.default_rng(7)


@dataclass(frozen=True)
class Case:
    """One launch: `arguments` are arrays and numbers, `expected` maps the position of an array to what it ends as."""

    name: str
    arguments: tuple
    expected: dict
    grid: tuple = (1, 1, 1)
    block: tuple = (64, 1, 1)
    shared_bytes: int = 0
    known: bool = True  # whether the block is, while the kernel is lowered


def _floats(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def _ints(n, low, high):
    return RNG.integers(low, high, n).astype(np.int32)


def _zeros(n, dtype=np.float32):
    return np.zeros(n, dtype)


def _in_pairs_where_aligned(values):
    """Rows of 39: pairs of every second row, from the first, are aligned; they gain 1, all other elements lose it."""
    rows = values.reshape(-1, 39)
    pairs = np.zeros(rows.shape, bool)
    pairs[::2, :38] = True
    return np.where(pairs, rows + 1, rows - 1).ravel()


def _each_fourth(made, given):
    """The sum of what 16 numbers became without their signs, and the largest of them or 0, for 64 threads."""
    made, given = (np.concatenate([v, _zeros(824)]).reshape(64, 16) for v in (made, given))
    return np.stack([np.abs(made).sum(1), given.max(1, initial=0)], 1).ravel()


X = _floats(200)
ROWS = _floats(3, 100)
SCALES = _floats(50)
SCALED = np.where(X > 0, X * np.repeat(SCALES, 4), np.float32(0.1) * X)
BYTES = np.arange(256).astype(np.uint8)
WIDE = np.r_[0.0, -0.0, np.inf, -np.inf, np.nan, 448, 464, -465, 57344, 61440, 1e30, 1e-9, 0.001953125, 0.0009765625,
             _floats(242) * np.exp2(RNG.integers(-18, 18, 242))].astype(np.float32)  # fmt: skip
# Halfway between 8-bit floats, and a little beside that, less than a float tells apart.
EXACT = np.exp2(np.arange(256) % 16 - 8) * (1.125 + np.arange(256) % 4 * 0.25 + (np.arange(256) % 3 - 1) * 2.0**-40)
HALVES = _floats(512).astype(np.float16)
WHOLE = _ints(64, -50, 50)
SMALL = _ints(200, 0, 40)
TENTHS = (_ints(64, -8, 8) / 8).astype(np.float16)
PERMUTED = RNG.permutation(64).astype(np.int32)
CSR = np.array([0, 3, 3, 10, 11, 40], np.int32)


def _partial(values, limit):
    """What `broken_sums` adds up of each row."""
    sums = []
    for start, end in pairwise(CSR):
        total = np.float32(0)
        for v in values[start:end]:
            if v < -1:
                continue
            if v > limit:
                break
            total += v
        sums.append(total)
    return np.array(sums, np.float32)


def _spans(values):
    """What `spans` makes of each row."""
    sums = []
    for r, (start, end) in enumerate(pairwise(CSR)):
        total = np.float32(sum(v for v in values[start : end : r + 1] if v >= -1))
        for v in values[start:end][::-1]:
            total = total * np.float32(0.5) + v
        sums.append(total)
    return np.array(sums, np.float32)


def _collatz(values):
    def steps(n):
        count = 0
        while n != 1 and count < 100:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            count += 1
        return count

    return np.array([steps(int(v)) for v in values], np.int32)


def _first_negative(rows):
    return np.array([next((i for i, v in enumerate(row) if v < 0), -1) for row in rows], np.int32)


def _relaxed(x, rounds):
    for _ in range(rounds):
        x = (np.r_[0, x[:-1]] + np.r_[x[1:], 0]).astype(np.float32) / 2
    return x


def _unzipped(keys):
    return np.r_[keys[keys % 2 == 0], keys[keys % 2 == 1][::-1]]


def _collected(x):
    v = np.r_[x[:50], np.zeros(14, np.float32)]
    return v / (v.sum() + v.max())


def _before(x):
    taken = np.r_[x[:50] > 0, np.zeros(14, bool)].astype(np.int32)
    return np.cumsum(taken) - taken


def _packed(x):
    parts = [np.uint32(0xFF000000), *(((x + j).astype(np.uint8).astype(np.uint32)) << (8 * j) for j in range(3))]
    return np.bitwise_or.reduce(np.broadcast_arrays(*parts)).view(np.int32)


def _composed(x):
    """The slope and start of `v -> (1 + 0.01 x) v + x` for each x in turn."""
    slope, start = 1.0, 0.0
    for value in x.astype(np.float64):
        slope, start = slope * (1 + 0.01 * value), (1 + 0.01 * value) * start + value
    return [slope, start]


def _striped(x, n):
    """What was read three neighbours a thread and written thread by thread."""
    items = 2 * np.r_[x[:n], np.full(192 - n, -1, np.float32)].reshape(64, 3).T.ravel()
    return np.r_[items[:n], _zeros(200 - n)]


def _strided(x, rows, columns):
    return np.array([[x[i::rows, j::columns].sum() for j in range(columns)] for i in range(rows)])


def _bytes(dtype, most, beyond):
    """What does not saturate, which is `beyond` for all above `most`, and what does, as bytes."""
    saturated = encode(WIDE, dtype)
    sign = np.where(np.signbit(WIDE), 0x80, 0)
    return np.r_[np.where(np.abs(WIDE) > most, sign | beyond, saturated), saturated].astype(np.uint8)


def _windows(x, n, size):
    around = [x[max(w - 1, 0) : min(w + 2, n)].sum() for w in range(n)]
    return [sum(around[max(2 * i - 3, 0) : max(min(2 * i - 3 + size, n), 0)]) for i in range(64)]


def _joined(x, n):
    v = x[:64].copy()
    signs = np.where(v > 1, 2, np.where(v < 0, np.trunc(-v), n))
    v = np.abs(v)
    first = np.where(v > 0.5, v, x[64:128] * v)
    rest = np.where(v > 0.5, 0, v)
    second = np.where(rest > 0, rest, x[:64] - rest)
    lives = np.arange(64) < n
    return np.r_[np.where(lives, first, 0), np.where(lives, second, 0)].astype(np.float32), signs.astype(np.int32)


def _turned(x):
    return np.sin(x[::-1]) + 3 * np.cos(x[::-1]) + 5 * np.sin(2 * x) + 7 * np.cos(2 * x)


def _left_early(x, n):
    """What `left_early` makes of `x`, thread by thread."""
    tail, roots = _zeros(512), _zeros(256)
    for base in range(0, 256, 4):
        held = [x[(base + i) % 200] for i in range(8)]
        for i in (0, 4):
            if base + i * 64 >= n:
                break
            tail[base + i * 64 : base + i * 64 + 4] = [h + i for h in held[i : i + 4]]
        low = next((i for i in range(4) if held[i] < -1), 4)
        roots[base : base + low] = [h + 2 for h in held[:low]]
        if low == 4:
            roots[base] += 100
    return tail, roots


CASES = [
    Case("scale", (X, _zeros(200), 190, 0.5), {1: np.r_[X[:190] * np.float32(0.5) + 1, _zeros(10)]}, (4, 1, 1)),
    Case("grid_stride", (X, _zeros(200), 200), {1: X * 2}, (2, 1, 1)),
    Case("row_sums", (ROWS, _zeros(3), 100), {1: ROWS.sum(1)}, (3, 1, 1)),
    Case("row_max_shared", (ROWS, _zeros(3), 100), {1: ROWS.max(1)}, (3, 1, 1), (128, 1, 1)),
    Case("softmax", (ROWS, _zeros(300), 100), {1: (np.exp(ROWS) / np.exp(ROWS).sum(1, keepdims=True)).ravel()},
         (3, 1, 1), (96, 1, 1)),
    Case("broken_sums", (CSR, X, _zeros(5), 5), {2: _partial(X, 1.5)}),
    Case("spans", (CSR, X, _zeros(5), 5), {2: _spans(X)}),
    Case("tails", (X, _zeros(200), _zeros(200), _zeros(200), 9, 19, 199),
         {1: np.r_[X[:8] + 1, X[8], _zeros(191)], 2: np.r_[_zeros(16), X[16], 0, X[18], _zeros(181)],
          3: np.r_[_zeros(196), X[196:199], 0]}, (2, 1, 1)),
    Case("from_below_zero", (X, _zeros(200), 190),
         {1: np.where((np.arange(200) % 64 < 59) & (np.arange(200) < 190), X, 0)}),
    Case("strided", (X, _zeros(128), _zeros(128, np.int32), 200),
         {1: np.r_[X[:72] + X[128:], X[72:128]], 2: np.r_[np.arange(256, 328), np.arange(200, 256)].astype(np.int32)},
         (2, 1, 1)),
    Case("wide_index", (X, _zeros(200), 190), {1: np.r_[X[:190] * 2, _zeros(10)]}, (2, 1, 1)),
    Case("widened", (_zeros(64, np.int64), 2**40), {0: (np.arange(64) - 7) % 2**32 + 2**40}),
    Case("collatz", (np.arange(1, 65, dtype=np.int32), _zeros(64, np.int32), 64),
         {1: _collatz(range(1, 65))}),
    Case("first_negative", (ROWS, _zeros(3, np.int32), 3, 100), {1: _first_negative(ROWS)}),
    Case("division", (WHOLE, _zeros(64, np.int32)),
         {1: np.array([int(v / 7) * 100 + int(np.fmod(v, 7)) for v in WHOLE], np.int32)}),
    Case("unsigned_wrap", (WHOLE, _zeros(64, np.int32)),
         {1: np.array([(int(v) - 3) % 2**32 // 2 % 1000 for v in WHOLE], np.int32)}),
    Case("choices", (WHOLE, _zeros(64, np.int32), 2),
         {1: np.array([{0: 1, 1: 110, 2: 100}.get(abs(int(v)) % 4, 7) + 1000 for v in WHOLE], np.int32)}),
    Case("first_of_a_warp", (X[:64], _zeros(64)), {1: np.r_[X[63] + np.float32(1), X[1:64]]}),
    Case("sorted_four", (X, _zeros(200), 50), {1: np.sort(X.reshape(50, 4), axis=1).ravel()}),
    Case("picked", (X, SMALL, _zeros(64)), {2: np.array([X[i : i + 5][SMALL[i] % 5] for i in range(64)])}),
    Case("transpose", (_t := _floats(20, 30), _zeros(600), 30, 20), {1: _t.T.ravel()}, (2, 2, 1), (16, 16, 1)),
    Case("histogram", (SMALL, _zeros(40, np.int32), 200), {1: np.bincount(SMALL, minlength=40).astype(np.int32)},
         (2, 1, 1), (128, 1, 1)),
    Case("scan", (X, _zeros(64)), {1: np.cumsum(X[:64])}),
    Case("votes", (WHOLE, _zeros(64, np.int32)),
         {1: np.repeat([(WHOLE[:32] > 0).sum() + 100, (WHOLE[32:] > 0).sum() + 100], 32).astype(np.int32)}),
    Case("tickets", (_zeros(1, np.int32), _zeros(64, np.int32)), {0: np.array([64], np.int32)}),
    Case("vectors", (X, _zeros(50), 50), {1: np.abs(X.reshape(50, 4)).max(1)}),
    Case("rows_of_vectors", (X, SCALES, _zeros(200), _zeros(128), 50), {2: SCALED, 3: _each_fourth(SCALED, X)}),
    Case("compacted", (X, _zeros(200), _zeros(1, np.int32), 64), {2: np.array([(X[:64] > 0).sum()], np.int32)}),
    Case("sent", (WHOLE, PERMUTED, _zeros(128, np.int32)), {2: np.tile(WHOLE[np.argsort(PERMUTED)], 2)}, (2, 1, 1),
         shared_bytes=256),
    Case("reversed", (X, _zeros(64)), {1: X[:64][::-1]}, shared_bytes=256),
    Case("search", (np.sort(X), X, _zeros(200, np.int32), 200),
         {2: np.searchsorted(np.sort(X), X).astype(np.int32)}, (4, 1, 1)),
    Case("struct_sums", (ROWS, _zeros(3), _zeros(3), 100), {1: ROWS.mean(1), 2: ROWS.max(1)}, (3, 1, 1), (32, 1, 1)),
    Case("guarded", (X, _zeros(64), 60), {1: np.r_[X[1:61] - X[:60], _zeros(4)]}),
    Case("swapped", (X[:128], 3), {0: np.stack([X[:128:2] + 2, X[1:128:2] + 1], 1).ravel()}),
    Case("relaxed", (X[:64], 4), {0: _relaxed(X[:64], 4)}),
    Case("unzipped", (SMALL[:64], _zeros(64, np.int32), _zeros(1, np.int32)),
         {1: _unzipped(SMALL[:64]), 2: np.array([(SMALL[:64] % 2 == 0).sum()], np.int32)}),
    Case("scattered", (PERMUTED, SMALL[:64], _zeros(64, np.int32)), {2: SMALL[:64][np.argsort(PERMUTED)]}),
    Case("swapped_in", (X, np.full(2, -9, np.float32), 100), {1: np.array([X[:100:2].max(), X[1:100:2].max()])},
         (2, 1, 1)),
    Case("column_sums", (ROWS, _zeros(100), 3, 100), {1: ROWS.sum(0)}, (1, 1, 1), (64, 1, 1), 1024),
    Case("folded", (X, _zeros(16)), {1: X[:128].reshape(8, 16).sum(0)}, (1, 1, 1), (16, 8, 1)),
    Case("own_operations", (X, _zeros(2), 50), {1: np.float32([min(X[:50].min(), 2), max(X[:50].max(), 2)])}),
    Case("collectives", (X, _zeros(64), _zeros(64, np.int32), 50), {1: _collected(X), 2: _before(X)}),
    Case("led", (X, _zeros(50)), {1: X[:50] - X[np.arange(50) // 32 * 32] + X[31] * (np.arange(50) < 32)},
         (1, 1, 1), (50, 1, 1), known=False),
    Case("masked_by_bytes", (_zeros(200), X, (SMALL % 2).astype(np.uint8), 50), {0: X * (SMALL % 2)}),
    Case("packed_bytes", (WHOLE, _zeros(64, np.int32)), {1: _packed(WHOLE)}),
    Case("clipped_halves", (HALVES, _zeros(512, np.float16)),
         {1: np.stack([np.maximum(HALVES[::2], 0), HALVES[1::2] * 2], 1).ravel()}),
    Case("stored", (X, _zeros(50)), {1: (X.reshape(50, 4) ** 2).sum(1) ** -0.5}, (1, 1, 1), (50, 1, 1)),
    Case("moved_by_blocks", (X, _zeros(200), 130), {1: _striped(X, 130)}),
    Case("assembled", (X, _zeros(64), _zeros(64, np.int32), 40),
         {1: np.r_[np.tanh(X[:40]), _zeros(24)], 2: np.array([2 ** (i % 32) - 1 for i in range(64)], np.int32)}),
    Case("united", (HALVES, _zeros(256), _zeros(64, np.int32), SMALL[:64].astype(np.float32)),
         {1: (HALVES * np.float16(2)).view(np.float32), 2: (0x01000304 | SMALL[:64] << 16).astype(np.int32)}),
    Case("made_unions", (HALVES[:128], _zeros(128, np.float16), _zeros(64)),
         {1: HALVES[:128].reshape(64, 2)[:, ::-1].ravel(), 2: -HALVES[1:128:2].astype(np.float32)}),
    Case("pairs", (SMALL[:64], _zeros(64, np.int16), _zeros(64)),
         {1: (SMALL[:64] - 3 * 256).astype(np.int16), 2: SMALL[:64] * 6.0}),
    Case("packed", (np.arange(512.0) - 100, _zeros(64), _zeros(64)),
         {1: (np.arange(512.0) - 100).reshape(2, 64, 4).sum((0, 2)) + 4,
          2: np.maximum(0, np.arange(64.0) - 36) + np.maximum(0, 100 - np.arange(64.0))}),
    Case("from_bytes", (BYTES, _zeros(256, np.float16), _zeros(256, np.float16)),
         {1: decode(BYTES, DType.FLOAT8_E4M3FN), 2: decode(BYTES, DType.FLOAT8_E5M2)}, (1, 1, 1), (256, 1, 1)),
    Case("to_bytes", (WIDE, _zeros(512, np.uint8), _zeros(512, np.uint8)),
         {1: _bytes(DType.FLOAT8_E4M3FN, 464, 0x7F), 2: _bytes(DType.FLOAT8_E5M2, 61439, 0x7C)},
         (1, 1, 1), (256, 1, 1)),
    Case("coded", (WIDE, EXACT, *[_zeros(512, np.uint8)] * 2, _zeros(320), _zeros(256, np.uint8)),
         {2: np.tile(_e4m3 := encode(WIDE, DType.FLOAT8_E4M3FN), 2),
          3: np.r_[_e5m2 := encode(WIDE, DType.FLOAT8_E5M2), encode(EXACT, DType.FLOAT8_E5M2)],
          4: np.r_[(_small := decode(_e4m3, DType.FLOAT8_E4M3FN)) + decode(_e5m2, DType.FLOAT8_E5M2),
                   _small[::4] + _small[3::4]],
          5: _e4m3 ^ 0x80}, (1, 1, 1), (256, 1, 1)),
    Case("either", (X, X[:160] + 1, _zeros(256), 40), {2: np.r_[X[:160], X[:96] + 1]}),
    Case("in_pairs_where_aligned", (X, _zeros(195), 39), {1: _in_pairs_where_aligned(X[:195])}, (5, 1, 1), (32, 1, 1)),
    Case("strided_2d", (X, _zeros(20), 10, 20), {1: _strided(X[:200].reshape(10, 20), 4, 5)}, (1, 1, 1), (5, 4, 1),
         known=False),
    Case("recast", (X, _zeros(64)), {1: X[:64] + X[0]}),
    Case("left_early", (X, _zeros(512), _zeros(256), 300), dict(zip((1, 2), _left_early(X, 300), strict=True))),
    Case("counted", tuple(np.array(v, np.uint32) for v in ([0, 9, 4, 7], [2], [0], [9] * 3)),
         {0: [48 % 6, 9, (4 + 48) % 6, 7], 1: [(2 - 192) % 7], 2: [3], 3: [0, 1, 2]}, (3, 1, 1)),
    Case("added_in_pairs", (_zeros(6, np.float16), TENTHS, _zeros(2)),
         {0: [TENTHS[k::6].sum() for k in range(6)], 2: [64, TENTHS.sum()]}),
    Case("own_folds", (X[:96], _zeros(1), _zeros(1, np.int32), _zeros(2), 90),
         {1: [X[:96].max()], 2: [X[:96].argmax()], 3: _composed(X[:90])}, (1, 1, 1), (96, 1, 1)),
    Case("windows", (X, _zeros(64), 100, 7), {1: _windows(X, 100, 7)}),
    Case("joined", (X, _zeros(128), _zeros(64, np.int32), 50), dict(zip((1, 2), _joined(X, 50), strict=True))),
    Case("turned", (X, _zeros(64)), {1: _turned(X[:64])}, (1, 1, 1), (64, 1, 1)),
    Case("powers", (_zeros(64, np.int64),), {0: np.array([3**i % 2**64 for i in range(64)], np.uint64).view(np.int64)}),
]  # fmt: skip


def _unit():
    path = ROOT / "lowered_kernels.cu"
    return read_unit(parse(Source(path, path.read_text("utf-8"))))


def _lowered(unit, case):
    names = ("BLOCK_X", "BLOCK_Y", "BLOCK_Z") if case.block[1] > 1 else ("BLOCK_SIZE", "", "")
    block = tuple(
        Dimension(n if n == 1 or case.known else None, name if n > 1 else "")
        for n, name in zip(case.block, names, strict=True)
    )
    kernel = next(k for k in unit.kernels if k.head.name == case.name)
    return print_kernel(prepared_kernel(unit, kernel, LaunchInfo(block, (), None)))


def _constants(lowered, case):
    threads = case.block[0] * case.block[1] * case.block[2]
    values = {}
    for parameter in lowered.parameters:
        if parameter.kind is ParameterKind.BLOCK:
            values[parameter.name] = case.block["xyz".index(parameter.source)]
        elif parameter.kind is ParameterKind.THREADS:
            values[parameter.name] = 1 << (threads - 1).bit_length()
        elif parameter.kind is ParameterKind.SHARED:
            values[parameter.name] = case.shared_bytes // 4
    return values


def _scratch(lowered, case):
    """The buffers a kernel asks for, one element type in these cases."""
    programs = case.grid[0] * case.grid[1] * case.grid[2]
    return [
        (p.elements or case.shared_bytes // 4) * programs for p in lowered.parameters if p.kind is ParameterKind.SCRATCH
    ]


CHILD = """
import importlib.util, json, sys
import numpy as np, torch
folder = sys.argv[1]
spec = importlib.util.spec_from_file_location("lowered", f"{folder}/lowered.py")
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
failures = {}
for job in json.loads(open(f"{folder}/jobs.json").read()):
    held = np.load(f"{folder}/{job['name']}.npz")
    tensors = {key: torch.from_numpy(held[key].copy()) for key in held}
    arguments = [tensors[str(i)] if a is None else a for i, a in enumerate(job["arguments"])]
    arguments += [torch.empty(n, dtype=torch.int32) for n in job["scratch"]]
    try:
        getattr(module, job["name"])[tuple(job["grid"])](*arguments, **job["constants"])
    except Exception as error:
        failures[job["name"]] = f"{type(error).__name__}: {error} {error.__cause__}"
    np.savez(f"{folder}/{job['name']}_out.npz", **{key: t.numpy() for key, t in tensors.items()})
json.dump(failures, open(f"{folder}/failures.json", "w"))
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lowered")
    unit = _unit()
    jobs, texts, helpers = [], [], set()
    for case in CASES:
        lowered = _lowered(unit, case)
        texts.append(lowered.text)
        helpers |= set(lowered.helpers)
        arrays = {str(i): a for i, a in enumerate(case.arguments) if isinstance(a, np.ndarray)}
        np.savez(folder / f"{case.name}.npz", **{k: v.ravel() for k, v in arrays.items()})
        plain = [None if isinstance(a, np.ndarray) else a for a in case.arguments]
        job = {"name": case.name, "arguments": plain, "grid": case.grid, "scratch": _scratch(lowered, case)}
        jobs.append(job | {"constants": _constants(lowered, case)})
    head = "import triton\nimport triton.language as tl\n\n\n"
    (folder / "lowered.py").write_text(head + "\n\n\n".join([helper_source(sorted(helpers)), *texts]), "utf-8")
    (folder / "jobs.json").write_text(json.dumps(jobs), "utf-8")
    child = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CHILD, str(folder)],
        env={"TRITON_INTERPRET": "1", "PATH": "/usr/bin:/bin", "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert child.returncode == 0, child.stderr
    return folder


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_a_lowered_kernel_computes_what_its_cuda_says(results, case):
    failures = json.loads((results / "failures.json").read_text())
    assert case.name not in failures, failures[case.name]
    held = np.load(results / f"{case.name}_out.npz")
    for position, expected in case.expected.items():
        np.testing.assert_allclose(held[str(position)], np.asarray(expected).ravel(), rtol=2e-5, atol=2e-6)
