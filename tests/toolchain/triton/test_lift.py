"""A kernel in Triton's own words, or of several turns at a time, computes what the literal one does, and compiles."""

import importlib.util
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from porter.source.parse import parse
from porter.source.text import Source
from porter.syntax.read import read_unit
from porter_triton.device.source import helper_source
from porter_triton.lift import lift
from porter_triton.lower import Dimension, LaunchInfo, ParameterKind, lower_kernel
from tests.pure.triton.lift_sources import LIFTED, source
from tests.pure.triton.turns_sources import AHEAD, TOGETHER
from tests.pure.triton.turns_sources import source as loop

_INFO = LaunchInfo((Dimension(128, "BLOCK_SIZE"), Dimension(1), Dimension(1)), shared_bytes=1024)
_KINDS = {ParameterKind.BLOCK, ParameterKind.THREADS}


_ONE_BY_ONE = replace(_INFO, together=False)
_NAMES = [case[0] for case in (*LIFTED, *TOGETHER, *AHEAD)]


def both():
    """For each case the literal kernel and the one in Triton's own words, as they are lowered."""
    for _, _, head, body in LIFTED:
        unit = read_unit(parse(Source(Path("k.cu"), source(head, body))))
        (kernel,) = unit.kernels
        lifted = lift(unit, kernel, (128, 1, 1))
        yield lower_kernel(unit, kernel, _ONE_BY_ONE), lower_kernel(lifted.unit, lifted.kernel, _ONE_BY_ONE)
    for _, body in (*TOGETHER, *AHEAD):
        unit = read_unit(parse(Source(Path("k.cu"), loop(body))))
        (kernel,) = unit.kernels
        yield lower_kernel(unit, kernel, _ONE_BY_ONE), lower_kernel(unit, kernel, _INFO)


@pytest.fixture(scope="module")
def module():
    """`literal_N` and `lifted_N` for each case, as the text of a Python module."""
    kernels, helpers, table = [], set(), []
    for number, pair in enumerate(both()):
        for name, lowered in zip(("literal", "lifted"), pair, strict=True):
            constants = {p.name: 128 for p in lowered.parameters if p.kind in _KINDS}
            kernels.append(lowered.text.replace("def k(", f"def {name}_{number}("))
            helpers |= set(lowered.helpers)
            table.append(f'    "{name}_{number}": ({name}_{number}, {constants}),')
    parts = ["import triton\nimport triton.language as tl", helper_source(helpers), *kernels]
    return "\n\n\n".join([*parts, "KERNELS = {\n" + "\n".join(table) + "\n}"]) + "\n"


@pytest.fixture(scope="module")
def results(module, tmp_path_factory):
    folder = tmp_path_factory.mktemp("lift")
    (folder / "lifted_module.py").write_text(module)
    script = Path(__file__).parent / "lift_kernels.py"
    done = subprocess.run([sys.executable, script, folder], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    return np.load(folder / "results.npz")


@pytest.mark.parametrize("number", range(len(_NAMES)), ids=_NAMES)
def test_literal_and_lifted_kernels_agree(results, number):
    literal, lifted = results[f"literal_{number}"], results[f"lifted_{number}"]
    assert np.abs(literal).max() > 0.1
    np.testing.assert_allclose(lifted, literal, rtol=2e-5, atol=2e-5)


def test_lifted_kernels_compile_for_both_families_of_devices(module, tmp_path):
    path = tmp_path / "lifted_module.py"
    path.write_text(module)
    spec = importlib.util.spec_from_file_location("lifted_module", path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    types = {"x": "*fp32", "out": "*fp32", "n": "i32"}
    for name, (kernel, constants) in loaded.KERNELS.items():
        if name.startswith("lifted"):
            signature = {a: "constexpr" if a in constants else types[a] for a in kernel.arg_names}
            for target in (GPUTarget("cuda", 90, 32), GPUTarget("hip", "gfx942", 64)):
                triton.compile(ASTSource(kernel, signature, constants), target=target)


def test_a_lifted_tree_is_one_word(module):
    text = module[module.index("def lifted_0(") :]
    kernel = text[: text.index("\n\n\n")]
    assert "tl.sum(" in kernel
    assert "while" not in kernel
    assert "gather" not in kernel
