"""Pure statements computed in exact rational numbers: what they say of numbers, rounding and NaN aside."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from porter.syntax.nodes import (
    Assign,
    Binary,
    Block,
    Braces,
    Call,
    Cast,
    Choice,
    Declare,
    Evaluate,
    Expression,
    If,
    Literal,
    Member,
    Name,
    Return,
    Statement,
    TypeName,
    Unary,
    Variable,
)
from porter.syntax.unit import FunctionTree, Unit
from porter.syntax.walk import walk
from porter_triton.lift.trees import called, is_barrier
from porter_triton.lower.types import BUILT_IN, Arithmetic

Number = int | Fraction
Struct = dict[str, Number]
Values = dict[str, "Number | Struct"]

_OPERATIONS: Mapping[str, Callable[[Number, Number], Number]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "==": operator.eq, "!=": operator.ne, "<": operator.lt,
    "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_ON_INTEGERS: Mapping[str, Callable[[int, int], int]] = {
    "%": operator.mod, "&": operator.and_, "<<": operator.lshift, ">>": operator.rshift,
}  # fmt: skip


class InexactError(Exception):
    """Something that is not understood here, or that divides by zero."""


_LARGEST_POWER = 500  # beyond, a power counts as nothing, as it does in floats


def power(exponent: Number) -> Number:
    """Returns what stands for exp: whole powers of a number near e, which multiply as its own do."""
    if exponent != int(exponent) or exponent > _LARGEST_POWER:
        raise InexactError
    return Fraction(19, 7) ** int(exponent) if exponent >= -_LARGEST_POWER else Fraction(0)


_FUNCTIONS: Mapping[str, Callable[..., Number]] = {
    "max": max, "fmaxf": max, "fmax": max, "min": min, "fminf": min, "fmin": min, "fabsf": abs, "fabs": abs,
    "expf": power, "exp": power, "__expf": power,
    "fmaf": lambda a, b, c: a * b + c, "fma": lambda a, b, c: a * b + c, "__fdividef": lambda a, b: Fraction(a) / b,
}  # fmt: skip
_MOST_CALLS = 4
POWERS = frozenset({"expf", "exp", "__expf"})
INFINITE = frozenset({"INFINITY", "CUDART_INF_F", "CUDART_INF", "HUGE_VALF", "HUGE_VAL"})
BEYOND = Fraction(10**60)  # what stands for infinity
_NOTHING = TypeName("void")


@dataclass(frozen=True)
class Machine:
    """Runs statements on `values`, which it changes; raises `InexactError` for what it does not understand.

    `asked` collects the library's functions that were called, `fixed` the variables to which constant references lead:
    as long as nothing changes these, a reference is a copy.
    """

    unit: Unit
    values: Values
    returns: TypeName = _NOTHING
    depth: int = 0
    asked: set[str] = field(default_factory=set)
    fixed: set[str] = field(default_factory=set)

    def run(self, statements: tuple[Statement, ...]) -> Number | Struct | None:
        """The value returned, 0 for none; None where the statements go on to their end."""
        for statement in statements:
            found = self._step(statement)
            if found is not None:
                return found
        return None

    def _step(self, statement: Statement) -> Number | Struct | None:
        if isinstance(statement, Block):
            return self.run(statement.statements)
        if isinstance(statement, If):
            chosen = statement.yes if self.number(statement.condition) else statement.no
            return self.run(chosen.statements) if chosen is not None else None
        if isinstance(statement, Return):
            return 0 if statement.value is None else self._of_type(statement.value, self.returns)
        if isinstance(statement, Declare):
            for variable in statement.variables:
                self._declare(variable)
        elif isinstance(statement, Evaluate):
            self.value(statement.expression)
        elif not is_barrier(statement):
            raise InexactError
        return None

    def _declare(self, variable: Variable) -> None:
        if variable.extents or variable.type.pointers or (variable.type.reference and not variable.type.const):
            raise InexactError
        if variable.type.reference:
            self.fixed.update(node.name for node in walk(variable.value) if isinstance(node, Name))
        value = {} if variable.value is None else self._of_type(variable.value, variable.type)
        self.values[variable.name] = value if variable.type.name == "auto" else converted(value, variable.type)

    def _of_type(self, node: Expression, kind: TypeName) -> Number | Struct:
        if not isinstance(node, Braces):
            return self.value(node)
        structs = self.unit.struct((node.type or kind).name)
        if len(structs) != 1 or len(structs[0].fields) != len(node.items):
            raise InexactError
        fields = zip(structs[0].fields, node.items, strict=True)
        return {f.name: number(converted(self.number(item), f.type)) for f, item in fields}

    def number(self, node: Expression) -> Number:
        """The value of an expression that is no struct."""
        return number(self.value(node))

    def value(self, node: Expression) -> Number | Struct:
        """The value of an expression."""
        match node:
            case Literal(value=bool() | int() | float() as value):
                return Fraction(value) if isinstance(value, float) else int(value)
            case Name() if node.name in self.values:
                found = self.values[node.name]
                return dict(found) if isinstance(found, dict) else found
            case Name() if node.name in INFINITE:
                return BEYOND
            case Member(owner=Name() as owner) if isinstance(held := self.values.get(owner.name), dict):
                if node.name in held:
                    return held[node.name]
            case Cast():
                return converted(self.value(node.operand), node.type)
            case Unary(operator="-" | "+" | "!" as symbol):
                operand = self.number(node.operand)
                return -operand if symbol == "-" else operand if symbol == "+" else int(not operand)
            case Binary():
                return self._binary(node)
            case Choice():
                return self.value(node.yes if self.number(node.condition) else node.no)
            case Assign():
                return self._assign(node)
            case Call():
                return self._call(node)
        raise InexactError

    def _binary(self, node: Binary) -> Number:
        left = self.number(node.left)
        if node.operator in ("&&", "||"):
            decided = bool(left) == (node.operator == "||")
            return int(bool(left) if decided else bool(self.number(node.right)))
        return operated(node.operator, left, self.number(node.right))

    def _assign(self, node: Assign) -> Number | Struct:
        value, target = self.changed(node), node.target
        if self.fixed.intersection(n.name for n in walk(target) if isinstance(n, Name)):
            raise InexactError
        if isinstance(target, Name) and target.name in self.values:
            self.values[target.name] = _like(self.values[target.name], value)
        elif isinstance(target, Member) and isinstance(target.owner, Name):
            held = self.values.get(target.owner.name)
            if not isinstance(held, dict):
                raise InexactError
            held[target.name] = number(_like(held.get(target.name, value), value))
        else:
            raise InexactError
        return value

    def changed(self, node: Assign) -> Number | Struct:
        """Returns what is assigned."""
        value = self.value(node.value)
        return operated(node.operator, self.number(node.target), number(value)) if node.operator else value

    def _call(self, node: Call) -> Number | Struct:
        functions = [f for f in self.unit.named(called(node)) if f.head.space != "global"] if called(node) else []
        if len(functions) == 1 and self.depth < _MOST_CALLS:
            return self._own(functions[0], node)
        if functions or called(node) not in _FUNCTIONS:
            raise InexactError
        self.asked.add(called(node))
        return _FUNCTIONS[called(node)](*(self.number(a) for a in node.arguments))

    def _own(self, function: FunctionTree, node: Call) -> Number | Struct:
        """A call of a function of the source: what it does to its references is done to the arguments."""
        if len(function.parameters) != len(node.arguments):
            raise InexactError
        inner: Values = {}
        for parameter, argument in zip(function.parameters, node.arguments, strict=True):
            inner[parameter.name] = converted(self._of_type(argument, parameter.type), parameter.type)
        result = Machine(self.unit, inner, function.returns, self.depth + 1, self.asked).run(function.body.statements)
        for parameter, argument in zip(function.parameters, node.arguments, strict=True):
            if parameter.type.reference and not parameter.type.const:
                if not isinstance(argument, Name):
                    raise InexactError
                self.values[argument.name] = inner[parameter.name]
        return 0 if result is None else converted(result, function.returns)


def operated(symbol: str, left: Number, right: Number) -> Number:
    """`left symbol right`; a quotient of integers is cut off."""
    if symbol == "/":
        if right == 0:
            raise InexactError
        exact = Fraction(left) / right
        return int(exact) if isinstance(left, int) and isinstance(right, int) else exact
    if symbol in _ON_INTEGERS and isinstance(left, int) and isinstance(right, int) and left >= 0 and right > 0:
        return _ON_INTEGERS[symbol](left, right)
    if symbol not in _OPERATIONS:
        raise InexactError
    made = _OPERATIONS[symbol](left, right)
    return int(made) if isinstance(made, bool) else made


def converted(value: Number | Struct, kind: TypeName) -> Number | Struct:
    """`value` as one of the type; of a template's parameter it is taken to be what it is."""
    type_ = BUILT_IN.get(kind.name)
    if isinstance(value, dict) or not isinstance(type_, Arithmetic):
        return value
    if type_.is_float:
        return Fraction(value)
    if value != int(value):
        raise InexactError
    return int(value)


def number(value: Number | Struct) -> Number:
    """A value that is no struct."""
    if isinstance(value, dict):
        raise InexactError
    return value


def _like(before: Number | Struct, value: Number | Struct) -> Number | Struct:
    """A value assigned to a variable that holds `before`."""
    if isinstance(before, Fraction) and isinstance(value, int):
        return Fraction(value)
    if isinstance(before, int) and isinstance(value, Fraction):
        if value != int(value):
            raise InexactError
        return int(value)
    return value
