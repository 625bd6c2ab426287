"""Translates C++ types to element types."""

from __future__ import annotations

import re
from collections.abc import Mapping

from porter.contract.model.dtype import DType
from porter.source.arithmetic_types import Kind, arithmetic
from porter.source.qualified import unqualified

_BY_KIND: Mapping[tuple[Kind, int], DType] = {
    (Kind.BOOL, 1): DType.BOOL, (Kind.FLOAT, 4): DType.FLOAT32, (Kind.FLOAT, 8): DType.FLOAT64,
    (Kind.SIGNED, 1): DType.INT8, (Kind.SIGNED, 2): DType.INT16, (Kind.SIGNED, 4): DType.INT32,
    (Kind.SIGNED, 8): DType.INT64, (Kind.UNSIGNED, 1): DType.UINT8, (Kind.UNSIGNED, 2): DType.UINT16,
    (Kind.UNSIGNED, 4): DType.UINT32, (Kind.UNSIGNED, 8): DType.UINT64,
}  # fmt: skip
_NARROW_FLOATS: Mapping[str, DType] = {
    "__half": DType.FLOAT16, "__nv_bfloat16": DType.BFLOAT16, "__nv_fp8_e4m3": DType.FLOAT8_E4M3FN,
    "__nv_fp8_e5m2": DType.FLOAT8_E5M2,
}  # fmt: skip
# What is read as its elements, and what nobody says the type of.
_OTHERS: Mapping[str, DType] = {
    "half2": DType.FLOAT16, "__half2": DType.FLOAT16, "__nv_bfloat162": DType.BFLOAT16, "nv_bfloat162": DType.BFLOAT16,
    "__nv_fp8x2_e4m3": DType.FLOAT8_E4M3FN, "__nv_fp8x2_e5m2": DType.FLOAT8_E5M2,
    "__nv_fp8x4_e4m3": DType.FLOAT8_E4M3FN, "__nv_fp8x4_e5m2": DType.FLOAT8_E5M2,
    "void": DType.FLOAT32,
}  # fmt: skip
_TORCH: Mapping[str, DType] = {
    "Float32": DType.FLOAT32, "Float": DType.FLOAT32, "Half": DType.FLOAT16, "Float16": DType.FLOAT16,
    "BFloat16": DType.BFLOAT16, "Double": DType.FLOAT64, "Float64": DType.FLOAT64, "Int": DType.INT32,
    "Int32": DType.INT32, "Long": DType.INT64, "Int64": DType.INT64, "Bool": DType.BOOL, "Byte": DType.UINT8,
    "UInt8": DType.UINT8, "Char": DType.INT8, "Int8": DType.INT8, "Short": DType.INT16, "Int16": DType.INT16,
    "Float8_e4m3fn": DType.FLOAT8_E4M3FN, "Float8_e5m2": DType.FLOAT8_E5M2, "UInt16": DType.UINT16,
    "UInt32": DType.UINT32, "UInt64": DType.UINT64, "U8": DType.UINT8, "I8": DType.INT8, "I16": DType.INT16,
    "I32": DType.INT32, "I64": DType.INT64, "F16": DType.FLOAT16, "F32": DType.FLOAT32, "F64": DType.FLOAT64,
}  # fmt: skip
_VECTOR = re.compile(r"(u?(?:char|short|int|longlong|long)|float|double)[1234]")
_TORCH_NAME = re.compile(r"\bk([A-Z]\w*)|ScalarType::(\w+)")


def element_type(base: str) -> DType | None:
    """Returns the element type behind a pointer to `base`, the scalar for a vector type; None for other names."""
    plain = " ".join(unqualified(w) for w in base.split() if w not in ("const", "volatile", "struct"))
    if plain in _OTHERS:
        return _OTHERS[plain]
    vector = _VECTOR.fullmatch(plain)
    number = arithmetic(_vector_element(vector[1]) if vector else plain)
    if number is None:
        return None
    return _NARROW_FLOATS.get(number.name) or _BY_KIND.get((number.kind, number.bytes))


def _vector_element(stem: str) -> str:
    """Returns the element type of `uint4` and `longlong2`, by the stem of their names."""
    return {"longlong": "long long", "ulonglong": "unsigned long long"}.get(stem, stem)


def torch_type(text: str) -> DType | None:
    """Returns the first element type torch code names: `torch::kFloat32`, `at::ScalarType::Half`."""
    for match in _TORCH_NAME.finditer(text):
        found = _TORCH.get(match.group(1) or match.group(2))
        if found is not None:
            return found
    return None


def torch_constant(name: str) -> DType | None:
    """Returns the element type of a constant of torch's, by its name alone: `kHalf`, `ScalarType::Half`."""
    named = _TORCH_NAME.fullmatch(name)
    return _TORCH.get(named[1] or named[2]) if named else None
