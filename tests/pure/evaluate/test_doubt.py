"""What is said of an original that leaves bounds depends on who said how large the tensor is."""

from dataclasses import replace
from pathlib import Path

import pytest

from porter.contract.infer.draft import draft
from porter.contract.model.contract import Values
from porter.contract.model.questions import extent_question
from porter.diagnostics.catalogue import core_catalogue
from porter.evaluate.reference.doubt import misled, misvalued, still_open, unsound
from porter.oracle.reference import Reference
from porter.source.parse import parse
from porter.source_text import Source

TEXT = """
__global__ void k(int n, float* x) { if (threadIdx.x < n) x[threadIdx.x] = 1; }
void f(int n, float* x) { k<<<1, 256>>>(n, x); }
"""


@pytest.fixture
def drafted():
    (contract,) = draft(parse(Source(Path("k.cu"), TEXT)))
    return contract


def left_bounds(contract, message):
    finding = core_catalogue()["PORT4004"].at(None, message)
    return Reference(contract, (), (finding,), deterministic=True, complete=True, because=message, seconds=0.0)


def test_an_extent_found_by_running_may_be_too_small(drafted):
    because = misled(
        left_bounds(drafted, "thread (7,0,0) reads 4 bytes of `argument 1` (28 bytes) at byte 28"), drafted
    )
    assert because.startswith("the contract is open: runs at other sizes showed 'x' to span n elements")
    assert "or the original leaves it: thread (7,0,0) reads" in because


@pytest.mark.parametrize(
    "message",
    [
        "thread (0,0,0) writes 4 bytes of `argument 1` (28 bytes) at byte -4",
        "thread (0,0,0) writes 4 bytes of `cudaMalloc` (28 bytes) at byte 28",
        "index 32 of an array of type 'float [32]'",
    ],
)
def test_no_extent_excuses_what_leaves_a_stated_size_or_goes_before_the_start(drafted, message):
    assert misled(left_bounds(drafted, message), drafted) == ""


def test_an_extent_the_contract_states_is_no_excuse(drafted):
    stated = replace(drafted, questions=tuple(q for q in drafted.questions if q != extent_question("x")))
    assert misled(left_bounds(stated, "reads 4 bytes of `argument 1` (28 bytes) at byte 28"), stated) == ""


@pytest.mark.parametrize(("check", "open_"), [("", True), ("TORCH_CHECK(x.size(0) == y.size(0));", False)])
def test_a_tensor_whose_size_is_related_to_no_other_may_be_too_small(check, open_):
    text = f"""
    __global__ void k(int n, float* x, float* y) {{ if (threadIdx.x < n) x[threadIdx.x] = y[threadIdx.x]; }}
    void f(torch::Tensor x, torch::Tensor y) {{
        {check}
        const int n = y.numel(), rows = x.size(0);
        k<<<1, 256>>>(n, x.data_ptr<float>(), y.data_ptr<float>());
    }}
    PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {{ m.def("f", &f); }}
    """
    (contract,) = draft(parse(Source(Path("k.cu"), text)))
    because = misled(left_bounds(contract, "writes 4 bytes of `argument 0` (28 bytes) at byte 28"), contract)
    assert because.startswith("the contract is open: the source does not say how 'x' is sized") is open_


def test_no_answer_of_the_users_helps_where_a_function_is_missing(drafted):
    assert still_open(drafted, "check failed at line 3: x").startswith("the contract is open")
    missing = "not defined at line 3: `f()` is defined in no file that porter was given"
    assert still_open(drafted, missing) == f"the original does not run here: {missing}"


@pytest.mark.parametrize(
    ("at_fault", "because"),
    [(True, "the original's own result is unreliable: why"), (False, "the original does not run here: why")],
)
def test_an_original_is_blamed_for_what_was_seen_to_be_wrong_alone(drafted, at_fault, because):
    reference = replace(left_bounds(drafted, "why"), at_fault=at_fault)
    assert unsound(reference) == because


@pytest.mark.parametrize(
    "fault", ["launch failed in k: a grid of 0x1x1 blocks", "crash in k: an integer division by zero, or its overflow"]
)
def test_sizes_that_porter_chose_are_named_where_the_original_refuses_them(drafted, fault):
    because = f"{fault}, workload 'tiny' (n = 3)"
    reference = Reference(drafted, (), (), deterministic=True, complete=True, because=because, seconds=0.0)
    assert unsound(reference).startswith("the original does not run at these sizes (others: --size, or `conditions`")
    assert unsound(replace(reference, at_fault=True)) == f"the original's own result is unreliable: {because}"


def test_an_assertion_is_asked_for_other_values(drafted):
    because = "device assert in k: assertion `amax >= 0` failed, workload 'tiny' (n = 3)"
    reference = Reference(drafted, (), (), deterministic=True, complete=True, because=because, seconds=0.0)
    assert unsound(reference).startswith(
        "the original refuses the inputs that porter drew (others: `values` in --contract"
    )


@pytest.mark.parametrize(("wrong_with_zeros", "open_"), [(False, True), (True, False)])
def test_integers_that_porter_chose_may_be_why_bounds_are_left(wrong_with_zeros, open_):
    text = """
    __global__ void k(int n, const int* at, float* x) { if (threadIdx.x < n) x[at[threadIdx.x] >> 1] = 1; }
    void f(int n, const int* at, float* x) { k<<<1, 256>>>(n, at, x); }
    """
    (contract,) = draft(parse(Source(Path("k.cu"), text)))
    reference = replace(left_bounds(contract, "writes 4 bytes of `argument 2` (28 bytes) at byte -8"), at_fault=True)
    because = misvalued(
        reference, contract, lambda zeros: replace(reference, contract=zeros, at_fault=wrong_with_zeros)
    )
    assert because.startswith("the contract is open: the source does not say which values 'at' may have") is open_


@pytest.mark.parametrize(("moves", "open_"), [(True, True), (False, False)])
def test_bins_that_are_left_elsewhere_with_other_values_are_a_question_about_values(moves, open_):
    text = """
    __global__ void k(int n, const char* letter, float* x) { if (threadIdx.x < n) x[letter[threadIdx.x] - 'a'] = 1; }
    void f(int n, const char* letter, float* x) { k<<<1, 256>>>(n, letter, x); }
    """
    (contract,) = draft(parse(Source(Path("k.cu"), text)))

    def left(values):
        byte = -388 if values is Values.ZEROS or not moves else -380
        return replace(
            left_bounds(contract, f"writes 4 bytes of `argument 2` (28 bytes) at byte {byte}"), at_fault=True
        )

    because = misvalued(left(Values.ZEROS), contract, lambda changed: left(changed.tensors[0].values))
    assert because.startswith("the contract is open: the source does not say which values 'letter'") is open_


@pytest.mark.parametrize(("symbols", "open_"), [(("n", "m"), True), (("n",), False)])
def test_blocks_that_write_over_each_other_may_be_meant_for_sizes_that_belong_together(drafted, symbols, open_):
    message = (
        "race in k: thread (0,0,0) of block (6,0,0) writes `argument 1` (40 bytes) at byte 4; another block writes it"
    )
    finding = core_catalogue()["PORT4005"].at(None, message)
    contract = replace(drafted, symbols=symbols)
    reference = Reference(contract, (), (finding,), deterministic=True, complete=True, because=message, seconds=0.0)
    because = misled(reference, drafted)
    assert because.startswith("the contract is open: the source does not say how 'n', 'm' go together") is open_
