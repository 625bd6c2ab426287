"""Branches that constants decide go, unless that changes what a name means or what is done."""

from pathlib import Path

import pytest

from porter.source.parse import parse
from porter.source.text import Source
from porter.syntax.nodes import If
from porter.syntax.read import read_unit
from porter.syntax.walk import walk
from porter_triton.lift.decided import without_branches
from porter_triton.lift.facts import Facts


def branches(body):
    text = f"constexpr int kMany = 128;\n__global__ void k(int* out, int n) {{ {body} }}"
    unit = read_unit(parse(Source(Path("k.cu"), text)))
    function = without_branches(Facts(unit, unit.kernels[0], (128, 1, 1)))
    return sum(isinstance(node, If) for node in walk(function.body))


@pytest.mark.parametrize(
    "body",
    [
        "if (kMany > 32) out[0] = 1; else out[0] = 2;",
        "if constexpr (kMany > 32 && blockDim.x <= 128) { int v = n; out[0] = v; }",
        "if (kMany < 32) { if (kMany > 64) out[0] = 1; }",
        "if (n > 3 && kMany < 32) out[0] = 1;",
    ],
)
def test_what_constants_decide_goes(body):
    assert branches(body) == 0


@pytest.mark.parametrize(
    "body",
    [
        "if (n > 32) out[0] = 1;",
        "if (atomicAdd(out, 1) > 3 && kMany < 32) out[0] = 1;",
        "if (n++ > 3 && kMany < 32) out[0] = n;",
        "if (kMany > 32) { int n = 5; out[0] = n; } out[1] = n;",
        "if (kMany > 32) { int kMany = 5; out[0] = kMany; } out[1] = kMany;",
    ],
)
def test_what_would_change_a_name_or_an_effect_stays(body):
    assert branches(body) == 1
