"""Writes the winner of a search for flashinfer-bench: a Definition, a Solution and its Workloads, as plain JSON.

A Definition needs a reference in Python. It is written from the formula of the CUDA source, if that was compared with
the source on the contract's workloads; the text is then compared with the formula: `flashinfer_reference.py`.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from porter import __version__
from porter.contract.model.contract import (
    Contract,
    Distribution,
    EntryKind,
    Role,
    ScalarArg,
    TensorArg,
    Values,
    Workload,
)
from porter.contract.model.dtype import DType
from porter.contract.model.expressions import evaluate, names_in
from porter.errors import InputError
from porter.evolve.candidate import File
from porter.ir.tensor.program import TensorProgram
from porter.writing.document import Json

_TYPES = frozenset((
    DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16, DType.FLOAT8_E4M3FN, DType.FLOAT8_E5M2, DType.INT64, DType.INT32,
    DType.INT16, DType.INT8, DType.BOOL,
))  # fmt: skip
_CALL = re.compile(r"\w+\s*\(|[?&|]")
_SCALARS = {"float": "float32", "double": "float32", "bool": "bool"}  # all others are whole numbers
_SPACE = uuid.UUID("6f6f2a0e-5b5e-4b58-9a40-6a3c1f1d7f10")  # of porter's workloads


@dataclass(frozen=True)
class Interface:
    """A contract in the words of a definition: inputs, outputs, and where each size is found.

    Scalars that are sizes are not inputs: shapes give them.
    """

    contract: Contract
    program: TensorProgram

    @property
    def tensors(self) -> tuple[TensorArg, ...]:
        """Returns the tensors that are given."""
        return tuple(one for one in self.contract.tensors if one.role is Role.IN)

    @property
    def scalars(self) -> tuple[ScalarArg, ...]:
        """Returns the numbers that are given, and that no shape says."""
        numbers = (one for one in self.contract.arguments if isinstance(one, ScalarArg))
        return tuple(one for one in numbers if not names_in(one.value))

    @property
    def inputs(self) -> tuple[str, ...]:
        """Returns the names of what is given, in the order of the call."""
        given = {one.name for one in self.tensors} | {one.name for one in self.scalars}
        return tuple(one.name for one in self.contract.arguments if one.name in given)

    @property
    def is_returned(self) -> bool:
        """Returns whether the outputs are returned, not written into arguments."""
        return self.contract.entry.kind is EntryKind.TORCH and not self._written

    @property
    def outputs(self) -> tuple[str, ...]:
        """Returns the names of the outputs."""
        return tuple(one.name for one in self.program.outputs)

    @property
    def sizes(self) -> Mapping[str, str]:
        """Returns for each symbol that is an axis, and each number that is given, the Python that has it."""
        places = ((text, f"{one.name}.shape[{axis}]") for one in self.tensors for axis, text in enumerate(one.shape))
        known = {text: place for text, place in reversed(tuple(places)) if text in self.contract.symbols}
        return {**known, **{one.name: one.name for one in self.scalars}}

    @property
    def _written(self) -> tuple[TensorArg, ...]:
        return tuple(one for one in self.contract.tensors if one.role is not Role.IN)

    def check(self) -> None:
        """Raises `InputError` for what flashinfer-bench has no words for."""
        name = self.contract.name
        for one in self.contract.tensors:
            if one.role is Role.INOUT:
                raise InputError(f"{name}: {one.name} is read and written, and a definition has no such argument")
            if one.dtype not in _TYPES:
                raise InputError(f"{name}: {one.name} is of {one.dtype}, which a definition cannot express")
            if one.optional or one.elements:
                raise InputError(
                    f"{name}: {one.name} may be missing, or holds sizes, which a definition cannot express"
                )
        known = {text for one in self.tensors for text in one.shape}
        for output in self.program.outputs:
            for text in output.shape:
                if not text.isdigit() and text not in known:
                    raise InputError(f"{name}: no axis of an input is {text or 'known'}, which {output.name} has")

    def arguments(self) -> Iterator[str]:
        """Yields what the port is called with, as Python. Raises `InputError` for a size that no axis says."""
        for one in self.contract.arguments:
            if isinstance(one, TensorArg) or not names_in(one.value):
                yield one.name
                continue
            if missing := names_in(one.value) - self.sizes.keys():
                raise InputError(f"{self.contract.name}: no axis of an input is {min(missing)}, which {one.name} needs")
            if _CALL.search(one.value):
                raise InputError(f"{self.contract.name}: {one.name} is {one.value}, which is no Python")
            yield one.value.replace("/", "//")


def definition(face: Interface, reference: str, told: str) -> Json:
    """Returns a Definition whose reference is the text of `reference`; `told` says how it was checked."""
    contract = face.contract
    shapes = [text for one in face.tensors for text in one.shape]
    shapes += [text for one in face.program.outputs for text in one.shape]
    given = {one.name: _tensor(one.shape, one.dtype) for one in face.tensors}
    given |= {one.name: {"shape": None, "dtype": _scalar_type(one)} for one in face.scalars}
    axes: Json = {_axis(text): _axis_of(text) for text in dict.fromkeys(shapes)}
    outputs: Json = {one.name: _tensor(one.shape, one.dtype) for one in face.program.outputs}
    return {
        "name": contract.name,
        "op_type": _word(contract.category),
        "axes": axes,
        "inputs": {name: given[name] for name in face.inputs},
        "outputs": outputs,
        "reference": reference,
        "tags": ["from:cuda", f"by:porter-{__version__}"],
        "description": told,
        "constraints": list(_constraints(contract)),
    }


def solution(face: Interface, files: Sequence[File], function: str, name: str, told: str) -> Json:
    """Returns a Solution: the port, in Triton, and a function that calls it as the definition says."""
    called = ", ".join(face.arguments())
    sizes = [f"    {symbol} = {place}\n" for symbol, place in face.sizes.items() if symbol != place]
    taken = ", ".join(face.inputs if face.is_returned else (*face.inputs, *face.outputs))
    module = files[0].name.removesuffix(".py").replace("/", ".")
    verb = "return " if face.is_returned else ""
    main = f"from .{module} import {function}\n\n\ndef run({taken}):\n{''.join(sizes)}    {verb}{function}({called})\n"
    sources: list[Json] = [{"path": file.name, "content": file.text} for file in files]
    return {
        "name": name,
        "definition": face.contract.name,
        "author": f"porter {__version__}",
        "spec": {
            "language": "triton",
            "target_hardware": ["cuda"],
            "entry_point": "main.py::run",
            "dependencies": [],
            "destination_passing_style": not face.is_returned,
        },
        "sources": [{"path": "main.py", "content": main}, *sources],
        "description": told,
    }


def workloads(face: Interface) -> Iterator[Json]:
    """Yields the workloads whose inputs random numbers are, each as a Trace without a solution."""
    for one in face.contract.workloads:
        if not _is_plain(one) or any(tensor.values is not Values.NORMAL for tensor in face.tensors):
            continue
        shapes = [text for tensor in face.tensors for text in tensor.shape if not text.isdigit()]
        scalars = {
            scalar.name: {"type": "scalar", "value": _number(one.scalars.get(scalar.name, float(scalar.value)), scalar)}
            for scalar in face.scalars
        }
        given: dict[str, Json] = {**{tensor.name: {"type": "random"} for tensor in face.tensors}, **scalars}
        named = f"{face.contract.name} {one.name} {sorted(one.sizes.items())}"
        axes: Json = {_axis(text): evaluate(text, one.sizes) for text in dict.fromkeys(shapes)}
        workload: Json = {"axes": axes, "inputs": given, "uuid": str(uuid.uuid5(_SPACE, named))}
        yield {"definition": face.contract.name, "workload": workload}


def data_set(face: Interface, reference: str, files: Sequence[File], function: str, told: str) -> Mapping[str, str]:
    """Returns the files of a folder that flashinfer-bench reads as a TraceSet. Raises `InputError` if it cannot."""
    face.check()
    name, kind = face.contract.name, _word(face.contract.category)
    solved = f"{name}_porter"
    texts = {
        f"definitions/{kind}/{name}.json": json.dumps(definition(face, reference, told), indent=2) + "\n",
        f"solutions/{kind}/{name}/{solved}.json": json.dumps(solution(face, files, function, solved, told), indent=2)
        + "\n",
    }
    if lines := [json.dumps(one) for one in workloads(face)]:
        texts[f"workloads/{kind}/{name}.jsonl"] = "\n".join(lines) + "\n"
    return texts


def _is_plain(one: Workload) -> bool:
    changed = one.dtypes or one.layouts or one.axes or one.scale != 1.0
    return not changed and one.distribution is Distribution.DECLARED


def _number(value: float, scalar: ScalarArg) -> float | int | bool:
    if scalar.type == "bool":
        return bool(value)
    return value if scalar.type in _SCALARS else int(value)


def _scalar_type(scalar: ScalarArg) -> str:
    return _SCALARS.get(scalar.type, "int64" if "64" in scalar.type or "long" in scalar.type else "int32")


def _tensor(shape: Sequence[str], dtype: DType) -> Json:
    return {"shape": [_axis(text) for text in shape], "dtype": dtype.value}


def _axis(text: str) -> str:
    return f"of_{text}" if text.isdigit() else _word(text)


def _axis_of(text: str) -> Json:
    return {"type": "const", "value": int(text)} if text.isdigit() else {"type": "var"}


def _word(text: str) -> str:
    return re.sub(r"\W+", "_", text).strip("_") or "other"


def _constraints(contract: Contract) -> Iterator[str]:
    """Yields the conditions that Python reads as C does."""
    for one in contract.conditions:
        if not _CALL.search(one) and "!" not in one.replace("!=", ""):
            yield one.replace("/", "//")
