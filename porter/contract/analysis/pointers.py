"""Finds the buffer that an expression points into, and the names of a function that point into one."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from porter.contract.analysis.body import Body
from porter.contract.model.syntax import Binary, Call, Cast, Member, Name, Node, Subscript, Unary
from porter.source.arithmetic_types import arithmetic
from porter.source.program import CType

COPIES = frozenset(("cudaMemcpy", "cudaMemcpyAsync", "memcpy"))
_ACCESSORS = ("packed_accessor32", "packed_accessor64", "packed_accessor", "generic_packed_accessor", "accessor")
_POINTERS = ("data_ptr", "mutable_data_ptr", "const_data_ptr", "data", *_ACCESSORS)
_VIEWS = frozenset((*_POINTERS, "contiguous", "flatten", "view", "reshape", "value", "get", "clone", "to", "detach"))
_ACCESSOR = re.compile(r"Accessor\w*\s*<\s*(?:const\s+)?([\w:\s]+?)\s*[,>]")
_CHAIN = 3  # an alias of an alias of an alias


def is_buffer(type_: CType) -> bool:
    """Returns whether a parameter of this type, aliases followed, is a tensor, a pointer or an accessor."""
    return type_.pointers > 0 or "Tensor" in type_.base or "Accessor" in type_.base


def is_words(type_: CType) -> bool:
    """Returns whether it is `char**`, the words that a program is run with."""
    return type_.base == "char" and type_.pointers > 1


def root(node: Node) -> str:
    """Returns the name a pointer expression points into: `x` for `(float4*)(x + i)`, `&x[i]`, `x.data_ptr<float>()`."""
    match node:
        case Name(name):
            return name
        case Cast(_, operand) | Unary("&", operand):
            return root(operand)
        case Subscript(owner, _):
            return root(owner)
        case Binary("+" | "-", left, right):
            return root(left) or root(right)
        case Call(Member(owner, name), _) if name in _VIEWS:
            return root(owner)
        case Member(owner, name) if name in _VIEWS:
            return root(owner)
        case _:
            return ""


def viewed(node: Node) -> Node:
    """Returns the tensor of which `node` is an accessor, which has its sizes; else `node`."""
    match node:
        case Call(Member(owner, name), ()) if name in _ACCESSORS:
            return owner
        case _:
            return node


def root_of(node: Node | None) -> str:
    """Returns `root`, of text that may not be an expression."""
    return root(node) if node is not None else ""


def is_integer(base: str) -> bool:
    """Returns whether values of a type, aliases followed, can be indices."""
    number = arithmetic(base)
    return number is not None and number.is_integer


def holds_integers(base: str) -> bool:
    """Returns whether the elements of a buffer of this type, or what an accessor is of, can be indices."""
    accessor = _ACCESSOR.search(base)
    return is_integer(accessor.group(1) if accessor else base)


def aliases(body: Body, buffers: Collection[str]) -> dict[str, str]:
    """Returns every name in `body` that points into one of `buffers`, and which."""
    owner = {name: name for name in buffers}
    for _ in range(_CHAIN):
        for name, nodes in body.definitions.items():
            found = next((owner[r] for n in nodes if _is_pointer(n, owner) and (r := root(n)) in owner), None)
            if found is not None and name not in owner:
                owner[name] = found
        for callee, arguments in body.calls:
            if callee in COPIES and len(arguments) > 2:
                _copied(owner, root_of(arguments[0]), root_of(arguments[1]))
    return owner


def _copied(owner: dict[str, str], target: str, origin: str) -> None:
    """Takes what is copied into a buffer, or out of one, for that buffer."""
    if origin in owner and target and target not in owner:
        owner[target] = owner[origin]
    elif target in owner and origin and origin not in owner:
        owner[origin] = owner[target]


def _is_pointer(node: Node, owner: Mapping[str, str]) -> bool:
    """Returns whether a definition makes a pointer or tensor, not a value read through one."""
    match node:
        case Subscript():
            return False
        case Unary("*", _):
            return False
        case Cast(type_, operand):
            return "*" in type_ or _is_pointer(operand, owner)
        case Binary(operator, left, right):
            return operator in "+-" and (_is_pointer(left, owner) or _is_pointer(right, owner))
        case Name(name):
            return name in owner
        case _:
            return root(node) in owner
