"""Passes of the compiler hand on values. Which of its modules read text at all is told here, with the reason."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[3]
BACKEND = "backends/triton/porter_triton"
FOLDERS = ("porter/ir", "porter/symbolic", "porter/lift", "porter/schedule",
           *(f"{BACKEND}/{name}" for name in ("thread_level", "host", "device", "tiles")))  # fmt: skip
FILES = [f"{BACKEND}/{name}.py" for name in ("port", "kernels", "merging", "module", "bare", "launching", "layout")]
READERS = ("re", "tokenize", "ast", "porter.python_tree")
# What is written by somebody else: the source, names of CUDA and PyTorch, the IR's own notation, files of this package.
OF_OTHERS = {
    "porter/ir/simt/builder/inline_ptx.py": "the PTX of the source",
    "porter/ir/simt/builder/mathematics.py": "names of CUDA's functions",
    "porter/ir/simt/builder/spelling.py": "names of types of the source",
    "porter/ir/simt/parser.py": "the IR as its printer writes it",
    "porter/ir/simt/replay/kernels.py": "template arguments of a launch plan",
    "porter/lift/exported/capture.py": "stacks of PyTorch",
    f"{BACKEND}/host/device_wide.py": "names of CUB",
    f"{BACKEND}/host/dispatch.py": "names of PyTorch's macros",
    f"{BACKEND}/host/names.py": "names of CUDA's error codes",
    f"{BACKEND}/host/unchanged.py": "what of the source was not read",
    f"{BACKEND}/device/combining.py": "functions of a module that is interpreted",
    f"{BACKEND}/device/helper_calls.py": "helpers, which are files of this package",
    f"{BACKEND}/device/libdevice.py": "names of libdevice",
    f"{BACKEND}/device/source.py": "helpers, which are files of this package",
    f"{BACKEND}/module.py": "the name of the source's file; which imports the finished functions need",
}
# What is made here and read again: nothing may be added, and what is mended is taken out.
OF_ITSELF = {
    f"{BACKEND}/host/dtypes.py": "which dtype a statement gives a tensor",
    f"{BACKEND}/host/known.py": "the whole number that an expression is",
    f"{BACKEND}/host/scope.py": "the variables and calls of an expression",
    f"{BACKEND}/host/suites.py": "the variables that a statement reads",
}


def readers():
    """The modules of the compiler that import what reads text."""
    paths = [*(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")), *(ROOT / name for name in FILES)]
    return {str(path.relative_to(ROOT)) for path in paths if not _imported(path).isdisjoint(READERS)}


def _imported(path):
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module)
    return found


def test_only_these_modules_of_the_compiler_read_text():
    assert readers() == {*OF_OTHERS, *OF_ITSELF}


def test_kernels_are_printed_without_reading_text():
    assert not any("thread_level" in name for name in readers())
