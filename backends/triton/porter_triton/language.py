"""Lists the names of Triton's language that a kernel may use: a positive list, made from the language itself.

The process that plans finds what a name stands for by its identity (`names_of`), the one that rebuilds kernels looks
the name up here again (`member`): names that are not listed have no place in a kernel.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import ModuleType

import triton
import triton.language as tl
from triton.language.extra import libdevice

LANGUAGE = "tl"
_SPACES = {"tl": tl, "tl.math": tl.math, "libdevice": libdevice}
# Members of the language that are no part of it: what its own implementation is made of, and what takes other code.
_NOT_LISTED = frozenset((
    "builtin", "constexpr_function", "must_use_result", "tensor", "str_to_ty", "ir", "semantic", "core", "standard",
    "TYPE_CHECKING", "wraps", "check_bit_width", "dispatch",
))  # fmt: skip
# Methods and attributes of tensors, types and descriptors come from their classes; these are the compiler's own.
_NOT_MEMBERS = frozenset(("handle", "to_ir", "mangle", "cache_key_part", "codegen_name", "get_int_max_value"))
_OF_VALUES = frozenset(
    ("value", "index", "count", "type", "shape", "dtype", "T", "numel", "element_ty", "scalar", "values")
)
BUILTINS = frozenset(
    [
        "range",
        "min",
        "max",
        "len",
        "abs",
        "float",
        "int",
        "bool",
        "isinstance",
        "tuple",
        "print",
        "list",
        "zip",
        "enumerate",
        "sum",
        "round",
        "str",
        "slice",
        "any",
        "all",
    ]
)


def _is_changeable(value: object) -> bool:
    """Returns True for a table of the language's own: who gets hold of one may change what types are."""
    return isinstance(value, (list, dict, set))


def _listed(space: str) -> Iterator[str]:
    for name, value in vars(_SPACES[space]).items():
        if not name.startswith("_") and name not in _NOT_LISTED and not isinstance(value, ModuleType):
            yield name


MEMBERS = {space: frozenset(_listed(space)) for space in _SPACES}
_TRITON = {"triton.cdiv": triton.cdiv, "triton.next_power_of_2": triton.next_power_of_2}
ATTRIBUTES = (
    frozenset(
        name
        for kind in (
            tl.float32,
            tl.tensor,
            tl.dtype,
            tl.pointer_type,
            tl.block_type,
            tl.core.tensor_descriptor_base,
            tl.constexpr,
            tl.tuple,
        )
        for name in dir(kind)
        if not name.startswith("_") and name not in _NOT_MEMBERS and not _is_changeable(getattr(kind, name, None))
    )
    | _OF_VALUES
    | frozenset(tl.PropagateNan.__members__)
)


def names_of() -> dict[int, str]:
    """Returns the paths of what is listed, by identity. Members of one function have the first path."""
    found: dict[int, str] = {}
    for path, value in _TRITON.items():
        found.setdefault(id(value), path)
    for space, names in MEMBERS.items():
        for name in sorted(names):
            value = inspect.getattr_static(_SPACES[space], name)
            if not isinstance(value, (int, float, str, bool, type(None))):
                found.setdefault(id(value), f"{space}.{name}")
    for variant in _libdevices():
        for name in sorted(MEMBERS["libdevice"]):
            if (value := getattr(variant, name, None)) is not None:
                found.setdefault(id(value), f"libdevice.{name}")
    return found


def _libdevices() -> Iterator[ModuleType]:
    """Yields libdevice as each target spells it: a call is resolved for the target of the kernel."""
    from triton.language.extra.cuda import libdevice as cuda  # noqa: PLC0415 - a target's own need not be there
    from triton.language.extra.hip import libdevice as hip  # noqa: PLC0415

    yield from (cuda, hip)


def is_listed(path: str) -> bool:
    """Returns True for the path of a member that a kernel may use."""
    space, _, name = path.rpartition(".")
    return path in _TRITON or path == LANGUAGE or (space in MEMBERS and name in MEMBERS[space])


def member(path: str) -> object:
    """Returns what `path` names now; raises `KeyError` for what is not listed."""
    if not is_listed(path):
        raise KeyError(path)
    if path == LANGUAGE:
        return tl
    space, _, name = path.rpartition(".")
    return _TRITON[path] if path in _TRITON else getattr(_SPACES[space], name)
