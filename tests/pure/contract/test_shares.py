"""Sizes that code divides by others are drafted as several times these."""

from pathlib import Path

import pytest

from porter.contract.infer.draft import draft
from porter.contract.model.toml import dumps, loads
from porter.contract.workload.workloads import choose_sizes
from porter.source.parse import parse
from porter.source_text import Source

KERNEL = """
__global__ void k(const float* x, float* y, int n, int channels, int groups) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {{ {body} }}
}}
"""
BY_KERNEL = (
    "void f(const float* x, float* y, int n, int c, int groups) { k<<<(n + 63) / 64, 64>>>(x, y, n, c, groups); }"
)
BY_HOST = "void f(const float* x, float* y, int n, int c, int groups) { k<<<n, 64>>>(x, y, n, c, c / groups); }"
DIVIDED = "int per = channels / groups; y[i] = x[i % per];"


def drafted(body, host=BY_KERNEL):
    (contract,) = draft(parse(Source(Path("k.cu"), KERNEL.format(body=body) + host)))
    return contract


def value(contract, name):
    return next(a.value for a in contract.arguments if a.name == name)


@pytest.mark.parametrize(
    ("body", "host", "share"),
    [
        (DIVIDED, BY_KERNEL, "c % groups == 0"),
        ("int s = i / (channels / groups); y[i] = s * x[0];", BY_KERNEL, "c % groups == 0"),
        ("int per = channels / (groups * groups); y[i] = x[i % per];", BY_KERNEL, "c % (groups * groups) == 0"),
    ],
)  # fmt: skip
def test_what_divides_a_size_is_one_whatever_its_name(body, host, share):
    contract = drafted(body, host)
    assert value(contract, "groups") == "groups"
    assert contract.shares == (share,)
    for workload in contract.workloads:
        assert 2 <= workload.sizes["groups"] < workload.sizes["c"]
    assert loads(dumps((contract,)), "k.toml") == (contract,)


def test_what_host_code_divides_by_is_a_condition_already():
    contract = drafted("y[i] = x[i] * groups;", BY_HOST)
    assert value(contract, "groups") == "groups"
    assert contract.conditions == ("c % groups == 0",)
    assert contract.shares == ()


def test_what_is_taken_from_a_size_is_less_than_it():
    (contract,) = draft(
        parse(
            Source(
                Path("k.cu"),
                "__global__ void k(const float* x, float* y, int n, int probes, int slots) {"
                " int free = slots - probes, i = threadIdx.x; if (i < n) y[i] = x[i * probes % free]; }"
                "void f(const float* x, float* y, int n, int p, int s) { k<<<1, 64>>>(x, y, n, p, s); }",
            )
        )
    )
    assert contract.shares == ("p < s",)
    assert all(workload.sizes["p"] < workload.sizes["s"] for workload in contract.workloads)


def test_a_difference_of_places_says_nothing_of_sizes():
    assert drafted("int before = i - n; y[i] = x[-before] * channels * groups;").shares == ()


@pytest.mark.parametrize("body", ["y[i] = x[i] * groups;", "y[i] = x[i / groups];", "y[i] = x[i] / groups;"])
def test_what_divides_indices_or_values_is_as_before(body):
    contract = drafted(body)
    assert value(contract, "groups") == "1"
    assert contract.shares == ()


def test_sizes_that_have_to_be_multiples_are_several_times_their_divisor():
    contract = drafted(DIVIDED)
    contract = contract.__class__(**{**contract.__dict__, "conditions": contract.shares})
    sizes = choose_sizes(contract, {}, {"n": 11, "c": 13, "groups": 5})
    assert sizes == {"n": 11, "c": 15, "groups": 5}


def test_what_a_function_of_the_source_divides_by_is_no_condition():
    host = "int parts(int c);\n" + BY_HOST.replace("c / groups", "c / parts(groups)")
    assert not any("parts" in share for share in drafted("y[i] = x[i] * channels;", host).shares)
