"""The hook for pre-commit calls porter as it is."""

from pathlib import Path

import pytest
import yaml

from porter.cli.main import main

HOOKS = Path(__file__).parents[3] / ".pre-commit-hooks.yaml"
FINE = "__global__ void k(float* x) { x[threadIdx.x] *= 2.0f; }\n"
MMA = "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
BAD = f'__global__ void k(double* x) {{ asm volatile("{MMA}" : "+d"(x[0]), "+d"(x[1]) : "d"(x[2]), "d"(x[3])); }}\n'


@pytest.mark.parametrize(("text", "code"), [(FINE, 0), (BAD, 1)])
def test_the_hook_fails_where_a_source_has_something_that_a_target_has_not(tmp_path, capsys, text, code):
    (hook,) = yaml.safe_load(HOOKS.read_text())
    (tmp_path / "a.cu").write_text(text)
    program, *words = hook["entry"].split()
    assert program == "porter"
    assert main([*words, *hook["args"], str(tmp_path / "a.cu")]) == code
    assert ("error" in capsys.readouterr().out) == bool(code)
