"""Expressions, by precedence climbing; what a name is decides where C++ is ambiguous."""

from __future__ import annotations

from abc import abstractmethod

from porter.source.lexer import TokenKind
from porter.syntax.arguments import ArgumentReader
from porter.syntax.cursor import NotReadError
from porter.syntax.nodes import (
    Assign,
    Binary,
    Call,
    Cast,
    Choice,
    Expression,
    Lambda,
    Member,
    Name,
    Subscript,
    TypeName,
    Unary,
    Update,
)
from porter.syntax.primaries import is_logic
from porter.syntax.type_names import as_type

_LEVELS = (
    ("||", "or"), ("&&", "and"), ("|",), ("^",), ("&",), ("==", "!="), ("<", ">", "<=", ">="), ("<<", ">>"),
    ("+", "-"), ("*", "/", "%"),
)  # fmt: skip
_STRENGTH = {operator: level for level, operators in enumerate(_LEVELS) for operator in operators}
_SPELLINGS = {"or": "||", "and": "&&", "not": "!"}
_ASSIGNMENTS = frozenset(("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="))
_UNARY = frozenset(("-", "+", "!", "~", "*", "&", "not"))
_NO_OPERAND = frozenset((")", "]", "}", ";", ",", ":", "?", ".", "->", ""))
_EITHER = frozenset(("-", "+", "*", "&", "("))  # goes on after a value and begins one


class ExpressionReader(ArgumentReader):
    """Reads expressions; the statements of lambdas are a later layer's."""

    @abstractmethod
    def lambda_expression(self) -> Lambda:
        """`[...](...) { ... }`."""

    def expression(self) -> Expression:
        """Any expression, commas included."""
        left = self.assignment()
        while self.text == ",":
            line = self.line
            self.step()
            left = Binary(",", left, self.assignment(), line)
        return left

    def assignment(self) -> Expression:
        """An expression without a comma."""
        left = self.binary(0)
        text, line = self.text, self.line
        if text == "?":
            self.step()
            yes = self.inner_expression()
            self.expect(":")
            return Choice(left, yes, self.assignment(), line)
        if text in _ASSIGNMENTS:
            self.step()
            value = self.braces(None) if self.text == "{" else self.assignment()
            return Assign(text[:-1], left, value, line)
        return left

    def inner_expression(self) -> Expression:
        """An expression between brackets or `?` and `:`, where `>` compares."""
        outer, self.in_angles = self.in_angles, False
        try:
            return self.expression()
        finally:
            self.in_angles = outer

    def binary(self, weakest: int) -> Expression:
        """Operators that bind as tight as level `weakest` or tighter."""
        left = self.unary()
        while True:
            operator = self.text
            level = _STRENGTH.get(operator, -1)
            if level < weakest or self.half or (self.in_angles and operator in (">", ">>")):
                return left
            line = self.line
            self.step()
            left = Binary(_SPELLINGS.get(operator, operator), left, self.binary(level + 1), line)

    def unary(self) -> Expression:
        """Prefix operators and casts."""
        text, line = self.text, self.line
        if text in _UNARY:
            self.step()
            return Unary(_SPELLINGS.get(text, text), self.unary(), line)
        if text in ("++", "--"):
            self.step()
            return Update(text, self.unary(), True, line)
        if text == "(":
            cast = self.c_cast()
            if cast is not None:
                return cast
        elif text in ("new", "delete"):
            return self.allocation()
        return self.postfix(self.primary())

    def c_cast(self) -> Cast | None:
        """`(T)x`; None, nothing taken, for a parenthesised expression."""
        mark, line, begin = self.mark(), self.line, self.at + 1
        outer, self.in_angles = self.in_angles, False
        self.step()
        kind = self.type_here()
        self.in_angles = outer
        if kind is None or self.text != ")":
            self.back(mark)
            return None
        sure = self.known(kind.name) or kind.const or kind.pointers > 0 or self.at > begin + 1
        self.step()
        following = self.text
        if following == "(" and not (self.known(kind.name) or kind.const or kind.pointers) and self.holds_several():
            self.back(mark)  # `(std::max)(a, b)`
            return None
        if following == "{" and sure:
            return Cast("c", kind, self.braces(kind), line)
        no_operand = following in _NO_OPERAND or following in _STRENGTH or following in _ASSIGNMENTS
        if (no_operand and following not in _EITHER) or (following in _EITHER and not sure and following != "("):
            self.back(mark)
            return None
        return Cast("c", kind, self.unary(), line)

    def holds_several(self) -> bool:
        """Returns whether the bracket that begins here holds several expressions."""
        depth = 0
        for index in range(self.at, self.closer(self.at) or self.at):
            depth += (self.texts[index] in ("(", "[", "{")) - (self.texts[index] in (")", "]", "}"))
            if self.texts[index] == "," and depth == 1:
                return True
        return False

    def allocation(self) -> Expression:
        """`new T[n]` reads as a call of `new<T>` with `n`, `delete p` as a call of `delete`."""
        line, word = self.line, self.step()
        if word == "delete":
            if self.text == "[":
                self.skip_bracket()
            return Call(Name("delete", (), line), (self.unary(),), line)
        kind = self.pointers(self.specifiers().type)
        arguments: tuple[Expression, ...] = ()
        if self.take("["):
            arguments = (self.inner_expression(),)
            self.expect("]")
        elif self.text == "(":
            arguments = self.arguments()
        return Call(Name("new", (kind,), line), arguments, line)

    def postfix(self, left: Expression) -> Expression:
        """Calls, subscripts, members, launches and updates behind a primary."""
        while True:
            text, line = self.text, self.line
            if text == "(":
                takes_statements = isinstance(left, Name) and left.name.isupper()
                left = Call(left, self.macro_arguments() if takes_statements else self.arguments(), line)
            elif text == "[":
                left = self.subscript(left)
            elif text in (".", "->"):
                left = self.member(left)
            elif text in ("++", "--"):
                self.step()
                left = Update(text, left, False, line)
            elif text == "{" and isinstance(left, Name) and self.scopes.meaning(left.name) != "value":
                left = self.braces(as_type(left))
            elif self.kind is TokenKind.LAUNCH_OPEN and isinstance(left, Name):
                left = self.launch(left)
            else:
                return left

    def subscript(self, owner: Expression) -> Expression:
        """`owner[index]`, of `a[i, j]` the subscripts in a row."""
        line = self.line
        self.step()
        index = self.braces(None) if self.text == "{" else self.inner_expression()
        self.expect("]")
        return Subscript(owner, index, line)

    def member(self, owner: Expression) -> Expression:
        """`owner.name`, `owner->name<T>`, `owner.template name<T>`."""
        line, arrow = self.line, self.step() == "->"
        self.take("template")
        self.take("~")
        if self.text == "operator":
            name = self.operator_name()
        else:
            name = self.name()
            while self.text == "::" and self.ahead().isidentifier():
                self.step()
                name = self.name()
        return Member(owner, name, arrow, self.call_template(), line)

    def call_template(self) -> tuple[TypeName | Expression, ...]:
        """Template arguments behind a member or unknown name: only what a call or a scope follows."""
        if self.text != "<":
            return ()
        mark = self.mark()
        try:
            arguments = self.template_arguments()
        except NotReadError:
            self.back(mark)
            return ()
        if self.half or self.text not in ("(", "::") or any(is_logic(a) for a in arguments):
            self.back(mark)
            return ()
        return arguments
