"""Reads what stands in brackets: the arguments of calls and launches, and braces."""

from __future__ import annotations

from abc import abstractmethod

from porter.source.lexer import TokenKind
from porter.syntax.cursor import NotReadError
from porter.syntax.nodes import (
    Assign,
    Braces,
    Expression,
    Lambda,
    Launch,
    Name,
    TypeName,
)
from porter.syntax.primaries import PrimaryReader


class ArgumentReader(PrimaryReader):
    """Reads arguments; expressions are a later layer's."""

    def launch(self, kernel: Name) -> Expression:
        """`<<<grid, block, shared, stream>>>(arguments)`."""
        line = self.line
        self.step()
        configuration = [self.launch_argument()]
        while self.take(","):
            configuration.append(self.launch_argument())
        if self.kind is not TokenKind.LAUNCH_CLOSE:
            raise self.problem(f"expected '>>>' before {self.text!r}")
        self.step()
        if len(configuration) < 2:
            raise self.problem("a launch needs a grid and a block")
        shared, stream = (*configuration[2:], None, None)[:2]
        return Launch(kernel, configuration[0], configuration[1], shared, stream, self.arguments(), line)

    def launch_argument(self) -> Expression:
        """One of a launch's configuration."""
        outer, self.in_angles = self.in_angles, False
        try:
            return self.braces(None) if self.text == "{" else self.assignment()
        finally:
            self.in_angles = outer

    def arguments(self) -> tuple[Expression, ...]:
        """`(a, b, {c})`; cases of a dispatch macro stand side by side without commas."""
        self.expect("(")
        outer, self.in_angles = self.in_angles, False
        try:
            found: list[Expression] = []
            while not self.take(")"):
                found.append(self.argument())
                if not self.take(",") and self.text != ")" and "CASE" not in self.text:
                    raise self.problem(f"expected ')' before {self.text!r}")
            return tuple(found)
        finally:
            self.in_angles = outer

    def macro_arguments(self) -> tuple[Expression, ...]:
        """Reads `arguments` of a macro nobody defines, which may be given statements: a lambda without parameters."""
        mark = self.mark()
        try:
            return self.arguments()
        except NotReadError as problem:
            self.back(mark)
            closer = self.closer(self.at)
            if closer is None or ";" not in self.texts[self.at : closer]:
                raise problem from None
        self.step()
        found: list[Expression] = []
        while not self.take(")"):
            found.append(self.macro_argument())
        return tuple(found)

    def macro_argument(self) -> Expression:
        """One argument with the comma behind it, or all statements up to the closing parenthesis."""
        mark = self.mark()
        try:
            value = self.argument()
            if self.take(",") or self.text == ")":
                return value
        except NotReadError:
            pass
        self.back(mark)
        return self.statements_in_call()

    def argument(self) -> Expression:
        """One argument; a pack's dots are passed over, a type (in a macro nobody defines) is its name."""
        if self.text == "{":
            return self.braces(None)
        mark, line = self.mark(), self.line
        if self.is_type(self.text) or self.text in ("const", "struct", "typename"):
            kind = self.type_here(sure=True)
            if kind is not None and self.text in (",", ")"):
                return Name("type", (kind,), line)
            self.back(mark)
        value = self.assignment()
        self.take("...")
        return value

    def braces(self, kind: TypeName | None) -> Braces:
        """`{a, b, .c = d}`."""
        line = self.line
        self.expect("{")
        outer, self.in_angles = self.in_angles, False
        try:
            items: list[Expression] = []
            while not self.take("}"):
                items.append(self.argument() if self.text != "." else self.designated())
                if not self.take(",") and self.text != "}":
                    raise self.problem(f"expected '}}' before {self.text!r}")
            return Braces(tuple(items), kind, line)
        finally:
            self.in_angles = outer

    def designated(self) -> Expression:
        """`.name = value` within braces reads as an assignment to the name."""
        line = self.line
        self.step()
        target = Name(self.name(), (), line)
        self.expect("=")
        return Assign("", target, self.argument(), line)

    @abstractmethod
    def statements_in_call(self) -> Lambda:
        """The statements up to the closing parenthesis of a macro's call."""
