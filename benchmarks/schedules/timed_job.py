"""One operator at one size in one type: its contenders compiled, compared and timed. For `time_ports.py`."""

from __future__ import annotations

import gc
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_TOLERANCE = {"float32": 1e-3, "float16": 2e-2, "bfloat16": 2e-2}
_SAMPLE = 1 << 20
_SMALL = 1 << 20


@dataclass(frozen=True)
class Job:
    """An operator of `folder` at a part of its bench sizes, its floats of one type."""

    folder: Path
    part: int
    dtype: str
    sizes: Mapping[str, int]
    arguments: Sequence[Mapping[str, Any]]
    ports_alone: bool = False

    @property
    def operator(self) -> str:
        """Returns what it is called."""
        return self.folder.name.replace("+", "/")


def serve(pipe: Any, number: int) -> None:
    """Does the jobs that come through a pipe, one after the other."""
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
    import torch  # noqa: PLC0415 - here, in the process that needs it
    from device_turns import Turns  # noqa: PLC0415

    torch.cuda.init()
    gc.freeze()  # graphs are captured behind a collection
    turns = Turns(Path(tempfile.gettempdir()) / "time_ports.lock")
    turns.take_for_tuning()
    while True:
        job = pipe.recv()
        begin = time.monotonic()
        try:
            row = timed(job, turns)
        except Exception as error:  # noqa: BLE001 - a job that fails is a result
            row = {"trouble": f"{type(error).__name__}: {error}"[:300]}
        row |= {"process": number, "seconds": round(time.monotonic() - begin, 1)}
        row |= {"device": torch.cuda.get_device_name(), "torch": torch.__version__}
        torch._dynamo.reset()
        torch.cuda.empty_cache()
        pipe.send(row)


def timed(job: Job, turns: Any) -> dict[str, Any]:
    """Returns samples of each contender, and what is said of it."""
    import torch  # noqa: PLC0415
    from device_turns import Chain, samples, sets_of  # noqa: PLC0415

    torch.manual_seed(job.part)
    with turns.alone():
        first = _inputs(job)
        sampled = _Sampled(torch, _TOLERANCE[job.dtype])
        sampled.expect(_reference(job)(*_copied([*map(_single, first)])))
        torch.cuda.empty_cache()  # others need what it took on the way
    row: dict[str, Any] = {"outside": {}, "compile_s": {}, "not_timed": {}, "plain_calls": {}}
    calls: dict[str, Callable[..., Any]] = {}
    for name, make in _contenders(job):
        begin = time.monotonic()
        try:
            call = make()
            answer = call(*_copied(first))
            with turns.alone():
                row["outside"][name] = sampled.outside(answer)
            calls[name] = call
        except Exception as error:  # noqa: BLE001 - a contender that fails is a result
            row["not_timed"][name] = f"{type(error).__name__}: {error}"[:200]
        answer = None
        row["compile_s"][name] = round(time.monotonic() - begin, 2)
    moved = sum(one.numel() * one.element_size() for one in first if isinstance(one, torch.Tensor))
    with turns.alone():
        torch.cuda.empty_cache()
        sets = [first, *([*map(_twin, first)] for _ in range(sets_of(moved) - 1))]
        pool = torch.cuda.graph_pool_handle()
        chains = {name: Chain(call, sets, pool) for name, call in calls.items()}
        row["samples_us"] = samples(chains, f"{job.operator} {job.part} {job.dtype}")
        row["plain_calls"] = {name: chain.because for name, chain in chains.items() if chain.because}
        row["sets"] = len(sets)
        chains.clear()
    return row


def _contenders(job: Job) -> Iterator[tuple[str, Callable[[], Callable[..., Any]]]]:
    """Yields what is timed, by name, each as what makes it."""
    import torch  # noqa: PLC0415
    from calls import loaded  # noqa: PLC0415

    schedules = sorted(
        path.stem.removesuffix(f"_{job.dtype}") for path in job.folder.glob(f"schedule_*_{job.dtype}.py")
    )
    for name in ("formula", "kernels", *schedules):
        path = job.folder / f"{name}_{job.dtype}.py"
        if path.exists():
            yield name, lambda path=path: loaded(path).forward
    if (maca := job.folder / "maca").exists() and job.dtype == "float32":
        yield "maca", lambda: _through_nvcc(maca).forward
    if job.ports_alone:
        return
    reference = _reference(job)
    yield "pytorch", lambda: reference
    yield "torch_compile", lambda: torch.compile(reference, dynamic=False)
    yield "max_autotune", lambda: torch.compile(reference, dynamic=False, mode="max-autotune-no-cudagraphs")


def _through_nvcc(folder: Path) -> Any:
    """Returns the port in MACA C++ as nvcc compiles it, which takes a minute; PyTorch keeps it for other sizes."""
    from torch.utils.cpp_extension import load  # noqa: PLC0415 - a second of import

    include = (folder / "include").resolve()
    flags = ["-O3", "-w", "--expt-relaxed-constexpr", "--expt-extended-lambda", "-include", "cassert"]
    flags += [f"-I{include}", "-include", str(include / "porter_proxy.h")]
    name = f"maca_{folder.parent.name.replace('+', '_')}"
    return load(name, [str((folder / "kernel.cu").resolve())], extra_cuda_cflags=flags)


def _reference(job: Job) -> Callable[..., Any]:
    from calls import loaded  # noqa: PLC0415

    reference: Callable[..., Any] = loaded(job.folder / "reference.py").reference
    return reference


def _inputs(job: Job) -> list[Any]:
    from calls import made  # noqa: PLC0415

    return [made({**one, "dtype": job.dtype} if one.get("dtype") == "float32" else one) for one in job.arguments]


def _single(one: Any) -> Any:
    """Returns a tensor's elements in 32 bits: PyTorch rounds what lies between to 16, a distance of 128 to a whole."""
    return one.float() if hasattr(one, "is_floating_point") and one.is_floating_point() else one


def _twin(one: Any) -> Any:
    return one.clone() if hasattr(one, "clone") else one


def _copied(call: Sequence[Any]) -> list[Any]:
    """Returns arguments that may be written: of small tensors, which a batch norm updates, copies."""
    return [_twin(one) if hasattr(one, "numel") and one.numel() < _SMALL else one for one in call]


class _Sampled:
    """Elements of PyTorch's results in 32 bits, drawn once, that all are held to."""

    def __init__(self, torch: Any, tolerance: float) -> None:
        self._torch = torch
        self._tolerance = tolerance
        self._expected: list[tuple[Any, Any]] = []

    def expect(self, answer: Any) -> None:
        """Keeps elements of the right answer."""
        for one in answer if isinstance(answer, tuple) else (answer,):
            flat = one.reshape(-1)
            count = flat.numel()
            where = self._torch.randint(0, count, (min(count, _SAMPLE),), device=flat.device)
            self._expected.append((where, flat[where].double()))

    def outside(self, answer: Any) -> float:
        """Returns the share of these elements that differ by more than the tolerance allows."""
        answers = answer if isinstance(answer, tuple) else (answer,)
        shares = []
        for one, (where, wanted) in zip(answers, self._expected, strict=True):
            own = one.reshape(-1)[where].double()
            finite = wanted[wanted.isfinite()].abs()
            atol = self._tolerance * float(finite.max() if finite.numel() else 0.0)
            close = self._torch.isclose(own, wanted, rtol=self._tolerance, atol=atol, equal_nan=True)
            shares.append(1 - float(close.double().mean()))
        return max(shares)
