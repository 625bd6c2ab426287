"""Each rule has a cheat that breaks it and an honest look-alike that does not."""

from pathlib import Path

import pytest

from porter.backend import PortedFile
from porter.rules.original import NO_CODE, OwnCode
from porter.source.parse import parse
from porter.source_text import Source
from porter_triton.catalogue import catalogue
from porter_triton.rules.lint import lint

HEAD = """\
import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def twice(x, y, n, block: tl.constexpr):
    i = tl.program_id(0) * block + tl.arange(0, block)
    tl.store(y + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)


"""
PLAIN = "def forward(x):\n    y = torch.empty_like(x)\n    twice[(1,)](x, y, x.numel(), block=64)\n    return y\n"


def broken(text, original=None):
    file = PortedFile("op.py", text, Source(Path("op.py"), text))
    own = NO_CODE if original is None else OwnCode.of(parse(Source(Path("op.cu"), original)))
    return {finding.code for finding in lint((file,), own)}


CHEATS = [
    ("PORT1901", "def forward(x):\n    return torch.softmax(x, -1)\n"),
    ("PORT1901", "def forward(x):\n    return F.gelu(x)\n"),
    ("PORT1901", "def forward(x, w):\n    return x @ w\n"),
    ("PORT1901", "def forward(x):\n    return x.softmax(-1)\n"),
    ("PORT1901", "def forward(x):\n    return torch.ops.aten.relu.default(x)\n"),
    ("PORT1901", "def slow(x):\n    return torch.relu(x)\n\n\ndef forward(x):\n    return slow(x)\n"),
    ("PORT1901", "def forward(x):\n    try:\n        return run(x)\n    except Exception:\n        return F.relu(x)\n"),
    ("PORT1901", "work = torch.nn.functional.relu\n\n\ndef forward(x):\n    return work(x)\n"),
    ("PORT1902", "@torch.compile\ndef forward(x):\n    return x\n"),
    ("PORT1902", "import numba\n\n\ndef forward(x):\n    return numba.njit(abs)(x)\n"),
    ("PORT1902", "def forward(x):\n    return eval('torch.' + 'relu')(x)\n"),
    ("PORT1902", "import importlib\n\n\ndef forward(x):\n    return importlib.import_module('torch').relu(x)\n"),
    ("PORT1902", "import operator\n\n\ndef forward(x):\n    return operator.attrgetter('relu')(torch)(x)\n"),
    ("PORT1902", "import ctypes\n\n\ndef forward(x):\n    ctypes.memset(x.data_ptr(), 0, 4)\n"),
    ("PORT1902", "import os as o\n\n\ndef forward(x):\n    o._exit(0)\n"),
    ("PORT1902", "def forward(x):\n    torch.os.kill(1, 9)\n"),
    ("PORT1902", "from subprocess import run\n\n\ndef forward(x):\n    run(['true'])\n"),
    ("PORT1902", "import sys\n\n\ndef forward(x):\n    return sys._getframe(1).f_locals\n"),
    ("PORT1902", "import gc\n\n\ndef forward(x):\n    return gc.get_objects()[0]\n"),
    ("PORT1902", "def forward(x):\n    try:\n        1 / 0\n    except ZeroDivisionError as e:\n"
                 "        return e.__traceback__.tb_frame\n"),
    ("PORT1902", "import sys\n\n\ndef forward(x):\n    return sys.modules['torch'].relu(x)\n"),
    ("PORT1902", "def forward(x):\n    return ().__class__.__base__.__subclasses__()\n"),
    ("PORT1902", "def forward(x):\n    return x._version\n"),
    ("PORT1902", "def forward(x):\n    with torch._C.DisableTorchFunction():\n        return x + x\n"),
    ("PORT1902", "def forward(x):\n    return getattr(x, '__dict__')\n"),
    ("PORT1902", "from torch._C import DisableTorchFunction\n\n\ndef forward(x):\n    with DisableTorchFunction():\n"
                 "        return x\n"),
    ("PORT1902", "import dataclasses\n\n\ndef forward(x):\n    dataclasses.sys.exit(0)\n"),
    ("PORT1902", "import string\n\n\ndef forward(x):\n    return string.Formatter().get_field('0.a', [x], {})\n"),
    ("PORT1902", "from operator import *\n\n\ndef forward(x):\n    return x\n"),
    ("PORT1902", "import functools\n\n\n@functools.singledispatch\ndef forward(x):\n    return x\n"),
    ("PORT1902", "def other(m):\n    m.os.kill(1, 9)\n\n\ndef forward(x):\n    other(torch)\n"),
    ("PORT1902", "def hidden(x):\n    import time\n    return time.time()\n\n\nTABLE = {'a': hidden}\n\n\n"
                 "def forward(x):\n    return TABLE['a'](x)\n"),
    ("PORT1902", "import time\n\n\nclass Odd:\n    def __getattr__(self, name):\n        return time.time()\n\n\n"
                 + PLAIN),
    ("PORT1902", "def forward(x):\n    setattr(getattr(torch, 'cuda'), 'syn' + 'chronize', None)\n"),
    ("PORT1902", "def forward(x):\n    torch.use_deterministic_algorithms(False)\n"),
    ("PORT1907", "def forward(x):\n    type(x).add = None\n"),
    ("PORT1907", "torch.empty = torch.zeros\n"),
    ("PORT1907", "tl.load = None\n"),
    ("PORT1907", "setattr(torch.Tensor, 'add', None)\n"),
    ("PORT1902", "def forward(x):\n    open('answers', 'wb')\n"),
    ("PORT1902", "def forward(x):\n    torch.save(x, 'x')\n"),
    ("PORT1902", "import threading\n\n\ndef forward(x):\n    threading.Thread(target=print).start()\n"),
    ("PORT1902", "import os\n\n\ndef forward(x):\n    return x if os.environ.get('CI') else None\n"),
    ("PORT1902", "import porter\n\n\ndef forward(x):\n    return porter.__version__\n"),
]  # fmt: skip


@pytest.mark.parametrize(("code", "cheat"), CHEATS)
def test_a_cheat_breaks_its_rule(code, cheat):
    assert code in broken(HEAD + cheat)


HONEST = [
    PLAIN,
    "import os, sys, inspect, subprocess, ctypes\n\n\n" + PLAIN,
    PLAIN + "\n\ndef check(x):\n    assert torch.allclose(forward(x), torch.relu(x))\n",
    PLAIN + "\n\nif __name__ == '__main__':\n    import subprocess\n    open('log').write(subprocess.run(['a']))\n",
    PLAIN + "\n\n@torch.compile\ndef rival(x):\n    return F.relu(x)\n",
    "torch.backends.cuda.matmul.allow_tf32 = False\n" + PLAIN,
    "import sys, os\n\nsys.path.append(os.path.dirname(__file__))\n" + PLAIN,
    "class Cache:\n    def __init__(self):\n        self._kept = {}\n        self.__dict = {}\n\n\n" + PLAIN,
    "DTYPE = getattr(torch, 'float8_e4m3fn', None)\n" + PLAIN,
    "import threading\n\nLOCK = threading.Lock()\n" + PLAIN,
    "def forward(x, input, open):\n    total = x.sum() / x.numel()\n    return input.view(-1), total, open\n",
    "@triton.jit\ndef softmax(x):\n    return tl.softmax(tl.sigmoid(x)).to(tl.float32)\n\n\n" + PLAIN,
    "class Fn(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
    "        ctx.save_for_backward(x)\n        return x\n\n\n",
    "try:\n    SM = torch.cuda.get_device_properties(0).multi_processor_count\nexcept Exception:\n    SM = 1\n" + PLAIN,
    "from triton.language.standard import _log2\n\n\n" + PLAIN,
    "def f(:\n",
]


@pytest.mark.parametrize("text", HONEST)
def test_an_honest_look_alike_breaks_none(text):
    assert broken(HEAD + text) == set()


def test_statements_without_parts_are_read_like_all_others():
    """`pass` in a kernel, beside what it does or alone."""
    idle = "@triton.jit\ndef idle(x):\n    pass\n\n\n"
    assert broken(HEAD.replace("    tl.store", "    pass\n    tl.store") + idle + PLAIN) == set()
    assert broken(HEAD + idle + PLAIN.replace("empty_like(x)", "relu(x)")) == {"PORT1901"}


@pytest.mark.parametrize("port", sorted(Path(__file__).parent.glob("golden/*_triton.py")), ids=lambda port: port.stem)
def test_ports_of_porter_break_none(port):
    assert broken(port.read_text()) == set()


ORIGINAL = "#include <torch/extension.h>\ntorch::Tensor forward(torch::Tensor x) {{ {} }}\n"


@pytest.mark.parametrize(
    ("body", "free"),
    [
        ("return torch::softmax(x, -1);", True),
        ("return x.softmax(-1);", True),
        ("softmax<<<1, 1>>>(x.data_ptr<float>()); return x;", False),
        ("// torch.softmax\n return x;", False),
    ],
)
def test_what_the_original_computes_with_tensors_is_free(body, free):
    cheat = HEAD + "def forward(x):\n    return torch.softmax(x, -1)\n"
    assert (broken(cheat, ORIGINAL.format(body)) == set()) is free


def test_every_rule_is_explained():
    assert {code for code, _ in CHEATS} <= catalogue().keys()
