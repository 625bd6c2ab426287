"""Definitions of flashinfer-bench become references, and what porter cannot draw or keep is refused."""

import json

import pytest

from porter.cli.main import main
from porter.python_tree import module_tree

RUN = "import torch\n\n\ndef run(x, w, eps):\n    return x * w + eps\n"
TENSOR = {"shape": ["rows", "columns"], "dtype": "float16"}
DEFINITION = {
    "name": "scaled",
    "op_type": "elementwise",
    "axes": {"rows": {"type": "var"}, "columns": {"type": "const", "value": 96}},
    "inputs": {
        "x": TENSOR,
        "w": {"shape": ["columns"], "dtype": "float32"},
        "eps": {"shape": None, "dtype": "float32"},
    },
    "outputs": {"y": TENSOR},
    "reference": RUN,
}
WORKLOAD = {
    "axes": {"rows": 7},
    "inputs": {"eps": {"type": "scalar", "value": 0.5}, "x": {"type": "random"}},
    "uuid": "1",
}
SOLUTION = {"name": "mine", "definition": "scaled", "sources": [{"path": "main.py", "content": "def run(x): ...\n"}]}


def data_set(folder, definition=DEFINITION, solution=SOLUTION, workload=WORKLOAD):
    for name, text in {
        "definitions/elementwise/scaled.json": json.dumps(definition),
        "solutions/elementwise/scaled/mine.json": json.dumps(solution),
        "workloads/elementwise/scaled.jsonl": json.dumps({"definition": "scaled", "workload": workload}) + "\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return str(folder)


def test_a_definition_is_a_reference_at_the_sizes_of_its_first_workload(tmp_path):
    assert main(["import", data_set(tmp_path / "set"), "-o", str(tmp_path / "out")]) == 0
    text = (tmp_path / "out" / "scaled" / "reference.py").read_text()
    assert text.startswith(RUN)
    assert {one.name for one in module_tree(text, "").body if hasattr(one, "name")} == {
        "run",
        "reference",
        "get_inputs",
    }
    drawn = ["torch.randn([7, 96], dtype=torch.float16),", "torch.randn([96], dtype=torch.float32),", "0.5,"]
    assert [line.strip() for line in text.splitlines()[-4:-1]] == drawn
    assert (tmp_path / "out" / "scaled" / "mine" / "main.py").read_text() == "def run(x): ...\n"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"definition": {**DEFINITION, "reference": "def run(:"}}, "is no Python"),
        ({"definition": {**DEFINITION, "inputs": {}, "name": "a/../../scaled"}}, "is no name of a file"),
        ({"definition": {**DEFINITION, "inputs": {"i": {"shape": ["rows"], "dtype": "int32"}}}}, "i is no tensor of"),
        ({"workload": {**WORKLOAD, "inputs": {}}}, "no workload says the number eps"),
        ({"solution": {**SOLUTION, "sources": [{"path": "../main.py", "content": "x"}]}}, "is no name of a file"),
        ({"definition": [1]}, "is no JSON object"),
    ],
)
def test_what_porter_cannot_take_is_refused(tmp_path, capsys, changed, said):
    assert main(["import", data_set(tmp_path / "set", **changed), "-o", str(tmp_path / "out")]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
