"""A model ports what porter refuses, and makes it faster: what it writes counts only if it is verified."""

import json

import pytest

from porter.cli.main import main
from porter.simt.compiler import missing_compiler
from tests.pure.agent.world import KEY, reply

SOURCE = """\
__global__ void clip(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    if (v > 1.0f) goto high;
    y[i] = v * 2.0f;
    return;
high:
    y[i] = 1.0f;
}
void launch(const float* x, float* y, int n) { clip<<<(n + 127) / 128, 128>>>(x, y, n); }
"""
PORT = """\
import triton
import triton.language as tl


@triton.jit
def clip(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(y + i, tl.where(v > 1.0, 1.0, v * 2.0), mask=i < n)


def launch(x, y, n):
    clip[(triton.cdiv(n, 1024),)](x, y, n, BLOCK=1024)
"""


MODULE = """\
import torch


def reference(x):
    return torch.copysign(x * x, x)


def get_inputs():
    return [torch.randn(64, 512)]
"""
SIGNED = """\
import torch
import triton
import triton.language as tl


@triton.jit
def signed(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(y + i, tl.where(v.to(tl.int32, bitcast=True) < 0, -v * v, v * v), mask=i < n)


def forward(x):
    y = torch.empty_like(x)
    if x.numel():
        signed[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
    return y
"""


@pytest.fixture
def ported(serve, tmp_path, monkeypatch, build_cache, capsys):
    """`ported(*replies)`: the exit code, the document, what the model was asked, and the folder of the port."""
    if missing_compiler():
        pytest.skip(missing_compiler())
    monkeypatch.setenv("PORTER_API_KEY", KEY.value)
    monkeypatch.setenv("PORTER_CACHE_DIR", str(build_cache))
    out = tmp_path / "out"

    def port(*replies, name="op.cu", text=SOURCE):
        server, source = serve(*map(reply, replies)), tmp_path / name
        source.write_text(text)
        asking = ("--model", "tiny", "--base-url", server.url, "--model-set", "attempts=2")
        code = main(
            ["migrate", str(source), "--target", "triton", "--follow", "kernels", "-o", str(out), *asking, "--json"]
        )
        return code, json.loads(capsys.readouterr().out), server.seen, out

    return port


def test_a_model_ports_what_porter_refuses_and_the_verdict_says_so(ported):
    wrong = PORT.replace("v * 2.0", "v * 2.5")
    code, document, asked, out = ported(f"```python\n{wrong}```", f"```python\n{PORT}```")
    assert (code, document["outcome"], document["written_by"]) == (0, "verified", "tiny")
    assert "written by the language model tiny" in document["because"]
    assert (out / "op_triton.py").read_text() == PORT
    first, second = (sent["messages"][1]["content"] for sent in asked)
    assert "Write the whole port" in first
    assert "'goto' is not understood" in first
    assert "# The current program: wrong" in second
    assert "v * 2.5" in second
    (said,) = [one["message"] for one in document["findings"] if one["code"] == "PORT5005"]
    assert said.startswith("tiny wrote the port, in attempt 2; porter's own was refused: PORT1800")
    assert not [path for path in out.rglob("*") if path.is_file() and KEY.value in path.read_text()]


def test_what_a_model_writes_does_not_count_before_it_is_verified(ported):
    evil = f"import os\n{PORT}    os.remove('/tmp/nothing')\n"
    code, document, _, out = ported(f"```python\n{evil}```", "I cannot.")
    assert (code, document["outcome"], document["written_by"]) == (1, "refused", "porter")
    assert not (out / "op_triton.py").exists()
    (said,) = [one["message"] for one in document["findings"] if one["code"] == "PORT5005"]
    assert said.startswith("no right port came of 2 attempts by a language model; the last: not used: ")


def test_a_model_ports_a_module_that_is_not_lifted(ported):
    wrong = SIGNED.replace("-v * v,", "v * v,")
    code, document, asked, out = ported(
        f"```python\n{wrong}```", f"```python\n{SIGNED}```", name="signed.py", text=MODULE
    )
    assert (code, document["outcome"], document["written_by"]) == (0, "verified", "tiny")
    assert (out / "signed_triton.py").read_text() == SIGNED
    first, second = (sent["messages"][1]["content"] for sent in asked)
    assert "# The PyTorch reference" in first
    assert "torch.copysign(x * x, x)" in first
    assert "Write the whole port" in first
    assert "# The current program: wrong" in second


def test_a_model_is_asked_in_a_search_from_a_candidate_of_a_module(serve, tmp_path, monkeypatch, build_cache, capsys):
    if missing_compiler():
        pytest.skip(missing_compiler())
    monkeypatch.setenv("PORTER_API_KEY", KEY.value)
    monkeypatch.setenv("PORTER_CACHE_DIR", str(build_cache))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "signed.py").write_text(MODULE)
    (tmp_path / "own.py").write_text(SIGNED)
    better = SIGNED.replace("BLOCK=1024)", "BLOCK=1024, num_warps=1)")
    server = serve(reply(f"IDEA: a warp a row\n```python\n{better}```"))
    words = ("--evaluations", "4", "--model", "tiny", "--base-url", server.url, "--model-set", "at_once=1", "--json")
    assert main(["search", "own.py", "--against", "signed.py", "--target", "triton", *words]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["outcome"] == "verified"
    asked = [sent["messages"] for sent in server.seen]
    assert asked
    assert all("You are given the PyTorch reference" in system["content"] for system, *_ in asked)
    assert all("torch.copysign(x * x, x)" in user["content"] for _, user, *_ in asked)
    assert all("x` float32 [64, 512]" in user["content"] for _, user, *_ in asked), "the sizes of get_inputs"
    told = [
        json.loads(line) for line in (tmp_path / document["search"]["run"] / "journal.jsonl").read_text().splitlines()
    ]
    proposed = [
        c for line in told if line["event"] == "proposed" and line["proposer"] == "llm" for c in line["candidates"]
    ]
    assert [one["origin"]["note"] for one in proposed] == ["a warp a row"]
    (outcome,) = [
        line["scored"]["outcome"]
        for line in told
        if line["event"] == "told" and line["scored"]["digest"] == proposed[0]["digest"]
    ]
    assert outcome == "verified"
