"""Integer constant expressions folded as the compiler would: literals, macros, named constants, one-line functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from porter.source.lexer import Token, TokenKind, match_bracket, significant, split_arguments, tokens
from porter.source.macros import MacroTable, Origin, Piece, expand

_SIZES = {"char": 1, "bool": 1, "int8_t": 1, "uint8_t": 1, "short": 2, "half": 2, "__half": 2, "__nv_bfloat16": 2} | {
    "int16_t": 2, "uint16_t": 2, "int": 4, "unsigned": 4, "float": 4, "int32_t": 4, "uint32_t": 4, "half2": 4,
    "__half2": 4, "__nv_bfloat162": 4, "long": 8, "double": 8, "size_t": 8, "int64_t": 8, "uint64_t": 8,
    "float2": 8, "int2": 8, "float3": 12, "int3": 12, "float4": 16, "int4": 16, "uint4": 16, "double2": 16,
}  # fmt: skip
_LEVELS: tuple[tuple[str, ...], ...] = (
    ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", ">", "<=", ">="), ("<<", ">>"), ("+", "-"),
    ("*", "/", "%"),
)  # fmt: skip
_DEEPEST = 60  # nested names or parentheses: beyond it a definition goes round in circles


class NotConstantError(ValueError):
    """The expression has no value that the source alone determines."""


@dataclass(frozen=True)
class Environment:
    """The meanings of names: numbers, expressions by name, macros, and functions of one `return` (parameters, result).

    `undefined_is_zero` is the preprocessor's rule for names nobody defines.
    """

    values: Mapping[str, int] = field(default_factory=dict)
    expressions: Mapping[str, str] = field(default_factory=dict)
    macros: MacroTable = field(default_factory=MacroTable)
    functions: Mapping[str, tuple[tuple[str, ...], str]] = field(default_factory=dict)
    undefined_is_zero: bool = False

    def given(self, values: Mapping[str, int]) -> Environment:
        """This environment with `values`, which outrank what the source says."""
        return replace(self, values={**self.values, **values})


def evaluate(expression: str, environment: Environment) -> int | None:
    """The value of an integer constant expression; None when `environment` does not determine it."""
    try:
        return _Evaluator(environment).value(expression, 0)
    except (NotConstantError, ZeroDivisionError, OverflowError, RecursionError):
        return None


class _Evaluator:
    """Recursive descent over one expression; names restart it on their definition."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment

    def value(self, expression: str, depth: int) -> int:
        """The value of `expression`, which stands `depth` definitions deep."""
        if depth > _DEEPEST:
            raise NotConstantError(expression)
        words = _expanded(expression, self.environment.macros)
        cursor = _Cursor(words, lambda text: self.value(text, depth + 1), self.environment)
        result = cursor.choice()
        if not cursor.at_end:
            raise NotConstantError(expression)
        return result


def _expanded(expression: str, table: MacroTable) -> list[Token]:
    words = significant(tokens(expression))
    if table.definitions:
        table.produced = 0
        here = Origin(0, 0, copied=False)
        pieces = expand(table, [Piece(t.kind, t.text, True, here) for t in words], lambda _: True)
        words = significant(tokens(" ".join(p.text for p in pieces)))
    return [t for t in words if t.text not in ("std", "::")]


class _Cursor:
    """A place in an expression's tokens."""

    def __init__(self, words: list[Token], resolve: Callable[[str], int], environment: Environment) -> None:
        self.words = words
        self.resolve = resolve
        self.environment = environment
        self.at = 0

    @property
    def at_end(self) -> bool:
        """Returns whether every token was used."""
        return self.at >= len(self.words)

    def peek(self) -> str:
        """The next token's text; empty at the end."""
        return "" if self.at_end else self.words[self.at].text

    def take(self, text: str) -> bool:
        """Step over `text` if it comes next."""
        if self.peek() != text:
            return False
        self.at += 1
        return True

    def choice(self) -> int:
        """`a ? b : c`, or what binds tighter."""
        condition = self.binary(0)
        if not self.take("?"):
            return condition
        first = self.optional_branch(self.choice)
        if not self.take(":"):
            raise NotConstantError("?")
        second = self.optional_branch(self.choice)
        chosen = first if condition else second
        if chosen is None:
            raise NotConstantError("?:")
        return chosen

    def optional_branch(self, parse: Callable[[], int]) -> int | None:
        """A branch that may have no value if it is not the one taken."""
        begin = self.at
        try:
            return parse()
        except ZeroDivisionError:
            self.at = max(self.at, begin + 1)
            return None

    def binary(self, level: int) -> int:
        """Left-associative operators of `level` and tighter."""
        if level == len(_LEVELS):
            return self.unary()
        left = self.binary(level + 1)
        while self.peek() in _LEVELS[level]:
            operator = self.peek()
            self.at += 1
            left = _apply(operator, left, self.binary(level + 1))
        return left

    def unary(self) -> int:
        """Signs, negations and C casts before a primary."""
        for sign, act in (("-", int.__neg__), ("+", int.__pos__), ("~", int.__invert__), ("!", lambda v: int(not v))):
            if self.take(sign):
                return act(self.unary())
        if self.peek() == "(":
            close = match_bracket(self.words, self.at)
            inside = [t.text for t in self.words[self.at + 1 : close]]
            if close is not None and inside and all(w in _TYPE_NAMES for w in inside):
                self.at = close + 1
                return self.unary()
            self.at += 1
            result = self.choice()
            if not self.take(")"):
                raise NotConstantError(")")
            return result
        return self.primary()

    def primary(self) -> int:
        """A literal, a name, `sizeof(T)`, a cast or a call."""
        if self.at_end:
            raise NotConstantError("end")
        token = self.words[self.at]
        self.at += 1
        if token.kind is TokenKind.NUMBER:
            return _number(token.text)
        if token.kind is TokenKind.CHARACTER and len(token.text) == 3:
            return ord(token.text[1])
        if token.kind is not TokenKind.IDENTIFIER:
            raise NotConstantError(token.text)
        if token.text in ("true", "false"):
            return int(token.text == "true")
        if self.peek() == "<" and token.text.endswith("_cast"):
            self.at = (match_bracket(self.words, self.at) or self.at) + 1
        elif self.peek() == "<" and token.text in ("max", "min") and (close := match_bracket(self.words, self.at)):
            self.at = close + 1
        return self.call(token.text) if self.peek() == "(" else self.name(token.text)

    def name(self, name: str) -> int:
        """The value of a named constant."""
        if name in self.environment.values:
            return self.environment.values[name]
        if name in self.environment.expressions:
            return self.resolve(self.environment.expressions[name])
        if self.environment.undefined_is_zero:
            return 0
        raise NotConstantError(name)

    def call(self, name: str) -> int:
        """`sizeof`, casts, `min`, `max` and functions of one return."""
        close = match_bracket(self.words, self.at)
        arguments = split_arguments(self.words, self.at)
        if close is None:
            raise NotConstantError(name)
        self.at = close + 1
        texts = [" ".join(t.text for t in a) for a in arguments]
        if name == "sizeof":
            return _size(texts)
        values = [self.resolve(text) for text in texts]
        if name in ("min", "max") and len(values) == 2:
            return min(values) if name == "min" else max(values)
        if (name.endswith("_cast") or name in _TYPE_NAMES) and len(values) == 1:
            return values[0]
        if name not in self.environment.functions:
            raise NotConstantError(name)
        params, result = self.environment.functions[name]
        inner = self.environment.given(dict(zip(params, values, strict=False)))
        return _Evaluator(inner).value(result, _DEEPEST // 2)


_TYPE_NAMES = frozenset((*_SIZES, "signed", "const", "unsigned", "ptrdiff_t"))


def _size(arguments: list[str]) -> int:
    spelled = arguments[0].removeprefix("const ") if arguments else ""
    if spelled.endswith("*"):
        return 8
    words = spelled.removeprefix("unsigned ").removeprefix("signed ").split()
    if not words or words[0] not in _SIZES:
        raise NotConstantError(f"sizeof({spelled})")
    return _SIZES[words[0]]


def _number(text: str) -> int:
    plain = text.replace("'", "").rstrip("uUlLzZ")
    if re.fullmatch(r"0[0-7]+", plain):
        return int(plain, 8)
    try:
        return int(plain, 0)
    except ValueError:
        raise NotConstantError(text) from None


def _apply(operator: str, left: int, right: int) -> int:
    if operator in ("/", "%"):  # C truncates towards zero
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return quotient if operator == "/" else left - quotient * right
    if operator in ("<<", ">>"):
        if not 0 <= right < 64:
            raise NotConstantError(operator)
        return left << right if operator == "<<" else left >> right
    return int(_OPERATORS[operator](left, right))


_OPERATORS: Mapping[str, Callable[[int, int], int | bool]] = {
    "||": lambda a, b: bool(a) or bool(b),
    "&&": lambda a, b: bool(a) and bool(b),
    "|": int.__or__,
    "^": int.__xor__,
    "&": int.__and__,
    "==": int.__eq__,
    "!=": int.__ne__,
    "<": int.__lt__,
    ">": int.__gt__,
    "<=": int.__le__,
    ">=": int.__ge__,
    "+": int.__add__,
    "-": int.__sub__,
    "*": int.__mul__,
}
