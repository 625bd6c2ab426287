"""Curation without executing anything: what is read of a repository, what counts as the same, what is tried next."""

import ast
from dataclasses import replace
from textwrap import dedent

import numpy as np
import pytest

from porter.errors import InputError
from porter.learn.curation.alike import graph_digest, is_nearly, nearest, renamed_digest, signature
from porter.learn.curation.clusters import clustered
from porter.learn.curation.extraction import read_classes
from porter.learn.curation.families import FAMILIES, family_of
from porter.learn.curation.guessing import first_call, value_of
from porter.learn.curation.layouts import code_of_sft, rl_row, sft_row, task_of_rl
from porter.learn.curation.record_files import Appending, read_records, write_records
from porter.learn.curation.records import (
    Call,
    Contents,
    Given,
    Layer,
    Operation,
    Parameter,
    Provenance,
    Reached,
    ReadClass,
    Report,
    Setting,
    Signature,
)
from porter.learn.curation.repairing import repairs
from porter.learn.curation.scaling import WORTH_BYTES, scaled
from porter.learn.curation.sources import read_repository
from porter.learn.curation.writing import Task, module_text


def repository(folder, **files):
    for name, text in files.items():
        path = folder / name.replace("__", "/", 1) if "__" in name else folder / name
        path = path.with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), "utf-8")
    return read_repository(folder)


def read(folder, **files):
    return {one.name: one for one in read_classes(repository(folder, **files))}


BLOCK = """
    import math
    import torch
    from torch import nn
    from .parts import Gate as Switch, SCALE
    from .registry import register

    @register
    class Block(nn.Module):
        '''Words.'''
        def __init__(self, dim: Unknown):
            super().__init__()
            self.gate = Switch(dim)
        def forward(self, x):
            return self.gate(x) * SCALE * math.pi
"""
PARTS = """
    import torch.nn as nn
    BASE = 3
    SCALE = 2 * BASE
    def helper(x): return x.sigmoid()
    class Gate(nn.Module):
        def __init__(self, dim): super().__init__()
        def forward(self, x): return helper(x)
    class Unrelated(nn.Module): pass
"""
REGISTRY = "import os\ndef register(kind): os.abort()\n"


def test_a_class_takes_along_what_it_needs_of_other_files_and_nothing_else(tmp_path):
    code = read(tmp_path, p__block=BLOCK, p__parts=PARTS, p__registry=REGISTRY)["Block"].code
    assert code.index("def helper") < code.index("class Gate") < code.index("class Block")
    assert "Unrelated" not in code
    assert "register" not in code
    assert "Words" not in code
    imports = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Import)]
    assert {alias.name for node in imports for alias in node.names} == {"math", "torch"}


@pytest.mark.parametrize(
    ("imports", "because"),
    [
        ("from einops import rearrange as need", "needs the package einops"),
        ("from .absent import need", "needs a missing file (need)"),
        ("import os as need", "needs the package os"),
        ("", "need is not defined in its repository"),
    ],
)
def test_a_class_that_needs_anything_else_is_refused_with_the_reason(tmp_path, imports, because):
    text = f"{imports}\nfrom torch import nn\nclass A(nn.Module):\n    def forward(self, x): return need(x)\n"
    one = read(tmp_path, p__a=text)["A"]
    assert (one.code, one.refusal) == ("", because)


def test_a_package_that_may_be_missing_is_taken_to_be(tmp_path):
    text = """
    from torch import nn
    try:
        from apex import fused
        has_apex = True
    except ImportError:
        has_apex = False
    class A(nn.Module):
        def forward(self, x): return fused(x) if has_apex else x
    """
    code = read(tmp_path, p__a=text)["A"].code
    assert "has_apex = False" in code
    assert "fused = None" in code


def test_two_definitions_of_one_name_are_told_apart(tmp_path):
    files = {
        "p__a": "from torch import nn\nfrom .b import B\ndef act(x): return x\n"
        "class A(nn.Module):\n    def __init__(self): self.b = B()\n    def forward(self, x): return act(self.b(x))\n",
        "p__b": "from torch import nn\ndef act(x): return -x\n"
        "class B(nn.Module):\n    def forward(self, x): return act(x)\n",
    }
    code = read(tmp_path, **files)["A"].code
    names = {node.name for node in ast.parse(code).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    assert names == {"A", "B", "act", "act_"}


def test_of_definitions_of_one_name_the_last_counts(tmp_path):
    text = "from torch import nn\nclass A(nn.Module):\n    first = 1\nclass A(nn.Module):\n    last = 1\n"
    (one,) = read_classes(repository(tmp_path, p__a=text))
    assert "last" in one.code
    assert "first" not in one.code


def test_what_a_form_of_tasks_has_names_for_is_called_otherwise(tmp_path):
    found = read(tmp_path, p__a="from torch import nn\nclass Model(nn.Module):\n    def forward(self, x): return -x\n")
    assert list(found) == ["Model_"]


def test_nothing_of_a_repository_is_imported_and_its_licence_is_kept(tmp_path):
    (tmp_path / "LICENSE").write_text("words")
    found = read(tmp_path, p__a="raise SystemExit\nimport torch\nclass A(torch.nn.Module): pass\n", p__bad="def :")
    where = found["A"].provenance
    assert (where.repository, where.file, where.line, where.licence) == (tmp_path.name, "p/a.py", 3, "LICENSE")


def test_code_with_other_names_and_annotations_is_the_same():
    one = "class A:\n    def f(self, x: int) -> int:\n        '''Words.'''\n        y = x + 1\n        return y\n"
    other = "class B:\n    def g(self, z):\n        w = z + 1\n        return w\n"
    assert renamed_digest(one) == renamed_digest(other)
    assert renamed_digest("def h(x): return x\n" + one) == renamed_digest("def k(u): return u\n" + other)
    assert renamed_digest(one) != renamed_digest(other.replace("+", "-"))
    assert renamed_digest(one) != renamed_digest(other.replace("z + 1", "z + 2"))


def test_a_line_more_is_nearly_the_same_and_other_code_is_not():
    lines = [f"def f{i}(x):\n    return x * {i} + x ** {i} - max(x, {i})\n" for i in range(12)]
    others = [f"class C{i}:\n    values = [{i}, 'a{i}']\n" for i in range(12)]
    known = [signature("".join(lines)), signature("".join(others))]
    place, share = nearest(signature("".join(lines[:-1])), np.stack(known))
    assert place == 0
    assert is_nearly(share)
    assert not is_nearly(nearest(known[0], np.stack(known[1:]))[1])


RELU, ADD = Operation("relu", (-1,), False), Operation("add", (-1, 0), False)


def test_a_graph_is_told_by_what_feeds_what_not_by_the_order_of_calls():
    abs_ = Operation("abs", (-1,), False)
    joined = [RELU, abs_, Operation("add", (0, 1), False)]
    assert graph_digest(joined) == graph_digest([abs_, RELU, Operation("add", (1, 0), False)])
    assert graph_digest(joined) != graph_digest([RELU, abs_, Operation("add", (0, 0), False)])


def test_there_are_twenty_families_and_attention_is_told_from_a_classifier():
    assert len(FAMILIES) == 20
    product, soft = Operation("bmm", (-1, -1), False), Operation("_softmax", (0,), False)
    assert family_of([product, soft]) == "attention"
    assert family_of([soft]) == "softmax"
    assert family_of([Operation("clone", (-1,), False)]) == "layout"
    assert family_of([Operation("mul", (-1, -1), False)]) == "elementwise arithmetic"


def test_graphs_that_call_alike_operators_are_one_cluster_with_one_that_stands_for_it():
    convolution = [Operation("convolution", (-1,), False), Operation("relu", (0,), False)]
    found = clustered([convolution, [RELU, ADD], [*convolution, *convolution], [RELU, ADD]])
    assert [number for number, _ in found] == [0, 1, 0, 1]
    assert sum(stands for _, stands in found) == 2


def test_arguments_are_guessed_from_names_and_types():
    assert value_of(Parameter("num_heads", "int", None)) == "4"
    assert value_of(Parameter("dim", "", None)) == "32"
    assert value_of(Parameter("bias", "bool", None)) == "False"
    assert value_of(Parameter("foo", "float", None)) == "0.5"
    signature_ = Signature((Parameter("dim", "", None), Parameter("p", "", "0.1")), (Parameter("ids", "", None),))
    call = first_call(signature_)
    assert call.settings == (Setting("dim", "32"),)
    assert call.inputs[0].contents is Contents.INDICES


def failed(error, layers=()):
    return Report(Reached.BUILT, error, "", layers, (), 0)


@pytest.mark.parametrize(
    ("error", "shape"),
    [
        ("RuntimeError: mat1 and mat2 shapes cannot be multiplied (128x16 and 48x32)", (2, 32, 16, 48)),
        ("weight of size [8, 3, 3, 3], expected input[2, 32, 16, 16] to have 3 channels, but got 32 channels",
         (2, 3, 16, 16)),
        ("ValueError: not enough values to unpack (expected 3, got 4)", (2, 64, 32)),
        ("ValueError: expected 5D input (got 4D input)", (2, 32, 8, 16, 16)),
    ],
)  # fmt: skip
def test_shapes_are_repaired_by_what_the_error_says(error, shape):
    call = Call((), (Given("x", Contents.NORMAL, (2, 32, 16, 16)),))
    assert next(repairs(call, failed(error))).inputs[0].shape == shape


def test_the_first_layer_says_what_is_taken():
    call = Call((), (Given("x", Contents.NORMAL, (2, 32, 16, 16)),))
    (first, *_) = repairs(call, failed("RuntimeError: strange", (Layer("Embedding", 7),)))
    assert (first.inputs[0].contents, first.inputs[0].below) == (Contents.INDICES, 7)


def test_sizes_grow_until_they_are_worth_timing_as_far_as_the_module_takes_them():
    call = Call((), (Given("x", Contents.NORMAL, (2, 8)),))

    def shapes(wanted):
        rows = wanted.inputs[0].shape[0]
        return Report(Reached.RAN if rows <= 512 else Reached.BUILT, "", "", (), (), rows << 20)

    larger, moved = scaled(call, 2 << 20, shapes)
    assert larger.inputs[0].shape[0] == 128
    assert moved == 128 << 20 >= WORTH_BYTES
    assert scaled(call, 1, lambda _: None) is None


def test_rows_in_both_public_layouts_read_back_to_the_task():
    task = Task("r/a.py:A", "level1/A.py", "import torch\n# {braces} and ``` fences\n", "attention", "From r.")
    assert task_of_rl(rl_row(task)) == task
    assert code_of_sft(sft_row(task)) == task.text
    assert {"data_source", "message", "reward_model", "extra_info"} <= rl_row(task).keys()
    with pytest.raises(ValueError, match="layout"):
        task_of_rl({"data_source": "kernel_rl"})


def test_a_task_says_where_it_comes_from_and_is_evaluated_as_it_was_tried():
    source = Provenance("r", "abc", "a.py", 3, "LICENSE")
    one = ReadClass("A", source, "from __future__ import annotations\nimport torch\nclass A: pass\n", "d", "")
    text = module_text(one, Call((Setting("dim", "32"),), (Given("x", Contents.NORMAL, (2, 32)),)))
    assert text.startswith("# From r at abc, a.py:3; licence: its LICENSE.\n")
    assert ast.get_source_segment(text, ast.parse(text).body[-1]).endswith("return [32]")
    assert "self.eval()" in text


def test_records_that_were_cut_short_are_left_out_and_others_refused(tmp_path):
    file = tmp_path / "classes.jsonl"
    one = ReadClass("A", Provenance("r", "", "a.py", 1, ""), "", "", "because")
    Appending(file, [one]).add(replace(one, name="B"))
    with file.open("a") as out:
        out.write('{"name": "C"')
    assert [found.name for found in read_records(ReadClass, file)] == ["A", "B"]
    write_records([{"name": 1}], file)
    with pytest.raises(InputError, match=r"classes\.jsonl:1"):
        read_records(ReadClass, file)
