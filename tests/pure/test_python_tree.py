"""Python text that several threads read."""

from __future__ import annotations

import gc
import sys
import threading

import pytest

from porter.python_tree import expression_tree, module_tree

TEXT = "+".join(f"f(a[{i}], (b, {i}))" for i in range(200))


class Left:
    """An object that only the collector frees, and that runs code as it goes."""

    def __init__(self):
        self.itself = self

    def __del__(self):
        sum(range(50))


@pytest.fixture
def often():
    """Lets threads change and the collector come many times while one tree is built."""
    interval, thresholds = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(1e-6)
    gc.set_threshold(50)
    yield
    sys.setswitchinterval(interval)
    gc.set_threshold(*thresholds)


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("read", [module_tree, expression_tree])
def test_threads_that_read_at_once_do_not_disturb_each_other(read):
    faults: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(20):
                for _ in range(200):
                    Left()
                read(TEXT)
        except SystemError as error:  # with `ast.parse` itself, CPython 3.11.7 comes here within half a second
            faults.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
