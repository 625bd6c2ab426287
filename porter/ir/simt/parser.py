"""Reads the text that `printer.py` writes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from porter.ir.simt.ops import NOWHERE, Attribute, Block, Function, Location, Op, Parameter, Value
from porter.ir.simt.types import Array, Element, Pointer, Scalar, Space, Type, Vector

_WORD = re.compile(
    r"\s*(?://[^\n]*\s*)*"
    r'(?P<text>%[\w.$]+|"(?:[^"\\]|\\.)*"|@(?:[^\s:@]+:)?\d+|-?\d+\.?\d*(?:e[+-]?\d+)?(?!\w)|[A-Za-z_][\w]*|[-+=:,(){}<>])'
)
_VECTOR = re.compile(r"(\w+?)x(\d+)")
_ESCAPES = {"n": "\n"}


class NotParsedError(ValueError):
    """A text is no function of the SIMT IR; the message says what stands where, and what was expected."""


def parsed(text: str) -> Function:
    """Returns the function that `text` is. Raises `NotParsedError`; what it means is not verified."""
    parser = _Parser(text)
    function = parser.function()
    if parser.word:
        raise parser.problem("the end")
    return function


@dataclass
class _Parser:
    text: str
    at: int = 0
    word: str = ""
    begin: int = 0
    values: dict[str, Value] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.step()

    def problem(self, expected: str) -> NotParsedError:
        """The error that something else was `expected`."""
        line = self.text.count("\n", 0, self.begin) + 1
        return NotParsedError(f"line {line}: expected {expected} before '{self.word or 'the end'}'")

    def step(self) -> str:
        """Returns the word here and goes on to the next."""
        word, found = self.word, _WORD.match(self.text, self.at)
        if found is None:
            rest = self.text[self.at :].strip()
            self.word, self.begin = rest[:10], len(self.text) - len(rest)
            if rest:
                raise self.problem("a word")
            return word
        self.word, self.begin, self.at = found["text"], found.start("text"), found.end()
        return word

    def take(self, word: str) -> bool:
        """Steps over `word` where it stands here."""
        if self.word == word:
            self.step()
            return True
        return False

    def expect(self, word: str) -> None:
        """Steps over `word`, which has to stand here."""
        if not self.take(word):
            raise self.problem(f"'{word}'")

    def function(self) -> Function:
        """`kernel name(parameters) { ... }`."""
        self.expect("kernel")
        name, parameters = self.string(), list[Parameter]()
        self.expect("(")
        while not self.take(")"):
            value = self.definition()
            self.expect("=")
            parameters.append(self.parameter(value))
            if self.word != ")":
                self.expect(",")
        return Function(name, tuple(parameters), self.block(()))

    def parameter(self, value: Value) -> Parameter:
        """The argument and byte that a parameter is, or the variable that it leads to."""
        if not self.word.lstrip("-").isdecimal():
            return Parameter(value, -1, variable=self.string())
        argument = self.whole()
        return Parameter(value, argument, self.whole() if self.take("+") else 0)

    def string(self) -> str:
        """A word, or a text in quotes."""
        word = self.step()
        if word.startswith('"'):
            return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), word[1:-1])
        if not word.isidentifier():
            raise self.problem("a name")
        return word

    def whole(self) -> int:
        """A whole number."""
        if not re.fullmatch(r"-?\d+", self.word):
            raise self.problem("a whole number")
        return int(self.step())

    def definition(self) -> Value:
        """`%name: type`."""
        name = self.step()
        self.expect(":")
        return self.define(name, self.type())

    def define(self, name: str, type_: Type) -> Value:
        """The value that `%name` is from here on."""
        if not name.startswith("%"):
            raise self.problem("a value")
        own = re.sub(r"\.\d+$", "", name[1:])
        self.values[name] = value = Value(type_, "" if own.isdigit() else own)
        return value

    def type(self) -> Type:
        """A type."""
        word = self.step()
        if word not in ("ptr", "array"):
            return self.element(word)
        self.expect("<")
        element = self.element(self.step())
        self.expect(",")
        count = 0
        if word == "array":
            count = self.whole()
            self.expect(",")
        space = self.step()
        self.expect(">")
        if space not in Space.__members__.values():
            raise self.problem("an address space")
        return Array(element, count, Space(space)) if word == "array" else Pointer(element, Space(space))

    def element(self, word: str) -> Element:
        """A number's or a vector's type."""
        if word in Scalar.__members__.values():
            return Scalar(word)
        found = _VECTOR.fullmatch(word)
        if found is None or found[1] not in Scalar.__members__.values():
            raise self.problem("a type")
        return Vector(Scalar(found[1]), int(found[2]))

    def block(self, arguments: tuple[Value, ...]) -> Block:
        """`{ ... }`; without an operation that ends it, it yields nothing."""
        ops: list[Op] = []
        self.expect("{")
        while not self.take("}"):
            ops.append(self.op())
        if not ops or ops[-1].kind not in ("yield", "return"):
            ops.append(Op("yield"))
        return Block(arguments, tuple(ops))

    def op(self) -> Op:
        """One operation with its regions."""
        names = list[str]()
        while self.word.startswith("%"):
            names.append(self.step())
            if not self.take(","):
                self.expect("=")
                break
        kind, operands = self.string(), []
        while self.word.startswith("%"):
            if self.word not in self.values:
                raise self.problem("a value that is defined")
            operands.append(self.values[self.step()])
            if not self.take(","):
                break
        is_last = kind in ("yield", "return")
        attributes = self.attributes() if self.has_attributes() else ()
        types = list[Type]()
        if names:
            self.expect(":")
            types = [self.type() for _ in names[:1]]
            while self.take(","):
                types.append(self.type())
            if len(types) != len(names):
                raise self.problem(f"{len(names)} types")
        location = self.location()
        regions = () if is_last else self.regions()
        results = tuple(self.define(name, type_) for name, type_ in zip(names, types, strict=True))
        return Op(kind, tuple(operands), results, attributes, regions, location)

    def has_attributes(self) -> bool:
        """Returns whether `{name = ` stands here, which no region begins with."""
        return self.word == "{" and re.match(r"\s*\w+ =(?!=)", self.text[self.at :]) is not None

    def attributes(self) -> tuple[tuple[str, Attribute], ...]:
        """`{name = value, ...}`."""
        found: list[tuple[str, Attribute]] = []
        self.expect("{")
        while not self.take("}"):
            name = self.step()
            self.expect("=")
            found.append((name, self.attribute()))
            if self.word != "}":
                self.expect(",")
        return tuple(found)

    def attribute(self) -> Attribute:
        """A truth value, a number or a text."""
        word = self.word
        if word in ("true", "false"):
            return self.step() == "true"
        if word == "float":
            self.step()
            self.expect("(")
            sign = "-" if self.take("-") else ""
            value = float(sign + self.step())
            self.expect(")")
            return value
        if word[0].isdigit() or word[0] == "-":
            self.step()
            return int(word) if re.fullmatch(r"-?\d+", word) else float(word)
        return self.string()

    def location(self) -> Location:
        """`@line` or `@file:line`, where it stands here."""
        if not self.word.startswith("@"):
            return NOWHERE
        file, _, line = self.step()[1:].rpartition(":")
        return Location(int(line), file)

    def regions(self) -> tuple[Block, ...]:
        """`(arguments) { ... } (arguments) { ... }`."""
        found: list[Block] = []
        while self.word in ("(", "{"):
            arguments = list[Value]()
            if self.take("("):
                while not self.take(")"):
                    arguments.append(self.definition())
                    if self.word != ")":
                        self.expect(",")
            found.append(self.block(tuple(arguments)))
        return tuple(found)
