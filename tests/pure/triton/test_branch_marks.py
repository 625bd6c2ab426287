"""Which sides of Python branches ran: told by marks, whatever the branches look like."""

import ast
import textwrap

import pytest

from porter_triton.branch_marks import BranchMarks


def covered(text, *calls, host=False):
    """The coverage of `text` after its function `f` was called with each of `calls`."""
    marks, tree = BranchMarks(), ast.parse(textwrap.dedent(text))
    (marks.insert_in_host_code if host else marks.insert)(tree, "op.py")
    space = dict(marks.names)
    exec(compile(tree, "op.py", "exec"), space)
    for call in calls:
        space["f"](*call)
    return marks.coverage()


def missing(text, *calls, host=False):
    return [(side.line, side.text, side.way) for side in covered(text, *calls, host=host).missing]


@pytest.mark.parametrize(
    ("text", "calls", "left"),
    [
        ("def f(n):\n    if n > 4:\n        return 1\n    return 0", [(5,)], [(2, "n > 4", "false")]),
        ("def f(n):\n    if n > 4:\n        return 1\n    return 0", [(5,), (4,)], []),
        ("def f(n):\n    return 1 if n > 4 else 0", [(5,)], [(2, "n > 4", "false")]),
        ("def f(n):\n    while n > 4:\n        n -= 1", [(4,)], [(2, "n > 4", "true")]),
        (
            "def f(n):\n    for i in range(n):\n        pass",
            [(0,)],
            [(2, "for i in range(n)", "entered"), (2, "for i in range(n)", "run twice")],
        ),
        ("def f(n):\n    for i in range(n):\n        pass", [(1,)], [(2, "for i in range(n)", "run twice")]),
        ("def f(n):\n    for i in range(n):\n        pass", [(2,)], []),
        ("def f(n):\n    return [i for i in range(n) if i > 9]", [(5,)], [(2, "i > 9", "true")]),
        (
            "def f(n):\n    match n:\n        case 1:\n            pass\n        case 2:\n            pass",
            [(1,)],
            [(2, "case 2", "taken")],
        ),
    ],
)
def test_a_side_that_no_call_takes_is_missing(text, calls, left):
    assert missing(text, *calls) == left


def test_what_lies_behind_a_missing_side_is_not_told_again():
    text = "def f(n):\n    if n > 4:\n        if n > 8:\n            return 1\n    return 0"
    assert missing(text, (1,)) == [(2, "n > 4", "true")]


def test_a_function_that_nobody_calls_says_nothing():
    assert missing("def g(n):\n    return 1 if n else 0\ndef f(n):\n    return n", (1,)) == []


@pytest.mark.parametrize(
    "text",
    [
        "def f(n):\n    if n < 0:\n        raise ValueError(n)",
        "def f(n):\n    if n == 1:\n        n = 2\n    elif n == 2:\n        n = 3\n    else:\n        raise OSError",
        "def f(n):\n    match n:\n        case 1 | 2:\n            pass\n        case _:\n            raise ValueError",
        "def f(n):\n    while True:\n        break",
    ],
)
def test_sides_that_end_in_an_error_or_are_no_sides_are_not_missing(text):
    assert missing(text, (1,), (2,)) == []


def test_a_condition_is_evaluated_once_and_its_value_stays():
    text = """
        seen = []
        def f(n):
            if seen.append(n) or n:
                return "yes" if n else "no"
            return None
        """
    marks, tree = BranchMarks(), ast.parse(textwrap.dedent(text))
    marks.insert(tree, "op.py")
    space = dict(marks.names)
    exec(compile(tree, "op.py", "exec"), space)
    assert (space["f"](3), space["f"](0), space["seen"]) == ("yes", None, [3, 0])


def test_lines_stay_where_they_are():
    tree = ast.parse("def f(n):\n    if n:\n        return 1\n    return 1 // n")
    BranchMarks().insert(tree, "op.py", 10)
    assert [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Return)] == [4, 3]


def test_kernels_of_a_module_are_left_as_they_are():
    """What a kernel is, is told by its code, which must be that of the file."""
    text = "import t\n@t.jit\ndef k(n):\n    if n:\n        pass\ndef g(n):\n    if n:\n        pass\nh = t.jit(g)\n"
    tree = ast.parse(text)
    BranchMarks().insert_in_host_code(tree, "op.py")
    assert ast.unparse(tree) == ast.unparse(ast.parse(text))


def test_what_was_taken_is_forgotten():
    marks, tree = BranchMarks(), ast.parse("def f(n):\n    return 1 if n else 0")
    marks.insert(tree, "op.py")
    space = dict(marks.names)
    exec(compile(tree, "op.py", "exec"), space)
    space["f"](1)
    marks.forget()
    assert marks.coverage().taken == frozenset()
    space["f"](0)
    assert [side.way for side in marks.coverage().missing] == ["true"]
