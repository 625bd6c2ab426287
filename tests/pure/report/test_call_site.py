"""An earlier way out has one place in a function of somebody's module, and some functions can have none."""

import pytest

from porter.errors import InputError
from porter.report.search.call_site import call_site


def rewritten(text):
    return call_site(text, "f", "m.py").with_port("f_port", "f_port.fits(x)", "f_port.g(x)")


def test_imports_come_behind_the_others_and_the_question_behind_the_docstring():
    before = '"""Module."""\nimport torch\n\n\n@wraps(g)\ndef f(x):\n  """One."""\n  # why\n  return x\n'
    after = (
        '"""Module."""\nimport torch\nfrom . import f_port\n\n\n@wraps(g)\ndef f(x):\n  """One."""\n  # why\n'
        "  if f_port.fits(x):\n    return f_port.g(x)\n  return x\n"
    )
    assert rewritten(before) == after


def test_a_module_without_imports_keeps_the_ends_of_its_lines():
    assert rewritten("def f(x):\r\n\treturn x\r\n") == (
        "from . import f_port\r\ndef f(x):\r\n\tif f_port.fits(x):\r\n\t\treturn f_port.g(x)\r\n\treturn x\r\n"
    )


@pytest.mark.parametrize(
    ("text", "because"),
    [
        ("def f(x): return x\n", "body in the line of its head"),
        ("def f(x):\n    yield x\n", "is a generator"),
        ("@triton.jit\ndef f(x):\n    return x\n", "is a kernel"),
        ("class C:\n    def f(self):\n        return 1\n", "no function f at the top"),
        ("if a:\n    b\ndef f(x):\n    return x\ndef f(y):\n    return y\n", "several functions f"),
        ("def f(:\n", "not read as Python"),
    ],
)
def test_what_has_no_place_for_it_is_refused(text, because):
    with pytest.raises(InputError, match=because):
        call_site(text, "f", "m.py")
