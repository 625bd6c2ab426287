"""Time Triton ports against the CUDA originals under nvcc on this machine's GPU; prints a table, writes JSON.

    python benchmarks/triton_speed/measure.py --build CASES
    python benchmarks/triton_speed/measure.py CASES RESULTS.json

CASES is what prepare.py laid out; building may be left to the second command. Same inputs, outputs compared; samples
of both interleaved, the L2 cache flushed before each, times by device events behind the flush, so that launching costs
neither side anything. Cases prepare side by side and are timed one after another, with nothing else on the device.
"""

from __future__ import annotations

import ctypes
import fcntl
import hashlib
import importlib.util
import json
import math
import re
import shutil
import signal
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import torch
import triton
from torch.utils.cpp_extension import include_paths, load

from porter.native.torch_headers import narrow_headers

SAMPLES, WARM_UP = 60, 5
AT_ONCE = 12
PIECE = 1 << 22  # elements
CASE_LIMIT_S = 300.0
PREPARING_S = 60  # the longest compiles take minutes, and others wait for the device meanwhile
FLUSH_BYTES = 512 << 20
# torch takes the operators of half away from extensions; projects that use them build with these.
HALF_OPERATORS = [
    f"-U__CUDA_NO_{name}__"
    for name in ("HALF_OPERATORS", "HALF_CONVERSIONS", "HALF2_OPERATORS", "BFLOAT16_CONVERSIONS")
]
# What an argument is passed as: it becomes what the entry takes, a template's parameter, too.
CARRIERS = """
struct PorterPointer { void* value; template <class T> operator T*() const { return static_cast<T*>(value); } };
template <class V> struct PorterNumber {
  V value;
  template <class T> operator T() const { return (T)value; }
};
"""
Run = Callable[[], object]


def main() -> None:
    rows = rows_of(Path(sys.argv[1]), __file__)
    ratios = [r["ratio"] for r in rows if "ratio" in r]
    summary = {
        **surroundings(Path(sys.argv[1])),
        "measured": len(ratios),
        "geometric_mean_of_port_over_cuda": round(statistics.geometric_mean(ratios), 4) if ratios else None,
        "rows": rows,
    }
    Path(sys.argv[2]).write_text(json.dumps(summary, indent=1) + "\n")
    print({k: v for k, v in summary.items() if k != "rows"})


def rows_of(cases: Path, script: str) -> list[dict]:
    """A row of each case: what `script --case FOLDER` prints, once the original is built."""
    built = build_all(cases)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(lambda folder: apart(folder, built[folder], script), built))


def build_all(cases: Path) -> dict[Path, str]:
    """Returns what went wrong, or nothing, by the folder of each case."""
    folders = sorted(p.parent for p in cases.glob("*/case.json"))
    with ThreadPoolExecutor(16) as pool:
        return dict(zip(folders, pool.map(build, folders), strict=True))


def surroundings(cases: Path) -> dict:
    """Returns what made the ports, and what runs them."""
    return {
        "commit_of_ports": (cases / "commit.txt").read_text(),
        "device": torch.cuda.get_device_name(),
        "driver": said("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader").split()[0],
        "torch": torch.__version__,
        "triton": triton.__version__,
        "nvcc": said("nvcc", "--version").split()[-1],
    }


def said(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def apart(folder: Path, trouble: str, script: str) -> dict:
    """The row of one case, from a process of its own: an original may exit, or break the device for those after it."""
    if not trouble:
        command = [sys.executable, script, "--case", str(folder)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=CASE_LIMIT_S, check=False)
            row = json.loads(done.stdout.splitlines()[-1])
        except (subprocess.TimeoutExpired, IndexError, json.JSONDecodeError) as error:
            trouble = f"no times: {error!r}"
    if trouble:
        row = {**described(folder), "trouble": trouble}
    print(json.dumps(row), flush=True)
    return row


def described(folder: Path) -> dict:
    case = json.loads((folder / "case.json").read_text())
    return {key: case[key] for key in ("repository", "path", "family", "entry", "sizes", "bytes")}


def build(folder: Path) -> str:
    """Compile the original; what went wrong, or nothing."""
    case = json.loads((folder / "case.json").read_text())
    text = (folder / "source.cu").read_text()
    if case["kind"] != "torch":
        (folder / "bound.cu").write_text(text + wrapper(case))
        return ran(compiler_call(folder, text))
    if case["has_module"] and not case["binding"]:
        return "the module does not bind the entry"
    text = bound(text, case)
    built = extension_folder(folder, text)
    trouble = built / "trouble.txt"
    try:
        built.mkdir(parents=True)
    except FileExistsError:  # another entry of the same source builds it, or an earlier call did
        return trouble.read_text() if trouble.exists() else ""
    (built / "bound.cu").write_text(text)
    shutil.copytree(folder / "headers", built / "headers")
    lay_narrow_headers(built)
    said_of_it = ran([sys.executable, __file__, "--extension", str(built)])
    if said_of_it:  # more of PyTorch is used than it names
        shutil.rmtree(built / "narrow")
        said_of_it = ran([sys.executable, __file__, "--extension", str(built)])
    if said_of_it:
        trouble.write_text(said_of_it)
    return said_of_it


def lay_narrow_headers(built: Path) -> None:
    """Writes headers of what the source names of PyTorch: nvcc reads them in a quarter of the time of the whole."""
    sources = [p for p in built.rglob("*") if p.is_file()]
    texts = [p.read_text(errors="replace") for p in sources]
    for name, text in narrow_headers(texts, [Path(p) for p in include_paths("cuda")]).items():
        path = built / "narrow" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def ran(command: list[str]) -> str:
    """Returns what a compiler has to complain of, or nothing."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = (done.stdout + done.stderr).splitlines()
    errors = [line for line in lines if "error:" in line] or [line for line in lines if "error" in line.lower()]
    return "" if done.returncode == 0 else f"the original does not build: {(errors or ['?'])[0][:300]}"


def compiler_call(folder: Path, text: str) -> list[str]:
    """nvcc for a library of the entry; PyTorch's headers only where they are included, since they take long."""
    with_torch = any(name in text for name in ("<torch/", "<ATen/", "<c10/"))
    paths = include_paths("cuda") if with_torch else []
    return [
        "nvcc", "-O3", "-std=c++17", "-arch=native", "--expt-relaxed-constexpr", "-shared", "-Xcompiler", "-fPIC",
        "-include", "cassert", *(part for path in paths for part in ("-isystem", path)), f"-I{folder / 'headers'}",
        str(folder / "bound.cu"), "-lcublas", "-lcublasLt", "-o", str(folder / "original.so"),
    ]  # fmt: skip


def bound(text: str, case: dict) -> str:
    """The source with a binding of the entry, asking tensors for their dtype as PyTorch's macros now want it."""
    text = re.sub(r"(AT_DISPATCH\w*\(\s*\w+)\.type\(\)", r"\1.scalar_type()", text)
    if case["binding"]:
        return text
    module = f'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {{ m.def("entry", &{case["entry"]}); }}'
    return f"{text}\n#include <torch/extension.h>\n{module}\n"


def wrapper(case: dict) -> str:
    """`extern "C" porter_entry` over the entry, its parameters by number."""
    carried = [carrier(argument) for argument in case["arguments"]]
    heads = [f"{'void*' if c == 'PorterPointer' else c[len('PorterNumber<') : -1]} a{i}" for i, c in enumerate(carried)]
    passed = [f"{c}{{a{i}}}" for i, c in enumerate(carried)]
    name = case["entry"]
    if case["template"]:
        name += f"<{', '.join(case['template'])}>"
    else:  # overloads are told apart by their types
        passed = [f"({t}){p}" for t, p in zip(case["parameters"], passed, strict=True)]
    if case["kind"] == "kernel":
        grid, block = (", ".join(map(str, case[key])) for key in ("grid", "block"))
        name += f"<<<dim3({grid}), dim3({block}), {case['shared_bytes']}>>>"
    return f'{CARRIERS}extern "C" void porter_entry({", ".join(heads)}) {{ {name}({", ".join(passed)}); }}\n'


def carrier(argument: dict) -> str:
    if "value" not in argument:
        return "PorterPointer"
    return f"PorterNumber<{'double' if isinstance(argument['value'], float) else 'long long'}>"


def extension_folder(folder: Path, text: str) -> Path:
    """Returns where the extension made of `text` is built; entries of one source share it."""
    return folder.parent / "extensions" / hashlib.sha256(text.encode()).hexdigest()[:16]


def load_extension(built: Path) -> object:
    source = str(built / "bound.cu")
    folders = [f"-I{built.resolve() / name}" for name in ("narrow", "headers")]
    flags = ["-O3", "--expt-relaxed-constexpr", *folders, *HALF_OPERATORS]
    return load(
        f"original_{built.name}",
        [source],
        build_directory=str(built),
        extra_cuda_cflags=flags,
        extra_ldflags=["-lcublas", "-lcublasLt"],
    )


def original(case: dict, folder: Path, arguments: list) -> Run:
    if case["kind"] == "torch":
        text = bound((folder / "source.cu").read_text(), case)
        function = getattr(load_extension(extension_folder(folder, text)), case["binding"] or "entry")
        return lambda: function(*arguments)
    function = ctypes.CDLL(str(folder / "original.so")).porter_entry
    function.restype = None
    passed = [
        ctypes.c_void_p(a.data_ptr())
        if isinstance(a, torch.Tensor)
        else (ctypes.c_double if isinstance(a, float) else ctypes.c_longlong)(a)
        for a in arguments
    ]
    return lambda: function(*passed)


def port(case: dict, folder: Path, arguments: list) -> Run:
    spec = importlib.util.spec_from_file_location(folder.name.replace("-", "_"), folder / "port.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function = getattr(module, case["function"])
    if case["kind"] != "kernel":
        return lambda: function(*arguments)
    launch = {"grid": tuple(case["grid"]), "block": tuple(case["block"]), "shared_bytes": case["shared_bytes"]}
    return lambda: function(*arguments, **launch)


def tensor(argument: dict) -> object:
    if "value" in argument:
        return argument["value"]
    shape, dtype = argument["shape"], getattr(torch, argument["dtype"])
    if argument["elements"]:
        elements = torch.tensor(argument["elements"], dtype=dtype).reshape(shape)
        return elements.pin_memory() if argument["pinned"] else elements.cuda()
    match argument["values"]:
        case "zeros":
            return torch.zeros(shape, dtype=dtype, device="cuda")
        case "ones":
            return torch.ones(shape, dtype=dtype, device="cuda")
        case "index" | "sorted":
            return torch.randint(0, max(1, argument["bound"]), shape, device="cuda").sort().values.to(dtype)
        case "boolean":
            return torch.randint(0, 2, shape, device="cuda").to(dtype)
        case "probability":
            return torch.rand(shape, device="cuda").clamp(1e-3, 1 - 1e-3).to(dtype)
        case "positive":
            return (torch.randn(shape, device="cuda").abs() + 0.1).to(dtype)
        case _:
            scale = 1.0 if dtype.is_floating_point else 8.0
            return (torch.randn(shape, device="cuda") * scale).to(dtype)


def copied(argument: object) -> object:
    if not isinstance(argument, torch.Tensor):
        return argument
    return argument.clone().pin_memory() if argument.device.type == "cpu" else argument.clone()


@contextmanager
def on_device(folder: Path, alone: bool) -> Iterator[None]:
    """While other cases may use the device as well, or with none of them on it. First come, first served."""
    with (folder.parent / "device.lock").open("w") as lock:
        with (folder.parent / "turn.lock").open("w") as turn:  # without it, sharers would keep out who wants it alone
            fcntl.flock(turn, fcntl.LOCK_EX)
            fcntl.flock(lock, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        yield


def measured(folder: Path) -> dict:
    case = json.loads((folder / "case.json").read_text())
    row = described(folder)
    try:
        with on_device(folder, alone=False):
            torch.manual_seed(0)
            mine = [tensor(a) for a in case["arguments"]]
            theirs = [copied(a) for a in mine]
            cuda, ours = original(case, folder, theirs), port(case, folder, mine)
            signal.alarm(PREPARING_S)  # ends the process: Triton's compiler would not hear of anything less
            error = largest_error(cuda(), theirs, ours(), mine)
            torch.cuda.empty_cache()  # what comparing took: twelve cases at once need it back
            signal.alarm(0)
        with on_device(folder, alone=True):
            times = interleaved((cuda, ours))
    except Exception as error:  # noqa: BLE001 - one broken case must not cost the others their times
        return {**row, "trouble": f"{type(error).__name__}: {str(error)[:300]}"}
    cuda_us, port_us = (statistics.median(t) for t in times)
    spread = [round((t[3 * len(t) // 4] - t[len(t) // 4]) / statistics.median(t), 3) for t in map(sorted, times)]
    figures = {"cuda_us": round(cuda_us, 2), "port_us": round(port_us, 2), "ratio": round(port_us / cuda_us, 3)}
    return {**row, **figures, "interquartile_share": spread, "largest_error": error}


def largest_error(cuda: object, theirs: list, ours: object, mine: list) -> float:
    """The largest difference of any output, as a share of that output's largest value."""
    torch.cuda.synchronize()
    pairs = list(zip(flat(cuda) + flat(theirs), flat(ours) + flat(mine), strict=True))
    shares = [share_of_largest(a, b) for a, b in pairs]
    return max((s for s in shares if not math.isnan(s)), default=0.0)


def share_of_largest(a: torch.Tensor, b: torch.Tensor) -> float:
    """By pieces, so that what is widened is never more than a few of them."""
    pieces = zip(a.reshape(-1).split(PIECE), b.reshape(-1).split(PIECE), strict=True)
    found = [((x.double() - y.double()).abs().max(), x.double().abs().max()) for x, y in pieces]
    return float(max(d for d, _ in found) / max(m for _, m in found).clamp_min(1e-30))


def flat(value: object) -> list:
    if isinstance(value, torch.Tensor):
        return [value] if value.numel() else []
    return [t for v in value for t in flat(v)] if isinstance(value, (list, tuple)) else []


def interleaved(runs: Sequence[Run]) -> list[list[float]]:
    """Microseconds of each sample of all."""
    flush = torch.empty(FLUSH_BYTES, dtype=torch.uint8, device="cuda")
    for _ in range(WARM_UP):
        for function in runs:
            function()
    torch.cuda.synchronize()
    samples: list[list] = [[] for _ in runs]
    for _ in range(SAMPLES):
        for function, times in zip(runs, samples, strict=True):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            flush.zero_()
            flush.zero_()
            begin.record()
            function()
            end.record()
            times.append((begin, end))
        torch.cuda.synchronize()
    return [[b.elapsed_time(e) * 1e3 for b, e in times] for times in samples]


if __name__ == "__main__":
    if sys.argv[1] == "--build":
        print(*(f"{folder.name}: {trouble}" for folder, trouble in build_all(Path(sys.argv[2])).items() if trouble))
    elif sys.argv[1] == "--extension":
        load_extension(Path(sys.argv[2]))
    elif sys.argv[1] == "--case":
        print(f"\n{json.dumps(measured(Path(sys.argv[2])))}")
    else:
        main()
