"""A recording comes back as it was written, or is refused with a reason."""

import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from porter.contract.model.contract import (
    Contract,
    Distribution,
    Entry,
    EntryKind,
    Role,
    TensorArg,
    Tolerance,
    Workload,
)
from porter.contract.model.dtype import DType
from porter.contract.model.toml import loads
from porter.errors import InputError
from porter.execution.job import ScalarValue, TensorValue
from porter.oracle.golden import golden_standard, read_golden, write_golden
from porter.oracle.golden_record import Golden
from porter.oracle.outputs import Outputs
from porter.oracle.reference import Expected, Reference

X = TensorArg("x", Role.IN, DType.BFLOAT16, ("n",))
WORKLOADS = (Workload("tiny", {"n": 3}, 1 << 47), Workload("ties", {"n": 3}, 2, distribution=Distribution.TIES))
CONTRACT = Contract(
    "k", "other", Entry(EntryKind.TORCH, "k"), (X,), ("n",), (), WORKLOADS,
    {DType.BFLOAT16: Tolerance(1e-2, 1e-3)},
)  # fmt: skip


def tensor(*values, dtype=DType.FLOAT32):
    return TensorValue(dtype, (len(values),), np.array(values, dtype.storage))


def answer(workload, **changed):
    outputs = Outputs((("x", tensor(1, 2, 3, dtype=DType.BFLOAT16)), ("result", tensor(0.1, np.nan, -np.inf))))
    return replace(Expected(workload, outputs, None), **changed)


@pytest.fixture
def recorded():
    near = Outputs((("x", tensor(1.0, 2, 3)), ("result", tensor(0.1, 0.2, 0.3))), "text\n", 3)
    given = (tensor(1, 2, 3, dtype=DType.BFLOAT16), ScalarValue(7), ScalarValue(0.1), TensorValue.none(DType.INT32))
    first = answer(WORKLOADS[0], yardstick=near, by_chance=frozenset({"result"}), largest_term=2.5)
    second = answer(WORKLOADS[1], arguments=given, decides=False)
    reference = Reference(CONTRACT, (first, second), (), True, True, "", 0.0, launched=("k", "other"))
    return Golden("op.cu", (reference,), 1 << 47, "emulated", "nothing at empty", {"torch": "2"})


@pytest.fixture
def path(tmp_path, recorded):
    write_golden(tmp_path / "op.golden", recorded)
    return tmp_path / "op.golden"


def plain(value):
    """What can be compared with ==: raw bytes for arrays."""
    if isinstance(value, TensorValue):
        return (value.dtype, value.shape, value.storage.dtype, value.storage.tobytes(), value.null)
    if isinstance(value, Outputs):
        return ([(name, plain(tensor)) for name, tensor in value.tensors], value.text, value.exit_code)
    if isinstance(value, Expected):
        given = None if value.arguments is None else [plain(v) for v in value.arguments]
        rest = (value.workload, value.by_chance, value.decides, value.largest_term)
        return (plain(value.outputs), plain(value.yardstick), given, rest)
    return value


def test_what_was_written_is_read(path, recorded):
    read = read_golden(path)
    (got,), (want,) = read.references, recorded.references
    assert [plain(e) for e in got.expected] == [plain(e) for e in want.expected]
    assert (got.contract, got.launched) == (want.contract, want.launched)
    assert replace(read, references=()) == replace(recorded, references=())


def test_the_same_answers_make_the_same_file(path, recorded, tmp_path):
    write_golden(tmp_path / "again.golden", recorded)
    assert (tmp_path / "again.golden").read_bytes() == path.read_bytes()


def test_it_answers_to_its_own_contracts_only_and_names_its_seed(path):
    standard = golden_standard(path)
    assert (standard.recorded, standard.contracts(), standard.left_out) == (1 << 47, (CONTRACT,), "nothing at empty")
    assert len(standard.reference(CONTRACT).expected) == 2


def edited(path: Path, name: str, change):
    with zipfile.ZipFile(path) as archive:
        held = {n: archive.read(n) for n in archive.namelist()}
    (meant,) = (n for n in held if n.endswith(name)) if name != ".bin" else [next(n for n in held if n.endswith(name))]
    held[meant] = change(held[meant])
    with zipfile.ZipFile(path, "w") as archive:
        for n, content in held.items():
            archive.writestr(n, content)


@pytest.mark.parametrize("name", ["contracts.toml", "record.json", ".bin", "sha256"])
def test_a_file_in_it_that_was_edited_is_told_by_the_checksum(path, name):
    edited(path, name, lambda content: content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(InputError, match="checksum differs"):
        read_golden(path)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"answers"])
def test_what_is_no_archive_is_refused(path, content):
    path.write_bytes(content)
    with pytest.raises(InputError, match="damaged, or not a recording"):
        read_golden(path)


def test_one_that_was_cut_short_is_refused(path):
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(InputError, match="damaged, or not a recording"):
        read_golden(path)


def test_another_archive_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "other.golden", "w") as archive:
        archive.writestr("a.txt", "a")
    with pytest.raises(InputError, match="checksum differs"):
        read_golden(tmp_path / "other.golden")


def test_a_contract_names_its_reference_in_toml(tmp_path):
    text = '[[contract]]\nname = "k"\nreference = "op.py"\nentry = { kind = "torch", name = "k" }\n'
    (contract,) = loads(text, tmp_path / "k.toml")
    assert contract.reference == "op.py"
