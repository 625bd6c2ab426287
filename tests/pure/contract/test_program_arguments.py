"""What a program is run with that wants numbers."""

from pathlib import Path

import pytest

from porter.contract.infer.draft import draft
from porter.source.parse import parse
from porter.source_text import Source

PROGRAM = """
__global__ void k(float* y, int n) {{ if (threadIdx.x < n) y[threadIdx.x] = 1.f; }}
int main(int argc, char** argv) {{
  {}
  float* y;
  cudaMalloc(&y, 4096);
  k<<<1, 32>>>(y, n);
}}
"""


def words(text):
    (contract,) = draft(parse(Source(Path("op.cu"), PROGRAM.format(text))))
    return [(a.name, a.type) for a in contract.arguments]


@pytest.mark.parametrize(
    "check",
    [
        "if (argc != 2) { printf(USAGE, argv[0]); return 1; }",
        "if (argc < 2) exit(1);",
        "if (argc <= 1) { usage(); exit(EXIT_FAILURE); }",
        "if (argc == 1) return 1;",
        "if (2 != argc) { return 1; }",
        "if (2 > argc) return 1;",
    ],
)
def test_a_program_that_ends_without_a_number_gets_one(check):
    assert words(f"{check} int n = atoi(argv[1]);") == [("argv[1]", "int")]


def test_real_numbers_are_told_from_whole_ones():
    text = "if (argc != 3) return 1; int n = std::stoi(argv[1]); float a = strtof(argv[2], nullptr);"
    assert words(text) == [("argv[1]", "int"), ("argv[2]", "float")]


@pytest.mark.parametrize(
    "text",
    [
        "int n = 4; if (argc > 1) n = atoi(argv[1]);",
        "int n = argc > 1 ? atoi(argv[1]) : 4;",
        "if (argc != 3) return 1; int n = atoi(argv[1]); FILE* file = fopen(argv[2], MODE);",
        "if (argc < 2) { printf(HINT); } int n = 4;",
        "int n = 4;",
    ],
)
def test_a_program_that_runs_without_words_or_wants_others_gets_none(text):
    assert words(text) == []
