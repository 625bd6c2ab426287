"""Structs, unions and enums."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace

from porter.source.lexer import match_bracket
from porter.source.program import TemplateParam
from porter.source.vocabulary import ALIGNING, QUALIFIERS
from porter.syntax.cursor import Scopes
from porter.syntax.nodes import (
    Alias,
    Binary,
    Declare,
    Expression,
    Literal,
    Name,
    Skipped,
    Statement,
    TypeName,
    Unread,
    Variable,
)
from porter.syntax.prototypes import Prototype
from porter.syntax.statements import StatementReader
from porter.syntax.unit import Declaration, FunctionTree, StructTree
from porter.syntax.words import Words

CLASS_KEYS = ("struct", "class", "union")


@dataclass
class Found:
    """Everything that was read so far, of all files."""

    functions: list[FunctionTree] = field(default_factory=list)
    structs: list[StructTree] = field(default_factory=list)
    aliases: list[Alias] = field(default_factory=list)
    variables: list[Variable] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)
    prototypes: list[Prototype] = field(default_factory=list)
    declared: list[Declaration] = field(default_factory=list)


class StructReader(StatementReader):
    """Reads types; what else a struct may define is a later layer's."""

    @abstractmethod
    def definition(self) -> None:
        """One definition or declaration."""

    def __init__(self, file: Words, scopes: Scopes, found: Found) -> None:
        super().__init__(file, scopes)
        self.found = found
        self.path: tuple[str, ...] = ()

    def defines_type(self, index: int) -> bool:
        """Returns whether `struct A ... {` or `struct A;`, without a declarator, begins at `index`."""
        while index < len(self.texts) and self.texts[index] in ("static", "const", "constexpr"):
            index += 1
        if self.texts[index] not in (*CLASS_KEYS, "enum"):
            return False
        if self.texts[index + 1] == "{" and self.texts[index] != "enum":
            return self.texts[index - 1] == "typedef"
        i = index + 1
        while i < len(self.words):
            text = self.texts[i]
            closer = self.closer(i) if text == "[" or (text == "(" and self.texts[i - 1] in QUALIFIERS) else None
            if text == "<" and i == index + 2:  # the arguments of a specialisation
                closer = match_bracket(self.words, i)
            if text == "{" or (text == ";" and i <= index + 2):
                return True
            if closer is None and text in (";", "=", "}", "*", "&", "("):
                return False
            i = i + 1 if closer is None else closer + 1
        return False

    def local_definition(self) -> Statement | None:
        """A struct or enum defined in a body; None where none begins."""
        typedef = self.text == "typedef"
        if not self.defines_type(self.at + typedef):
            return None
        self.at += typedef
        line, before = self.line, len(self.found.variables)
        name = self.class_or_enum((), typedef=typedef)
        self.scopes.declare(name, "type")
        constants = self.found.variables[before:]
        return Declare(tuple(constants), line) if constants else Skipped(line)

    def class_or_enum(self, template: tuple[TemplateParam, ...], *, typedef: bool = False) -> str:
        """A struct or enum; its name."""
        while self.text in ("static", "const", "constexpr"):
            self.step()
        if self.text == "enum":
            return self.enum(typedef=typedef)
        return self.struct(template, typedef=typedef)

    def struct(self, template: tuple[TemplateParam, ...], *, typedef: bool) -> str:
        """`struct A<int> : B { ... } name;`."""
        line, key = self.line, self.step()
        aligned = self.aligned()
        name, arguments = self.struct_name()
        if typedef and not name:
            closer = self.closer(self.at)
            name = self.texts[closer + 1] if closer is not None else ""
        if self.take(";"):
            return name
        self.scopes.declare(name, "type")
        self.take("final")
        bases = self.bases() if self.take(":") else ()
        inside = self.texts[self.at : self.closer(self.at) or self.at]
        hidden = key == "class" or not {"private", "protected", "virtual"}.isdisjoint(inside)
        closed = hidden or not self.is_made_of_nothing(name)
        self.members(StructTree(name, template, (), (), (), bases, line, arguments, key == "union", aligned, closed))
        if not typedef and self.is_name:
            self.found.variables.extend(self.instances(name))
        if typedef:
            self.further_names(name, line)
        self.expect(";")
        return name

    def further_names(self, name: str, line: int) -> None:
        """The declarators behind the body of `typedef struct name { ... } Alias, *Pointer`."""
        while self.text not in (";", ""):
            if self.take(",") or self.ignored():
                continue
            alias = self.typedef_name(TypeName(name), line)
            if alias.name != name:
                self.found.aliases.append(replace(alias, scope=self.path))

    def is_made_of_nothing(self, name: str) -> bool:
        """Returns whether the class `name`, whose body begins here, has no constructor, or one without arguments."""
        within = range(self.at + 1, self.closer(self.at) or self.at)
        makers = [
            i + 1 for i in within if self.texts[i] == name and self.texts[i + 1] == "(" and self.texts[i - 1] != "~"
        ]
        return not makers or any(self.takes_nothing(i) for i in makers)

    def takes_nothing(self, opening: int) -> bool:
        """Returns whether the parameters within the bracket at `opening` may all be left out, of what is defined."""
        closer = self.closer(opening)
        if closer is None or self.texts[closer + 1 : closer + 3] == ["=", "delete"]:
            return False
        commas = self.texts[opening + 1 : closer].count(",")
        return closer == opening + 1 or self.texts[opening + 1 : closer].count("=") == commas + 1

    def aligned(self) -> Expression | None:
        """Returns what `alignas` and `__align__` say among the attributes of a struct."""
        found = None
        while True:
            if self.text in ALIGNING:
                self.step()
                self.expect("(")
                found = self.unbracketed()
                self.expect(")")
            elif not self.ignored():
                return found

    def struct_in_place(self) -> TypeName:
        """`struct { ... }` or `union { ... }` where a type stands."""
        line, key = self.line, self.step()
        name = f"{key}@{len(self.found.structs)}"
        self.members(StructTree(name, (), (), (), (), (), line, (), key == "union"))
        return TypeName(name)

    def instances(self, name: str) -> list[Variable]:
        """The variables declared behind a struct's closing brace."""
        found = []
        while self.is_name:
            line, declared = self.line, self.declarator(TypeName(name))
            self.scopes.declare(declared.name, "value")
            value = self.initializer(declared.type)
            found.append(Variable(declared.name, declared.type, declared.extents, value, line=line))
            self.take(",")
        return found

    def struct_name(self) -> tuple[str, tuple[TypeName | Expression, ...]]:
        """The name with its scopes, and the arguments of a specialisation."""
        parts: list[str] = []
        arguments: tuple[TypeName | Expression, ...] = ()
        while self.is_name:
            parts.append(self.step())
            if self.text == "<":
                arguments = self.template_arguments()
            if not self.take("::"):
                break
        return "::".join(parts), arguments

    def bases(self) -> tuple[TypeName, ...]:
        """`: public A, B<T>`."""
        found: list[TypeName] = []
        while self.text != "{":
            while self.text in ("public", "private", "protected", "virtual", "typename"):
                self.step()
            found.append(self.named_type())
            self.take("...")
            if not self.take(",") and self.text != "{":
                raise self.problem(f"expected '{{' before {self.text!r}")
        return tuple(found)

    def members(self, head: StructTree) -> None:
        """The body of the struct of which `head` has all the rest."""
        found, outer, unread = self.found, self.path, len(self.found.unread)
        self.found, self.path = (
            Found(structs=found.structs, unread=found.unread, prototypes=found.prototypes),
            (*outer, head.name),
        )
        try:
            with self.scopes.inner():
                self.expect("{")
                while not self.take("}"):
                    if self.at >= len(self.words):
                        raise self.problem("'{' is never closed")
                    self.struct_member()
            own = self.found
        finally:
            self.found, self.path = found, outer
        fields, methods, aliases = tuple(own.variables), tuple(own.functions), tuple(own.aliases)
        name = "::".join((*outer, head.name))
        closed = head.closed or len(found.unread) > unread
        members = replace(head, fields=fields, methods=methods, aliases=aliases, closed=closed)
        found.structs.append(replace(members, name=name))

    def struct_member(self) -> None:
        """One member of a struct."""
        if self.text in ("public", "private", "protected") and self.ahead() == ":":
            self.step()
            self.step()
            return
        if self.text == "friend":
            self.skip_statement()
            return
        self.definition()

    def enum(self, *, typedef: bool) -> str:
        """`enum class E : int { a, b = 4 };`: constexpr variables, and an alias of the integer."""
        line = self.line
        self.step()
        scoped = self.take("class") or self.take("struct")
        name = self.name() if self.is_name else ""
        kind = self.specifiers().type if self.take(":") else TypeName("int")
        if self.take(";"):
            return name
        closer = self.closer(self.at)
        name = name or (self.texts[closer + 1] if closer is not None and self.texts[closer + 1].isidentifier() else "")
        self.scopes.declare(name, "type")
        self.found.variables.extend(self.enumerators(name, f"{name}::" if scoped else "", kind))
        self.found.aliases.append(Alias(name, kind, (), line, self.path, enumerates=True))
        if typedef:
            self.further_names(name, line)
        while self.text not in (";", ""):
            self.step()
        self.expect(";")
        return name

    def enumerators(self, enum: str, prefix: str, kind: TypeName) -> list[Variable]:
        """`{ a, b = 4, c }` with the value of each."""
        found: list[Variable] = []
        following: Expression = Literal(0, "int", self.line)
        self.expect("{")
        while not self.take("}"):
            line, name = self.line, self.name()
            value = self.assignment() if self.take("=") else following
            self.scopes.declare(name, "value")
            self.scopes.declare(f"{enum}::{name}", "value")
            constant = Variable(prefix + name, replace(kind, const=True), (), value, "static", True, line, self.path)
            found.append(constant)
            following = _successor(value, Name(prefix + name, (), line), line)
            if not self.take(",") and self.text != "}":
                raise self.problem(f"expected '}}' before {self.text!r}")
        return found


def _successor(value: Expression, name: Name, line: int) -> Expression:
    """The value of the enumerator after one of `value`."""
    if isinstance(value, Literal) and isinstance(value.value, int):
        return Literal(value.value + 1, "int", line)
    return Binary("+", name, Literal(1, "int", line), line)
