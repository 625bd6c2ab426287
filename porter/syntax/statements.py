"""Statements; one that does not read is Unread, and reading goes on behind it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import replace

from porter.source.lexer import TokenKind
from porter.source.vocabulary import ASM
from porter.syntax.control import ControlReader
from porter.syntax.cursor import Mark, NotReadError
from porter.syntax.nodes import (
    Asm,
    Assign,
    Block,
    Break,
    Call,
    Choice,
    Continue,
    Evaluate,
    Expression,
    If,
    Lambda,
    Name,
    Return,
    Skipped,
    Statement,
    Throw,
    Unread,
)
from porter.syntax.walk import walk


class StatementReader(ControlReader):
    """Reads statements and blocks; local structs and enums are a later layer's."""

    @abstractmethod
    def local_definition(self) -> Statement | None:
        """A struct or enum defined in a body; None where none begins."""

    def block(self) -> Block:
        """`{ ... }` with a scope of its own."""
        line = self.line
        self.expect("{")
        statements: list[Statement] = []
        with self.scopes.inner():
            while not self.take("}"):
                if self.at >= len(self.words):
                    raise self.problem("'{' is never closed")
                statements.append(self.statement())
        return Block(tuple(statements), line)

    def body(self) -> Block:
        """The body of an `if` or loop: one that is a single statement becomes a block."""
        if self.text == "{":
            return self.block()
        line = self.line
        with self.scopes.inner():
            return Block((self.statement(),), line)

    def statement(self) -> Statement:
        """One statement; Unread for one that does not read."""
        mark = self.mark()
        angles, self.in_angles = self.in_angles, False
        try:
            return self.read_statement()
        except NotReadError as problem:
            return self.unread(mark, problem)
        finally:
            self.in_angles = angles

    def unread(self, mark: Mark, problem: NotReadError) -> Unread:
        """Everything from `mark` to the end of the statement there."""
        self.back(mark)
        begin, line = self.at, self.line
        self.skip_statement()
        return Unread(self.spelled(begin, self.at), problem.reason, max(line, problem.line))

    def skip_statement(self) -> None:
        """Step behind a `;`, or behind a block that nothing continues."""
        begin = self.at
        while self.at < len(self.words) and self.text not in ("}", ")"):
            if self.take(";"):
                return
            if self.text == "{" and self.closer(self.at) is not None:
                self.skip_bracket()
                if self.text not in ("else", "while", "catch", ")", ",", "(", ";"):
                    return
            elif self.text in ("(", "[") and self.closer(self.at) is not None:
                self.skip_bracket()
            else:
                self.step()
        if self.at == begin:
            self.step()

    def read_statement(self) -> Statement:
        """One statement."""
        text = self.text
        reader = _READERS.get(text)
        if reader is not None:
            return reader(self)
        if text in ASM:
            return self.asm()
        if text == "#unroll":
            return self.unrolled()
        if self.namespace_alias():
            return Skipped(self.line)
        defined = self.local_definition()
        if defined is not None:
            return defined
        while self.ignored():
            pass
        if self.is_declaration():
            return self.declaration()
        line = self.line
        value = self.expression()
        if not self.take(";") and not self.ends_macro(value):
            self.expect(";")
        return _for_its_effect(value, line)

    def statements_in_call(self) -> Lambda:
        """The statements up to the closing parenthesis of a macro's call."""
        line = self.line
        statements: list[Statement] = []
        with self.scopes.inner():
            while self.text != ")" and self.at < len(self.words):
                statements.append(self.statement())
        return Lambda((), Block(tuple(statements), line), line)

    def ends_macro(self, value: Expression) -> bool:
        """Returns whether `value` ends in a `)` where the statement may: a call of a macro nobody defines needs no
        semicolon.

        `CHECK(x) const int n = 1;` cannot go on, either.
        """
        if self.at == 0 or self.texts[self.at - 1] != ")":
            return False
        in_capitals = isinstance(value, Call) and isinstance(value.callee, Name) and value.callee.name.isupper()
        return self.text in ("}", ")") or (in_capitals and self.text.isidentifier())

    def declaration(self) -> Statement:
        """A declaration with its semicolon."""
        line = self.line
        found = self.declare()
        self.expect(";")
        return found if found is not None else Skipped(line)

    def empty(self) -> Statement:
        """`;`."""
        line = self.line
        self.step()
        return Skipped(line)

    def using(self) -> Statement:
        """An alias, or a using that says nothing here."""
        line = self.line
        defined = self.local_definition()
        if defined is not None:
            return defined
        alias = self.alias()
        self.expect(";")
        return alias if alias is not None else Skipped(line)

    def give_back(self) -> Statement:
        """`return value;`."""
        line = self.line
        self.step()
        value = None if self.text == ";" else self.braces(None) if self.text == "{" else self.expression()
        self.expect(";")
        return Return(value, line)

    def leave(self) -> Statement:
        """`break;` and `continue;`."""
        line, word = self.line, self.step()
        self.expect(";")
        return Break(line) if word == "break" else Continue(line)

    def throw(self) -> Statement:
        """`throw value;`."""
        line = self.line
        self.step()
        value = None if self.text == ";" else self.expression()
        self.expect(";")
        return Throw(value, line)

    def static_assertion(self) -> Statement:
        """`static_assert(...);` says nothing about the result."""
        line = self.line
        self.step()
        self.skip_bracket()
        self.take(";")
        return Skipped(line)

    def attempt(self) -> Statement:
        """`try { body } catch (...) { report(); }` is its body: what is thrown reaches the caller in another form.

        A handler that returns or sets something is not understood, for then nothing is thrown.
        """
        self.step()
        body = self.block()
        while self.take("catch"):
            self.skip_bracket()
            handler = self.block()
            if any(isinstance(node, Return | Assign) for node in walk(handler)):
                raise self.problem("a handler of 'catch' that goes on is not understood")
        return body

    def not_understood(self) -> Statement:
        """`goto` and labels."""
        raise self.problem(f"{self.text!r} is not understood")

    def asm(self) -> Statement:
        """`asm volatile("text" : "=r"(x) : "r"(y) : "memory");`."""
        line = self.line
        self.step()
        while self.text in ("volatile", "__volatile__", "inline", "goto"):
            self.step()
        self.expect("(")
        text = self.strings().value
        operands: list[tuple[tuple[str, Expression], ...]] = []
        while self.text in (":", "::"):
            if self.step() == "::":
                operands.append(())
            operands.append(self.asm_operands())
        self.expect(")")
        self.expect(";")
        outputs, inputs = (*operands, (), ())[:2]
        return Asm(str(text), outputs, inputs, line)

    def asm_operands(self) -> tuple[tuple[str, Expression], ...]:
        """`"=r"(x), "+f"(y)`; clobbers have no expression and are left out."""
        found: list[tuple[str, Expression]] = []
        while self.kind is TokenKind.STRING or self.text == "[":
            if self.text == "[":
                raise self.problem("named operands of asm are not understood")
            constraint = str(self.strings().value)
            if self.take("("):
                found.append((constraint, self.expression()))
                self.expect(")")
            if not self.take(","):
                break
        return tuple(found)


def _for_its_effect(value: Expression, line: int) -> Statement:
    """An expression as a statement; `(c ? a : b) = value` is an `if` whose sides assign to one variable each."""
    match value:
        case Assign(target=Choice(condition, yes, no)):
            first = _for_its_effect(replace(value, target=yes), line)
            second = _for_its_effect(replace(value, target=no, value=deepcopy(value.value)), line)
            return If(condition, Block((first,), line), Block((second,), line), line=line)
        case _:
            return Evaluate(value, line)


_READERS: Mapping[str, Callable[[StatementReader], Statement]] = {
    "{": StatementReader.block,
    ";": StatementReader.empty,
    "if": StatementReader.branch,
    "for": StatementReader.loop,
    "while": StatementReader.while_loop,
    "do": StatementReader.do_loop,
    "switch": StatementReader.switch,
    "return": StatementReader.give_back,
    "break": StatementReader.leave,
    "continue": StatementReader.leave,
    "throw": StatementReader.throw,
    "using": StatementReader.using,
    "typedef": StatementReader.using,
    "static_assert": StatementReader.static_assertion,
    "goto": StatementReader.not_understood,
    "try": StatementReader.attempt,
}
