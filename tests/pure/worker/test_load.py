"""A module and those beside it are loaded with the same builtins."""

import builtins

import pytest

from porter.worker.load import load


def test_a_module_imports_those_beside_it_each_once(tmp_path):
    (tmp_path / "kept.py").write_text("VALUES = []\n")
    (tmp_path / "helper.py").write_text("from .kept import VALUES\n\n\ndef add(x):\n    VALUES.append(x)\n")
    (tmp_path / "op.py").write_text("import math\nfrom helper import add\nimport kept\n\nadd(math.floor(2.5))\n")
    assert load(tmp_path / "op.py").kept.VALUES == [2]


def test_a_module_may_have_the_name_of_what_it_imports(tmp_path):
    (tmp_path / "math.py").write_text("import math\n\nTWO = math.floor(2.5)\n")
    assert load(tmp_path / "math.py").TWO == 2


def test_builtins_hold_beside_the_module_too(tmp_path):
    def refuse(*_):
        raise PermissionError

    (tmp_path / "helper.py").write_text("def run():\n    return open('x')\n")
    (tmp_path / "op.py").write_text("from helper import run\n")
    module = load(tmp_path / "op.py", {**vars(builtins), "open": refuse})
    with pytest.raises(PermissionError):
        module.run()
