"""C++ types as element types."""

from __future__ import annotations

import re
from collections.abc import Mapping

from porter.contract.dtype import DType
from porter.source.qualified import unqualified

_NAMED: Mapping[str, DType] = {
    "float": DType.FLOAT32, "double": DType.FLOAT64, "half": DType.FLOAT16, "__half": DType.FLOAT16,
    "Half": DType.FLOAT16, "__nv_bfloat16": DType.BFLOAT16, "nv_bfloat16": DType.BFLOAT16, "BFloat16": DType.BFLOAT16,
    "bool": DType.BOOL, "char": DType.INT8, "signed char": DType.INT8, "unsigned char": DType.UINT8,
    "uchar": DType.UINT8, "int8_t": DType.INT8, "uint8_t": DType.UINT8, "short": DType.INT16, "int16_t": DType.INT16,
    "unsigned short": DType.UINT16, "ushort": DType.UINT16, "uint16_t": DType.UINT16, "int": DType.INT32,
    "int32_t": DType.INT32,
    "signed": DType.INT32, "unsigned": DType.UINT32, "unsigned int": DType.UINT32,
    "uint": DType.UINT32, "uint32_t": DType.UINT32, "long": DType.INT64, "long long": DType.INT64,
    "size_t": DType.UINT64,
    "long long int": DType.INT64, "long int": DType.INT64, "int64_t": DType.INT64, "uint64_t": DType.UINT64,
    "unsigned long": DType.UINT64, "unsigned long long": DType.UINT64, "unsigned long long int": DType.UINT64,
    "half2": DType.FLOAT16, "__half2": DType.FLOAT16, "__nv_bfloat162": DType.BFLOAT16, "nv_bfloat162": DType.BFLOAT16,
    "void": DType.FLOAT32, "byte": DType.UINT8, "__nv_fp8_storage_t": DType.UINT8,
    "__nv_fp8_e4m3": DType.FLOAT8_E4M3FN, "__nv_fp8_e5m2": DType.FLOAT8_E5M2,
    "__nv_fp8x2_e4m3": DType.FLOAT8_E4M3FN, "__nv_fp8x2_e5m2": DType.FLOAT8_E5M2,
    "__nv_fp8x4_e4m3": DType.FLOAT8_E4M3FN, "__nv_fp8x4_e5m2": DType.FLOAT8_E5M2,
}  # fmt: skip
_TORCH: Mapping[str, DType] = {
    "Float32": DType.FLOAT32, "Float": DType.FLOAT32, "Half": DType.FLOAT16, "Float16": DType.FLOAT16,
    "BFloat16": DType.BFLOAT16, "Double": DType.FLOAT64, "Float64": DType.FLOAT64, "Int": DType.INT32,
    "Int32": DType.INT32, "Long": DType.INT64, "Int64": DType.INT64, "Bool": DType.BOOL, "Byte": DType.UINT8,
    "UInt8": DType.UINT8, "Char": DType.INT8, "Int8": DType.INT8, "Short": DType.INT16, "Int16": DType.INT16,
    "Float8_e4m3fn": DType.FLOAT8_E4M3FN, "Float8_e5m2": DType.FLOAT8_E5M2,
}  # fmt: skip
_VECTOR = re.compile(r"(u?(?:char|short|int|long|longlong)|float|double)[1234]$")
_TORCH_NAME = re.compile(r"\bk([A-Z]\w*)|ScalarType::(\w+)")


def element_type(base: str) -> DType | None:
    """The element type behind a pointer to `base`, the scalar for a vector type; None for other names."""
    plain = " ".join(unqualified(w) for w in base.split() if w not in ("const", "volatile", "struct"))
    if plain in _NAMED:
        return _NAMED[plain]
    vector = _VECTOR.match(plain)
    if vector is not None:
        scalar = vector.group(1)
        return _NAMED["unsigned " + scalar[1:] if scalar[0] == "u" else "long" if scalar == "longlong" else scalar]
    return None


def torch_type(text: str) -> DType | None:
    """The first element type torch code names: `torch::kFloat32`, `at::ScalarType::Half`."""
    for match in _TORCH_NAME.finditer(text):
        found = _TORCH.get(match.group(1) or match.group(2))
        if found is not None:
            return found
    return None
