"""What the text of a kernel may hold: Triton's language, and nothing that leads anywhere else."""

import pytest

from porter.launch_plan.steps import KernelName, Scalar
from porter_triton.kernel_rules import KernelRefusedError, check
from porter_triton.records import Builtin, CompileTime, Foreign, KernelText, LanguageName, Values

TL = ("tl", LanguageName("tl"))


def kernel(*body, bindings=(TL,), head="def k(x, y, n, block: tl.constexpr):"):
    text = "\n".join((head, *(f"    {line}" for line in body))) + "\n"
    return KernelText("k_1", "k", text, bindings, False, "op.py", 10)


OF_A_LOOP = (
    *(TL, ("range", Builtin("range"))),
    *(("scale", CompileTime(Scalar(2.0))), ("helper", KernelName("h_1"))),
)
HONEST = (
    kernel("i = tl.arange(0, block)", "tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)"),
    kernel("v = tl.load(x).to(tl.float32)", "tl.store(y, v if n > 1 else -v)"),
    kernel("for i in range(0, n):", "    tl.store(y + i, scale * helper(tl.load(x + i)))", bindings=OF_A_LOOP),
    kernel("a, b = tl.split(tl.load(x))", "tl.static_assert(n > 0)", "tl.store(y, a.sum())"),
    kernel("v = tl.load(x)", "tl.store(y, v * v.dtype.primitive_bitwidth)"),
    kernel("tl.store(y, tl.maximum(tl.load(x), 0.0, propagate_nan=tl.PropagateNan.ALL))"),
    kernel("tl.store(y, exp(tl.load(x)))", bindings=(TL, ("exp", LanguageName("tl.math.exp")))),
)  # fmt: skip


@pytest.mark.parametrize("text", HONEST, ids=range(len(HONEST)))
def test_kernels_of_tritons_language_are_allowed(text):
    check(text)


def bound(name, binding):
    return kernel(f"tl.store(y, {name}(tl.load(x)))", bindings=(TL, (name, binding)))


@pytest.mark.parametrize(
    ("text", "because"),
    [
        (kernel("import os"), "Import"),
        (kernel("f = lambda v: v"), "Lambda"),
        (kernel("def inner(v):", "    return v"), "a function, 'inner'"),
        (kernel("try:", "    pass", "except ValueError:", "    pass"), "Try"),
        (kernel("global x"), "Global"),
        (kernel("tl.exp = tl.exp2"), "assigns to .exp"),
        (kernel("tl.store(y, y.handle)"), ".handle"),
        (kernel("tl.store(y, tl.core)"), "tl.core"),
        (kernel("x.__class__"), ".__class__"),
        (kernel("tl.store(y, __builtins__)"), "__builtins__"),
        (kernel("tl.store(y, unknown)"), "'unknown', which is bound to nothing"),
        (kernel("tl.store(y, n)", bindings=(TL, ("n", Scalar(1)))), "a binding for 'n'"),
        (bound("open", Builtin("open")), "Python's open"),
        (bound("getattr", Builtin("getattr")), "Python's getattr"),
        (bound("run", Foreign("a function")), "a function"),
        (bound("run", LanguageName("tl.core.builtin")), "not part of Triton's language"),
        (bound("run", LanguageName("os.system")), "not part of Triton's language"),
        (bound("run", Values((Scalar(1), Foreign("a module")))), "a module"),
        (kernel("pass", head="@evil\ndef k(x):"), "not one plain function"),
        (kernel("pass", head="def other(x):"), "not one plain function"),
        (KernelText("k_1", "k", "def k(x):\n    pass\nprint(1)\n", (), False, "op.py", 1), "not one plain function"),
        (KernelText("k_1", "k", "def k(x:\n", (), False, "op.py", 1), "no Python"),
    ],
)  # fmt: skip
def test_whatever_else_stands_there_is_refused(text, because):
    with pytest.raises(KernelRefusedError) as told:
        check(text)
    assert because in told.value.message


def test_the_line_is_that_of_the_candidate():
    with pytest.raises(KernelRefusedError) as told:
        check(kernel("v = tl.load(x)", "import os"))
    assert told.value.line == 12
