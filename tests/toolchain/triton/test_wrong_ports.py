"""What is subtly wrong is not verified: ports of one launcher by hand, each held to its CUDA original."""

import ast
from pathlib import Path

import pytest

from porter.evaluate.model.migration import MigrateOptions
from porter.evaluate.verify import verify
from porter.simt.compiler import missing_compiler

PORTS = Path(__file__).with_name("wrong_ports.py")
KERNEL = """
__global__ void smooth(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i] + (i > 0 ? x[i - 1] : 0.0f);
}
"""
LAUNCHER = """
void {}(const float* x, float* y, int n) {{
    if (n > 5000) throw 1;
    smooth<<<(n + 63) / 64, 64>>>(x, y, n);
}}
"""


@pytest.fixture(scope="module")
def outcomes(build_cache, tmp_path_factory):
    """The outcome of every launcher of the file; the original has as many, which are all the same."""
    if missing_compiler():
        pytest.skip(missing_compiler())
    folder = tmp_path_factory.mktemp("wrong")
    functions = [node for node in ast.parse(PORTS.read_text()).body if isinstance(node, ast.FunctionDef)]
    launchers = [LAUNCHER.format(node.name) for node in functions if not node.decorator_list]
    (folder / "op.cu").write_text(KERNEL + "".join(launchers))
    (folder / "op_triton.py").write_text(PORTS.read_text())
    options = MigrateOptions("triton", build_cache)
    migration = verify(folder / "op_triton.py", folder / "op.cu", options, lambda _: None)
    return {entry.contract.name: entry.outcome for entry in migration.entries}


@pytest.mark.parametrize(
    ("name", "label", "because"),
    [
        ("right", "verified", ""),
        ("right_in_blocks_of_another_size", "verified", ""),
        ("right_in_turns", "verified", ""),
        ("a_loop_without_an_end", "crashed", "compiled, the loop would not end"),
        ("dead_lanes_that_count", "wrong", "got nan"),
        ("an_element_before_the_first", "crashed", "load at element -1 of 'x'"),
        ("lanes_in_an_order", "crashed", "a lane reads what another wrote in 'y'"),
        ("programs_in_an_order", "crashed", "a program reads what another wrote in 'y'"),
        ("fresh_memory_taken_for_zero", "wrong", "got nan"),
        ("the_output_taken_for_zero", "wrong", "got nan"),
        ("only_even_sizes", "wrong", "got nan"),
        ("only_one_block", "wrong", "y at [1024]"),
        ("only_whole_blocks", "wrong", "got nan"),
        ("an_input_changed", "wrong", "x at [0] got 0"),
        ("an_answer_kept", "refused", "PORT6004"),
        ("half_the_precision", "wrong", "allowed error"),
        ("chance", "refused", "PORT6001: op_triton.py"),
        ("an_empty_launch", "refused", "what the library's mul computed"),
        ("a_tensor_of_the_host", "crashed", "'x' cannot be accessed from Triton"),
        ("no_launch", "refused", "what the library's mul computed"),
        ("three_warps", "not_built", "num_warps must be a power of 2"),
        ("python_in_a_kernel", "not_built", "<built-in function sum>"),
        ("the_end_of_the_process", "crashed", "SystemExit: 0"),
    ],
)
def test_a_port_gets_the_verdict_it_deserves(outcomes, name, label, because):
    assert outcomes[name].label == label
    assert because in getattr(outcomes[name], "because", "")
