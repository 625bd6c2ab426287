"""Recorded answers as text, and back; their tensors are files of their own."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from porter.contract.model.contract import Contract
from porter.contract.model.dtype import DType
from porter.diagnostics.catalogue import core_catalogue, lookup
from porter.execution.job import Construction, FaultKind, ScalarValue, TensorValue, Value
from porter.oracle.outputs import Outputs
from porter.oracle.reference import Expected, Reference
from porter.rules.original import NO_CODE, OwnCode

_VERSION = 2


@dataclass(frozen=True)
class Golden:
    """The recorded answers: a reference for each contract, the seed that drew its workloads, and where that was.

    `original` is the name of the file whose answers these are, `fidelity` how it was executed, `left_out` what was not.
    `own` is what of its code candidates may have, too.
    """

    original: str
    references: tuple[Reference, ...]
    seed: int
    fidelity: str
    left_out: str
    environment: Mapping[str, str]
    own: OwnCode = NO_CODE


@dataclass(frozen=True, slots=True)
class Tensors:
    """Raw contents by the names of files; one that is there already is not kept twice."""

    held: dict[str, bytes]

    def keep(self, storage: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> str:
        """The file that holds `storage`."""
        raw = np.ascontiguousarray(storage).tobytes()
        name = f"{hashlib.sha256(raw).hexdigest()[:32]}.bin"
        self.held[name] = raw
        return name

    def value(self, dtype: DType, shape: tuple[int, ...], name: str) -> TensorValue:
        """The tensor in a file. Raises `KeyError` where there is none, `ValueError` where it is of another size."""
        return TensorValue(dtype, shape, np.frombuffer(self.held[name], dtype.storage).copy().reshape(shape))


def record(recorded: Golden, tensors: Tensors) -> str:
    """All but contracts as JSON; `tensors` gets those it names."""
    whole = {
        "version": _VERSION,
        "original": recorded.original,
        "seed": recorded.seed,
        "fidelity": recorded.fidelity,
        "left_out": recorded.left_out,
        "environment": dict(recorded.environment),
        "entries": [
            {
                "launched": list(r.launched),
                "findings": [{"code": f.code, "message": f.message} for f in r.findings],
                "habits": sorted(habit.value for habit in r.habits),
                "answers": [_answer(e, tensors) for e in r.expected],
            }
            for r in recorded.references
        ],
        "own": _own(recorded.own),
    }
    return json.dumps(whole, indent=1, sort_keys=True)


def _own(own: OwnCode) -> dict[str, object]:
    sets = {name: sorted(getattr(own, name)) for name in ("operators", "words", "functions", "kernels")}
    return {**sets, "numbers": {name: dtype.value for name, dtype in sorted(own.numbers.items())}}


def _answer(expected: Expected, tensors: Tensors) -> dict[str, object]:
    given, built = expected.arguments, expected.construction
    return {
        "workload": expected.workload.name,
        "outputs": _outputs(expected.outputs, tensors),
        "yardstick": _outputs(expected.yardstick, tensors) if expected.yardstick else None,
        "by_chance": sorted(expected.by_chance),
        "single": sorted(expected.single),
        "arguments": None if given is None else [_value(value, tensors) for value in given],
        "decides": expected.decides,
        "largest_term": expected.largest_term,
        "construction": None if built is None else {"initial": built.initial, "state": list(built.state)},
    }


def _outputs(outputs: Outputs, tensors: Tensors) -> dict[str, object]:
    named = [{"name": name} | _value(value, tensors) for name, value in outputs.tensors]
    return {"tensors": named, "text": outputs.text, "exit_code": outputs.exit_code}


def _value(value: Value, tensors: Tensors) -> dict[str, object]:
    if isinstance(value, ScalarValue):
        return {"scalar": value.value}
    if value.null:
        return {"null": value.dtype.value}
    return {"dtype": value.dtype.value, "shape": list(value.shape), "file": tensors.keep(value.storage)}


def golden(text: str, contracts: Sequence[Contract], tensors: Tensors) -> Golden:
    """Returns what was recorded. Raises `KeyError`, `TypeError` or `ValueError` for text that no `record` wrote."""
    whole = _Fields.of(json.loads(text))
    if whole.number("version") != _VERSION:
        raise ValueError("its version is another")
    entries = zip(contracts, whole.rows("entries"), strict=True)
    return Golden(
        whole.text("original"),
        tuple(_Read(contract, tensors).reference(entry) for contract, entry in entries),
        whole.number("seed"),
        whole.text("fidelity"),
        whole.text("left_out"),
        {name: str(value) for name, value in whole.table("environment").fields.items()},
        _own_code(whole.table("own")),
    )


def _construction(built: _Fields) -> Construction:
    return Construction(built.text("initial"), built.strings("state"))


def _own_code(own: _Fields) -> OwnCode:
    return OwnCode(
        operators=frozenset(own.strings("operators")),
        words=frozenset(own.strings("words")),
        functions=frozenset(own.strings("functions")),
        kernels=frozenset(own.strings("kernels")),
        numbers={name: DType(str(dtype)) for name, dtype in own.table("numbers").fields.items()},
    )


@dataclass(frozen=True, slots=True)
class _Read:
    """Answers to one contract."""

    contract: Contract
    tensors: Tensors

    def reference(self, entry: _Fields) -> Reference:
        expected = tuple(map(self.expected, entry.rows("answers")))
        launched, habits = entry.strings("launched"), frozenset(map(FaultKind, entry.strings("habits")))
        found = tuple(
            lookup(f.text("code"), core_catalogue()).at(None, f.text("message")) for f in entry.rows("findings")
        )
        return Reference(self.contract, expected, found, True, True, "", 0.0, launched=launched, habits=habits)

    def expected(self, answer: _Fields) -> Expected:
        workload = next(w for w in self.contract.workloads if w.name == answer.text("workload"))
        return Expected(
            workload=workload,
            outputs=self.outputs(answer.table("outputs")),
            yardstick=self.outputs(answer.table("yardstick")) if answer.has("yardstick") else None,
            by_chance=frozenset(answer.strings("by_chance")),
            single=frozenset(answer.strings("single") if answer.has("single") else ()),
            arguments=tuple(map(self.value, answer.rows("arguments"))) if answer.has("arguments") else None,
            decides=bool(answer.number("decides")),
            largest_term=answer.real("largest_term"),
            construction=_construction(answer.table("construction")) if answer.has("construction") else None,
        )

    def outputs(self, outputs: _Fields) -> Outputs:
        tensors = tuple((row.text("name"), self.tensor(row)) for row in outputs.rows("tensors"))
        return Outputs(tensors, outputs.text("text"), outputs.number("exit_code"))

    def value(self, row: _Fields) -> Value:
        if not row.has("scalar"):
            return self.tensor(row)
        scalar = row.real("scalar")
        return ScalarValue(int(scalar) if isinstance(row.fields["scalar"], int) else scalar)

    def tensor(self, row: _Fields) -> TensorValue:
        if row.has("null"):
            return TensorValue.none(DType(row.text("null")))
        shape = tuple(int(extent) for extent in row.strings("shape"))
        return self.tensors.value(DType(row.text("dtype")), shape, row.text("file"))


@dataclass(frozen=True, slots=True)
class _Fields:
    """A JSON object; what is asked of it and not there raises `KeyError`, what is of another type `TypeError`."""

    fields: Mapping[str, object]

    @classmethod
    def of(cls, value: object) -> _Fields:
        if not isinstance(value, dict):
            raise TypeError(f"{value!r} is not an object")
        return cls(value)

    def has(self, key: str) -> bool:
        return self.fields.get(key) is not None

    def text(self, key: str) -> str:
        return str(self.fields[key])

    def number(self, key: str) -> int:
        return int(self.real(key))

    def real(self, key: str) -> float:
        value = self.fields[key]
        if not isinstance(value, (int, float)):
            raise TypeError(f"{key} is not a number")
        return value

    def table(self, key: str) -> _Fields:
        return _Fields.of(self.fields[key])

    def rows(self, key: str) -> Iterator[_Fields]:
        return map(_Fields.of, self._items(key))

    def strings(self, key: str) -> tuple[str, ...]:
        return tuple(map(str, self._items(key)))

    def _items(self, key: str) -> list[object]:
        value = self.fields[key]
        if not isinstance(value, list):
            raise TypeError(f"{key} is not a list")
        return value
