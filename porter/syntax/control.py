"""Control flow: branches, loops and switches."""

from __future__ import annotations

from abc import abstractmethod

from porter.syntax.declarations import DeclarationReader
from porter.syntax.nodes import (
    Block,
    Case,
    Declare,
    Evaluate,
    Expression,
    For,
    ForEach,
    If,
    Name,
    Statement,
    Switch,
    Variable,
    While,
)


class ControlReader(DeclarationReader):
    """Reads control statements; the statements in them are a later layer's."""

    @abstractmethod
    def statement(self) -> Statement:
        """One statement."""

    @abstractmethod
    def read_statement(self) -> Statement:
        """One statement that reads."""

    @abstractmethod
    def body(self) -> Block:
        """The body of an `if` or loop."""

    @abstractmethod
    def declaration(self) -> Statement:
        """A declaration with its semicolon."""

    def branch(self) -> Statement:
        """`if constexpr (start; condition) yes else no`."""
        line = self.line
        self.step()
        constexpr = self.take("constexpr")
        self.expect("(")
        with self.scopes.inner():
            before: list[Statement] = []
            closer = self.closer(self.at - 1) or self.at
            if ";" in self.texts[self.at : closer] and "{" not in self.texts[self.at : closer]:
                before.append(self.statement())
            condition = self.condition(before)
            self.expect(")")
            yes = self.body()
            no = self.body() if self.take("else") else None
        found = If(condition, yes, no, constexpr, line)
        return Block((*before, found), line) if before else found

    def condition(self, before: list[Statement]) -> Expression:
        """A condition; one that declares a variable puts the declaration into `before`."""
        mark = self.mark()
        if self.is_declaration():
            declared = self.declare()
            if declared is not None and declared.variables[0].value is not None and self.text == ")":
                before.append(declared)
                return _name_of(declared)
            self.back(mark)
        return self.expression()

    def loop(self) -> Statement:
        """`for (start; condition; step) body` or `for (variable : range) body`."""
        line = self.line
        self.step()
        self.expect("(")
        with self.scopes.inner():
            each = self.range_loop(line)
            if each is not None:
                return each
            start = () if self.take(";") else (self.start(),)
            condition = None if self.text == ";" else self.expression()
            self.expect(";")
            step = None if self.text == ")" else self.expression()
            self.expect(")")
            return For(start, condition, step, self.body(), None, line)

    def start(self) -> Statement:
        """The first part of a `for`, its semicolon included."""
        line = self.line
        if self.is_declaration():
            return self.declaration()
        value = self.expression()
        self.expect(";")
        return Evaluate(value, line)

    def range_loop(self, line: int) -> ForEach | None:
        """The rest of `for (T x : range) body`; None, nothing taken, for another loop."""
        mark = self.mark()
        if not self.is_declaration():
            return None
        specifiers = self.specifiers()
        at = self.line
        declared = self.declarator(specifiers.type)
        if not self.take(":"):
            self.back(mark)
            return None
        self.scopes.declare(declared.name, "value")
        over = self.braces(None) if self.text == "{" else self.expression()
        self.expect(")")
        return ForEach(Variable(declared.name, declared.type, line=at), over, self.body(), line)

    def unrolled(self) -> Statement:
        """`#pragma unroll N` before a loop: 0 for all, as for what is no number here; elsewhere it says nothing."""
        argument = self.words[self.at].text.strip(" ()")
        self.step()
        found = self.read_statement()
        if not isinstance(found, For):
            return found
        count = int(argument) if argument.isdecimal() else 0
        return For(found.start, found.condition, found.step, found.body, count, found.line)

    def while_loop(self) -> Statement:
        """`while (condition) body`."""
        line = self.line
        self.step()
        self.expect("(")
        condition = self.expression()
        self.expect(")")
        return While(condition, self.body(), False, line)

    def do_loop(self) -> Statement:
        """`do body while (condition);`."""
        line = self.line
        self.step()
        body = self.body()
        self.expect("while")
        self.expect("(")
        condition = self.expression()
        self.expect(")")
        if self.text != "}":
            self.expect(";")
        return While(condition, body, True, line)

    def switch(self) -> Statement:
        """`switch (value) { case 1: ... }`."""
        line = self.line
        self.step()
        self.expect("(")
        value = self.expression()
        self.expect(")")
        self.expect("{")
        cases: list[Case] = []
        with self.scopes.inner():
            while not self.take("}"):
                cases.append(self.case())
        return Switch(value, tuple(cases), line)

    def case(self) -> Case:
        """The labels that stand together, and what follows up to the next."""
        line = self.line
        values: list[Expression] = []
        default = False
        while self.text in ("case", "default"):
            if self.step() == "default":
                default = True
            else:
                values.append(self.expression())
            self.expect(":")
        if not values and not default:
            raise self.problem(f"expected a case before {self.text!r}")
        statements: list[Statement] = []
        begin = self.line
        while self.text not in ("case", "default", "}") and self.at < len(self.words):
            statements.append(self.statement())
        return Case(tuple(values), default, Block(tuple(statements), begin), line)


def _name_of(declared: Declare) -> Expression:
    """The first variable of a declaration as an expression."""
    return Name(declared.variables[0].name, (), declared.line)
