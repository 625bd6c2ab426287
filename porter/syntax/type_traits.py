"""Computes what the standard library and PyTorch make of types: functions from types to types, questions about them."""

from __future__ import annotations

from collections.abc import Callable, Container

from porter.source.arithmetic_types import Kind, arithmetic
from porter.source.dispatch import cpp_type
from porter.source.qualified import unqualified
from porter.syntax.nodes import Binary, Call, Cast, Choice, Expression, Literal, Name, SizeOf, TypeName, Unary
from porter.syntax.type_names import VECTORS

Argument = TypeName | Expression
_SAME = frozenset((
    "remove_const", "remove_volatile", "remove_cv", "remove_reference", "remove_cvref", "decay", "add_const",
    "type_identity", "identity", "underlying_type", "unwrap_reference",
))  # fmt: skip
_OF_TORCH = frozenset((
    "Tensor", "TensorAccessor", "PackedTensorAccessor", "PackedTensorAccessor32", "PackedTensorAccessor64",
    "GenericPackedTensorAccessor",
))  # fmt: skip
_COMPLEX = {"cuComplex": "float2", "cuFloatComplex": "float2", "cuDoubleComplex": "double2"}
_ACCUMULATORS = frozenset(("acc_type", "acc_type_device", "opmath_type", "OpMathType"))
_OF_CONSTANTS = frozenset(("ScalarTypeToCPPType", "ScalarTypeToCPPTypeT"))
_SIGNED = {
    "unsigned char": "signed char", "char": "signed char", "unsigned short": "short", "unsigned int": "int",
    "unsigned long": "long", "unsigned long long": "long long", "unsigned __int128": "__int128",
}  # fmt: skip
_UNSIGNED = {signed: unsigned for unsigned, signed in _SIGNED.items() if unsigned != "char"} | {"char": "unsigned char"}
_QUESTIONS = frozenset(
    ("is_same", "is_integral", "is_floating_point", "is_arithmetic", "is_signed", "is_unsigned", "is_pointer")
)


def named_by_library(name: str, given: tuple[Argument, ...], classes: Container[str] = ()) -> TypeName | None:
    """Returns what `std::conditional_t<test, A, B>` and its like are, their arguments followed, CUDA's complex numbers,
    and PyTorch's tensors and accessors, which are what they are called; None for other names.

    `classes` are those of the program, by their whole names.
    """
    if name in _COMPLEX:
        return TypeName(_COMPLEX[name])
    if unqualified(name) in _OF_TORCH:
        return TypeName(name, given)
    if name == "decltype":
        return _of_expression(given[0]) if given else None
    plain = name.removesuffix("::type").rpartition("::")[2].removesuffix("_t")
    types = [a for a in given if isinstance(a, TypeName)]
    if plain in _OF_CONSTANTS and len(given) == 1:
        return _of_constant(given[0])
    if plain == "conditional" and len(given) == 3:
        return _chosen(given, classes)
    if plain == "enable_if" and given:
        return types[-1] if len(given) == 2 and isinstance(given[1], TypeName) else TypeName("void")
    if not types or types[0] is not given[0] or not _is_known(types[0], classes):
        return None
    if plain in _SAME:
        return TypeName(types[0].name, types[0].arguments, types[0].pointers)
    if plain == "remove_pointer":
        return TypeName(types[0].name, types[0].arguments, max(0, types[0].pointers - 1))
    if plain == "common_type":
        return types[0] if all(t == types[0] for t in types) and len(types) == len(given) else None
    if plain in ("make_signed", "make_unsigned") and not types[0].pointers:
        table = _SIGNED if plain == "make_signed" else _UNSIGNED
        return TypeName(table.get(types[0].name, types[0].name))
    return _accumulator(plain, types[0])


def _is_known(kind: TypeName, classes: Container[str] = ()) -> bool:
    """Returns whether a followed argument came to an end: what did not keeps its own name, which may be a
    parameter's.
    """
    return arithmetic(kind.name) is not None or kind.name in VECTORS or kind.name in classes


def _chosen(given: tuple[Argument, ...], classes: Container[str]) -> TypeName | None:
    test, yes, no = given
    told = test.value if isinstance(test, Literal) else None
    if isinstance(yes, TypeName) and yes == no:
        return yes
    chosen = yes if told else no
    return chosen if told is not None and isinstance(chosen, TypeName) and _is_known(chosen, classes) else None


def _of_constant(argument: Argument) -> TypeName | None:
    """Returns the type that `c10::impl::ScalarTypeToCPPTypeT<at::kHalf>` is."""
    found = cpp_type(argument.name) if isinstance(argument, TypeName | Name) else None
    return None if found is None else TypeName(found)


def _accumulator(plain: str, kind: TypeName) -> TypeName | None:
    """`at::acc_type` of floats, `at::opmath_type` of any: 16 bits are computed with in 32."""
    number = arithmetic(kind.name)
    if plain not in _ACCUMULATORS or number is None or kind.pointers:
        return None
    if number.is_float:
        return TypeName("float") if number.bytes < 4 else kind
    return kind if plain.lower().startswith("opmath") else None


def _of_expression(expression: Argument) -> TypeName | None:
    """`decltype(sizeof(int))`, of a literal and of a conversion; None for other expressions."""
    match expression:
        case SizeOf():
            return TypeName("unsigned long")
        case Literal(_, type_) if (number := arithmetic(type_)) is not None:
            return TypeName(number.name)
        case Cast(_, kind, _) if (number := arithmetic(kind.name)) is not None and not kind.pointers:
            return TypeName(number.name)
        case _:
            return None


def truth_of(node: Expression, followed: Callable[[Argument], Argument]) -> int | None:
    """The number that a constant expression about types is: `sizeof(T) == 2`; None where it is not known.

    `followed` gives what a type or a name within it means.
    """
    match node:
        case Literal(int() as value, _):
            return int(value)
        case Name(_, ()):
            meant = followed(node)
            return int(meant.value) if isinstance(meant, Literal) and isinstance(meant.value, int) else None
        case Name(name, given) | Call(Name(name, given), ()):
            return _answer(name, tuple(map(followed, given)))
        case SizeOf(of) if isinstance(of, TypeName):
            return _size(followed(of))
        case Unary(operator, operand):
            told = truth_of(operand, followed)
            return {"!": int(not told), "-": -told, "+": told}.get(operator) if told is not None else None
        case Binary(operator, left, right):
            return _compared(operator, truth_of(left, followed), truth_of(right, followed))
        case Choice(condition, yes, no):
            told = truth_of(condition, followed)
            return None if told is None else truth_of(yes if told else no, followed)
        case _:
            return None


def _compared(operator: str, left: int | None, right: int | None) -> int | None:
    if operator in ("&&", "||") and None in (left, right):
        decided = 0 if operator == "&&" else 1  # one side may settle it
        return decided if any(side is not None and bool(side) == bool(decided) for side in (left, right)) else None
    if left is None or right is None:
        return None
    match operator:
        case "==" | "!=":
            return int((left == right) == (operator == "=="))
        case "<" | ">=":
            return int((left < right) == (operator == "<"))
        case ">" | "<=":
            return int((left > right) == (operator == ">"))
        case "&&":
            return int(bool(left and right))
        case "||":
            return int(bool(left or right))
        case "+" | "-" | "*":
            return {"+": left + right, "-": left - right, "*": left * right}[operator]
        case _:
            return None


def _size(kind: Argument) -> int | None:
    if not isinstance(kind, TypeName):
        return None
    number = arithmetic(kind.name)
    return 8 if kind.pointers else number.bytes if number is not None else None


def _answer(name: str, given: tuple[Argument, ...]) -> int | None:
    """`std::is_same_v<A, B>` and its like; to C++ a half is a class."""
    plain = name.removesuffix("::value").rpartition("::")[2].removesuffix("_v")
    types = [a for a in given if isinstance(a, TypeName) and _is_known(a)]
    if plain not in _QUESTIONS or len(types) != len(given) or len(types) != (2 if plain == "is_same" else 1):
        return None
    if plain == "is_same":
        return int(types[0] == types[1])
    number = arithmetic(types[0].name)
    if plain == "is_pointer" or types[0].pointers:
        return int(plain == "is_pointer" and types[0].pointers > 0)
    if number is None or (number.is_float and number.bytes < 4):
        return 0
    return int({
        "is_integral": not number.is_float,
        "is_floating_point": number.is_float,
        "is_arithmetic": True,
        "is_signed": number.kind in (Kind.SIGNED, Kind.FLOAT),
        "is_unsigned": number.kind in (Kind.UNSIGNED, Kind.BOOL),
    }[plain])  # fmt: skip
