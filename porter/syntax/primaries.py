"""Reads what an expression is made of: literals, names with their templates, conversions, the casts that are words."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping

from porter.source.lexer import TokenKind
from porter.syntax.cursor import NotReadError
from porter.syntax.literals import character, number, string
from porter.syntax.nodes import (
    Binary,
    Braces,
    Call,
    Cast,
    Expression,
    Lambda,
    Literal,
    Name,
    SizeOf,
    TypeName,
)
from porter.syntax.type_names import BUILT_IN, NOT_A_NAME, SCALARS, TypeReader

_CASTS = {"static_cast": "static", "reinterpret_cast": "reinterpret", "const_cast": "const", "dynamic_cast": "dynamic"}
_WORDS: Mapping[str, tuple[bool | str, str]] = {
    "true": (True, "bool"),
    "false": (False, "bool"),
    "nullptr": ("nullptr", "nullptr"),
}


class PrimaryReader(TypeReader):
    """Reads primaries; calls and operators are a later layer's."""

    @abstractmethod
    def lambda_expression(self) -> Lambda:
        """`[...](...) { ... }`."""

    @abstractmethod
    def unary(self) -> Expression:
        """Prefix operators and casts."""

    @abstractmethod
    def inner_expression(self) -> Expression:
        """An expression between brackets, where `>` compares."""

    @abstractmethod
    def arguments(self) -> tuple[Expression, ...]:
        """`(a, b, {c})`."""

    @abstractmethod
    def braces(self, kind: TypeName | None) -> Braces:
        """`{a, b}`."""

    def primary(self) -> Expression:
        """Literals, names, parentheses, lambdas and the casts that are words."""
        text, line, kind = self.text, self.line, self.kind
        if text == "(":
            self.step()
            inside = self.inner_expression()
            self.expect(")")
            return inside
        if kind is TokenKind.IDENTIFIER:
            return self.word()
        if text == "[":
            return self.lambda_expression()
        if text == "::":
            return self.named()
        if kind is TokenKind.NUMBER:
            value = number(self.step(), line)
            if value is None:
                raise self.problem(f"{text!r} is not a number of C++")
            return value
        if kind is TokenKind.STRING:
            return self.strings()
        if kind is TokenKind.CHARACTER:
            return character(self.step(), line)
        raise self.problem(f"expected an expression before {text!r}")

    def strings(self) -> Literal:
        """Adjacent strings are one."""
        line, text = self.line, ""
        while self.kind is TokenKind.STRING:
            text += str(string(self.step(), line).value)
            while self.text.startswith("PRI") and self.is_name:  # a format's macro from a header not at hand
                text += self.step()
        return Literal(text, "string", line)

    def word(self) -> Expression:
        """Returns what begins with an identifier or keyword."""
        text, line = self.text, self.line
        if text in _WORDS:
            self.step()
            return Literal(*_WORDS[text], line)
        if text in _CASTS and self.ahead() == "<":
            return self.word_cast(_CASTS[text])
        if text in ("sizeof", "alignof"):
            return self.size_of()
        if text == "this":
            self.step()
            return Name("this", (), line)
        if text in ("typename", "struct", "const", "unsigned", "signed", "long", "short") or text in BUILT_IN:
            return self.conversion()
        if text in NOT_A_NAME and text != "operator":
            raise self.problem(f"expected an expression before {text!r}")
        return self.named()

    def word_cast(self, kind: str) -> Expression:
        """`static_cast<T>(x)`."""
        line = self.line
        self.step()
        self.step()
        outer, self.in_angles = self.in_angles, True
        target = self.pointer_to_array(self.pointers(self.specifiers().type))
        if self.in_angles and self.text == "(":
            self.parameter_list_or_nothing()
        self.in_angles = outer
        if not self.close_angle():
            raise self.problem(f"expected '>' before {self.text!r}")
        self.expect("(")
        operand = self.inner_expression()
        self.expect(")")
        return Cast(kind, target, operand, line)

    def size_of(self) -> Expression:
        """`sizeof(T)`, `sizeof x`, `sizeof...(pack)`, `alignof(T)`."""
        line, word = self.line, self.step()
        self.take("...")
        mark = self.mark()
        if self.take("("):
            kind = self.type_here()
            if kind is not None and self.take(")"):
                of = SizeOf(kind, line)
                return of if word == "sizeof" else Call(Name(word), (of,), line)
            self.back(mark)
        return SizeOf(self.unary(), line)

    def conversion(self) -> Expression:
        """`float(x)`, `unsigned(x)`, `int64_t{n}`, `float4{...}`, `typename T::type(x)`."""
        line = self.line
        mark = self.mark()
        specified = self.specifiers().type
        if self.text == "{":
            return self.braces(specified)
        if self.text != "(":
            self.back(mark)
            return self.named()
        arguments = self.arguments()
        return self.made(specified, arguments, line)

    def made(self, kind: TypeName, arguments: tuple[Expression, ...], line: int) -> Expression:
        """Returns what `T(arguments)` is."""
        if not arguments:
            return Braces((), kind, line)
        scalar = kind.name.split()[-1] in SCALARS or self.scopes.meaning(kind.name) == "type parameter"
        if len(arguments) == 1 and scalar:
            return Cast("c", kind, arguments[0], line)
        return Call(Name(kind.name, kind.arguments, line), arguments, line)

    def named(self) -> Expression:
        """`a::b<T>::c`, as far as it is one name."""
        line = self.line
        self.take("::")
        parts = [self.plain_part()]
        template: tuple[TypeName | Expression, ...] = ()
        while True:
            if self.text == "<":
                found = self.name_template("::".join(parts))
                if not found:
                    break
                template = (*template, *found)
            elif self.text == "::" and (self.ahead().isidentifier() or self.ahead() == "~"):
                self.step()
                self.take("template")
                parts.append(self.plain_part())
            else:
                break
        name = self.scopes.qualified(parts)
        if self.text == "(" and self.scopes.meaning(name) == "type parameter":
            return self.made(TypeName(name, template), self.arguments(), line)
        return Name(name, template, line)

    def plain_part(self) -> str:
        """One part of a qualified name."""
        return self.operator_name() if self.text == "operator" else self.name()

    def name_template(self, name: str) -> tuple[TypeName | Expression, ...]:
        """The template arguments behind `name`, if the `<` is no comparison."""
        if self.scopes.meaning(name) == "value":
            return ()
        mark = self.mark()
        try:
            arguments = self.template_arguments()
        except NotReadError:
            self.back(mark)
            return ()
        sure = self.scopes.meaning(name) in ("template", "type")
        ends = self.text in ("(", "::", "{", ")", ",", ";", "]", ">", ">>") or self.kind is TokenKind.LAUNCH_OPEN
        ends = ends or (name.endswith(("_v", "::value", "_of")) and not self.half)
        if sure or (ends and not self.half and not any(is_logic(a) for a in arguments)):
            return arguments
        self.back(mark)
        return ()

    def operator_name(self) -> str:
        """`operator()`, `operator+=`, `operator[]`."""
        self.expect("operator")
        if self.is_name:
            return f"operator {self.step()}"
        symbol = self.step()
        if symbol in ("(", "["):
            symbol += self.step()
        return f"operator{symbol}"


def is_logic(argument: TypeName | Expression) -> bool:
    """Returns whether a template argument is `a && b`, which says that the brackets around it compare."""
    return isinstance(argument, Binary) and argument.operator in ("&&", "||")
