"""Inputs that are asked for again are the same, and each is the caller's own."""

from __future__ import annotations

import numpy as np

from porter.contract.model.contract import Contract, Entry, EntryKind, Role, TensorArg, Workload
from porter.contract.model.dtype import DType
from porter.contract.workload.materialise import materialise
from porter.contract.workload.remembered import Remembered


def test_an_input_that_was_changed_is_drawn_as_before():
    tensor = TensorArg("x", Role.IN, DType.FLOAT32, ("n",))
    contract = Contract("k", "map", Entry(EntryKind.KERNEL, "k"), (tensor,), ("n",), (), (), {})
    workload = Workload("odd", {"n": 1003}, seed=7)
    (first,) = materialise(contract, workload)
    before = first.storage.copy()
    first.storage[:] = 0
    (second,) = materialise(contract, workload)
    assert np.array_equal(second.storage, before)
    (scaled,) = materialise(contract, Workload("large", {"n": 1003}, seed=7, scale=1e3))
    assert not np.array_equal(scaled.storage, before)


def test_so_many_are_kept_as_there_is_room_for():
    kept, made = Remembered(4096), list[int]()

    def array(key: int) -> np.ndarray:
        return kept.get(key, lambda: (made.append(key), np.full(256, key, np.float32))[1])

    for key in (0, 1, 2, 3, 0, 4, 0, 1):  # four have room; 1 is asked for least lately when 4 comes
        assert array(key)[0] == key
    assert made == [0, 1, 2, 3, 4, 1]
    assert kept.get("large", lambda: np.zeros(2048)).size > kept.get("large", lambda: np.zeros(2)).size
