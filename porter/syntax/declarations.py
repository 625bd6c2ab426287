"""Declarations: variables of every form, aliases, and the parameters of functions and templates."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace

from porter.syntax.cursor import NotReadError
from porter.syntax.declarators import DeclaratorReader
from porter.syntax.nodes import (
    Alias,
    Block,
    Braces,
    Call,
    Declare,
    Expression,
    Lambda,
    Literal,
    Name,
    TypeName,
    Variable,
)
from porter.syntax.type_names import BUILT_IN, NOT_A_NAME, STORAGE, Specifiers

_AFTER_NAME = frozenset(("=", ";", ",", "[", "(", "{", ":", ""))


class DeclarationReader(DeclaratorReader):
    """Reads declarations; the bodies of lambdas are a later layer's."""

    @abstractmethod
    def block(self) -> Block:
        """`{ ... }`."""

    def is_declaration(self) -> bool:
        """Returns whether a declaration of variables begins here: a type with a declarator behind it."""
        text = self.text
        is_global = text == "::" and self.ahead().isidentifier()
        if not (self.is_name or is_global) or text in NOT_A_NAME:
            return False
        if text in STORAGE or (text in ("struct", "union") and self.ahead() == "{"):
            return True
        meaning = self.scopes.meaning(text)
        if meaning == "value" and self.ahead() != "::":
            return False
        mark = self.mark()
        try:
            specifiers = self.specifiers()
            self.pointers(specifiers.type)
            return self.at_declarator(certain=bool(specifiers.words) or text in BUILT_IN or self.is_type(text))
        except NotReadError:
            return False
        finally:
            self.back(mark)

    def at_declarator(self, *, certain: bool) -> bool:
        """Returns whether a name with what may follow it, or `(*name)`, `[a, b]`, comes next."""
        if self.text == "(":
            return self.ahead() in ("*", "&") and self.ahead(3) in (")", "[") and certain
        if self.text == "[":
            return certain
        if not self.is_name or self.half or (self.text in NOT_A_NAME):
            return False
        return self.ahead() in _AFTER_NAME or self.ahead() == "__attribute__"

    def declare(self) -> Declare | None:
        """`static const int a = 0, *b;` without its semicolon; None for a mere function declaration."""
        line = self.line
        specifiers = self.specifiers()
        if self.text == "[" or (self.text in ("&", "&&") and self.ahead() == "["):
            return self.binding(line)
        if self.text == ";":  # a union without a name within a struct
            return Declare((Variable("", specifiers.type, line=line),), line)
        variables: list[Variable] = []
        while True:
            variable = self.variable(specifiers)
            if variable is None:
                return None
            variables.append(variable)
            if not self.take(","):
                return Declare(tuple(variables), line)

    def variable(self, specifiers: Specifiers) -> Variable | None:
        """One declarator with its initializer; None where it declares a function."""
        line = self.line
        declared = self.declarator(specifiers.type)
        if not declared.name:
            raise self.problem(f"expected a name before {self.text!r}")
        if self.text == "(" and self.declares_function():
            self.skip_bracket()
            while self.is_name:
                self.step()
            self.scopes.declare(declared.name, "value")
            return None
        self.scopes.declare(declared.name, "value")
        value = self.initializer(declared.type)
        return Variable(
            declared.name,
            declared.type,
            declared.extents,
            value,
            storage(specifiers.words),
            "constexpr" in specifiers.words,
            line,
        )

    def initializer(self, kind: TypeName) -> Expression | None:
        """`= value`, `(a, b)`, `{a, b}`; None without."""
        line = self.line
        if self.take("="):
            return self.braces(None) if self.text == "{" else self.assignment()
        if self.text == "(":
            return Braces(self.arguments(), kind, line, parentheses=True)
        return self.braces(kind) if self.text == "{" else None

    def binding(self, line: int) -> Declare:
        """`auto [a, b] = value` declares each name as `std::get<i>(value)`."""
        self.take("&")
        self.take("&&")
        self.expect("[")
        names = [self.name()]
        while self.take(","):
            names.append(self.name())
        self.expect("]")
        value = self.initializer(TypeName("auto"))
        if value is None:
            raise self.problem("expected a value for the names")
        for name in names:
            self.scopes.declare(name, "value")
        parts = (
            Variable(n, TypeName("auto"), (), Call(Name("std::get", (Literal(i, "int", line),), line), (value,), line))
            for i, n in enumerate(names)
        )
        return Declare(tuple(replace(p, line=line) for p in parts), line)

    def alias(self) -> Alias | None:
        """`using A = T`, `typedef T A` without the semicolon; None for a using of names declared elsewhere."""
        line = self.line
        if self.take("typedef"):
            return self.typedef(line)
        self.expect("using")
        attributed = (self.ahead(), self.ahead(2)) == ("[", "[")
        if self.text == "namespace" or not (attributed or self.ahead() == "="):
            parts = []
            while self.text not in (";", ""):
                parts.append(self.step())
            self.used(parts)
            return None
        name = self.name()
        if attributed:  # `using scalar_t [[maybe_unused]] = float`
            self.skip_bracket()
        self.expect("=")
        kind = self.pointers(self.specifiers().type)
        if self.text in ("(", "["):
            kind = self.declarator_of_type(kind)
        self.scopes.declare(name, "type")
        return Alias(name, kind, (), line)

    def used(self, words: list[str]) -> None:
        """Brings what `using namespace a::b` or `using a::b` names into scope."""
        parts = [word for word in words if word not in ("namespace", "::", "typename")]
        if parts and not self.scopes.meaning(parts[-1]):
            self.scopes.declare(parts[-1], "type" if parts[-1] in BUILT_IN or self.is_type(parts[-1]) else "")
            self.scopes.use(parts)

    def namespace_alias(self) -> bool:
        """Take `namespace cg = cooperative_groups;`, after which `cg::` is written out; False for a definition."""
        if self.text != "namespace" or self.ahead(2) != "=":
            return False
        self.step()
        short = self.name()
        self.step()
        self.take("::")
        parts = [self.name()]
        while self.take("::"):
            parts.append(self.name())
        self.expect(";")
        self.scopes.namespaces[short] = self.scopes.namespaces.get("::".join(parts), "::".join(parts))
        return True

    def declarator_of_type(self, kind: TypeName) -> TypeName:
        """`float (*)[4]`, `void(int)`, `float[4]` as a type."""
        if self.text == "(" and self.ahead() not in ("*", "&"):
            return TypeName("()", (kind, *(p.type for p in self.parameters())))
        declared = self.declarator(kind)
        if not declared.extents:
            return declared.type
        return TypeName("[]", (declared.type, *(e for e in declared.extents if e is not None)))

    def typedef(self, line: int) -> Alias:
        """`typedef unsigned int uint;`, `typedef float Row[4];`."""
        return self.typedef_name(self.specifiers().type, line)

    def typedef_name(self, kind: TypeName, line: int) -> Alias:
        """One of the names that a typedef of `kind` declares."""
        declared = self.declarator(kind)
        self.scopes.declare(declared.name, "type")
        if declared.extents:
            sizes = (e for e in declared.extents if e is not None)
            return Alias(declared.name, TypeName("[]", (declared.type, *sizes)), (), line)
        return Alias(declared.name, declared.type, (), line)

    def lambda_expression(self) -> Lambda:
        """`[&](int a) mutable -> float { ... }`."""
        line = self.line
        self.skip_bracket()
        outer, self.in_angles = self.in_angles, False
        with self.scopes.inner():
            while self.text in ("__device__", "__host__", "constexpr"):
                self.step()
            parameters = self.parameters() if self.text == "(" else ()
            while self.text != "{":
                if self.take("->"):
                    self.pointers(self.specifiers().type)
                elif not self.ignored() and self.text not in (
                    "mutable",
                    "constexpr",
                    "noexcept",
                    "__device__",
                    "__host__",
                ):
                    raise self.problem(f"expected '{{' before {self.text!r}")
                else:
                    self.step()
            body = self.block()
        self.in_angles = outer
        return Lambda(parameters, body, line)


def storage(words: frozenset[str]) -> str:
    """The `storage` of a variable declared with `words`."""
    if "__shared__" in words:
        return "extern shared" if "extern" in words else "shared"
    for word, name in (("__constant__", "constant"), ("__device__", "device"), ("__managed__", "device")):
        if word in words:
            return name
    return "static" if "static" in words else "extern" if "extern" in words else ""
