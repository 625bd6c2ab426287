"""Declarators: names with the pointers, extents and parameters around them, and the parameters of templates."""

from __future__ import annotations

from dataclasses import dataclass, replace

from porter.source.program import TemplateParam
from porter.syntax.cursor import NotReadError
from porter.syntax.expressions import ExpressionReader
from porter.syntax.nodes import (
    Expression,
    Literal,
    Parameter,
    TypeName,
)
from porter.syntax.type_names import NOT_A_NAME

_ENDS_NAME = (",", ">", ">>", "=", "...")


@dataclass(frozen=True, slots=True)
class Declarator:
    """A declared name with its full type; `extents` are those behind the name."""

    name: str
    type: TypeName
    extents: tuple[Expression | None, ...]


class DeclaratorReader(ExpressionReader):
    """Reads declarators and parameter lists."""

    def declarator(self, kind: TypeName) -> Declarator:
        """`*name[4]`, `&name`, `(*name)[4]`, `(&name)[N]`, `(*name)(int)`; the name may be missing."""
        kind = self.pointers(kind)
        if self.text == "(" and self.ahead() in ("*", "&", "&&", "^"):
            return self.bracketed(kind)
        name = ""
        if self.is_name and self.text not in NOT_A_NAME:
            name = self.step()
            while self.text == "::" and self.ahead().isidentifier():  # a static member defined outside its class
                self.step()
                name = f"{name}::{self.step()}"
        while self.ignored():
            pass
        return Declarator(name, kind, self.extents())

    def bracketed(self, kind: TypeName) -> Declarator:
        """`(*name)[4]` is a pointer to the type `[]` of `kind` and 4, `(*name)(int)` one to `()`."""
        self.step()
        outer = self.pointers(TypeName(""))
        name = self.name() if self.is_name else ""
        inner = self.extents()
        self.expect(")")
        if self.text == "(":
            parameters = tuple(p.type for p in self.parameters())
            return Declarator(name, replace(outer, name="()", arguments=(kind, *parameters)), inner)
        sizes = tuple(e if e is not None else Literal(0, "int", self.line) for e in self.extents())
        return Declarator(name, replace(outer, name="[]", arguments=(kind, *sizes)), inner)

    def extents(self) -> tuple[Expression | None, ...]:
        """`[4][N]`; None for `[]`."""
        found: list[Expression | None] = []
        while self.text == "[" and self.ahead() != "[":
            self.step()
            found.append(None if self.text == "]" else self.inner_expression())
            self.expect("]")
        return tuple(found)

    def declares_function(self, *, outside: bool = False) -> bool:
        """Returns whether the parenthesis behind a declared name holds parameters, not values: `T f(int a);`.

        `T f(a * b);` declares a variable within a body, and `outside` of one a function.
        """
        closer = self.closer(self.at)
        if closer is None or self.texts[closer + 1] not in (";", ",", "const", ""):
            return False
        mark = self.mark()
        try:
            self.step()
            if self.scopes.meaning(self.text) == "value":
                return False
            specifiers = self.specifiers()
            sure = bool(specifiers.words) or self.known(specifiers.type.name) or self.is_name
            kind = self.pointers(specifiers.type)
            if self.is_name:
                self.step()
            sure = sure or (outside and kind.pointers > 0)
            return sure and self.text in (",", ")", "[", "=") and self.at > mark[0] + 1
        except NotReadError:
            return False
        finally:
            self.back(mark)

    def parameters(self) -> tuple[Parameter, ...]:
        """`(const float* x, int n = 4, ...)`; the names become known."""
        self.expect("(")
        outer, self.in_angles = self.in_angles, False
        found: list[Parameter] = []
        while not self.take(")"):
            if self.take("..."):
                continue
            if self.text == "void" and self.ahead() == ")":
                self.step()
                continue
            found.append(self.parameter())
            if not self.take(",") and self.text not in (")", "..."):
                raise self.problem(f"expected ')' before {self.text!r}")
        self.in_angles = outer
        return tuple(found)

    def parameter(self) -> Parameter:
        """One parameter; the first extent of an array is a pointer, a pack's dots are part of its type's name."""
        kind = self.pointers(self.specifiers(sure=True).type)
        pack = self.take("...")
        declared = self.declarator(kind)
        name, kind = declared.name, declared.type
        if pack:
            kind = replace(kind, name=f"{kind.name}...")
        if len(declared.extents) > 1:
            inner = tuple(e for e in declared.extents[1:] if e is not None)
            kind = TypeName("[]", (kind, *inner), pointers=1)
        elif declared.extents:
            kind = replace(kind, pointers=kind.pointers + 1)
        default = None
        if self.take("="):
            default = self.braces(None) if self.text == "{" else self.assignment()
        if name:
            self.scopes.declare(name, "value")
        return Parameter(name, kind, default)

    def template_head(self) -> tuple[TemplateParam, ...]:
        """`template <typename T, int N = 4>`; the names become known. Of several heads the last."""
        found: tuple[TemplateParam, ...] = ()
        while self.text == "template" and self.ahead() == "<":
            self.step()
            self.step()
            outer, self.in_angles = self.in_angles, True
            parameters: list[TemplateParam] = []
            while not self.close_angle():
                parameters.append(self.template_parameter())
                self.take(",")
            found = tuple(parameters)
            self.in_angles = outer
            if self.text == "requires":
                raise self.problem("constraints are not understood")
        return found

    def constrained(self) -> bool:
        """Returns whether a concept comes next, which stands for `typename` and says what it may be; not of what is
        in it.
        """
        return self.scopes.meaning(self.text) == "concept" and self.is_name

    def template_parameter(self) -> TemplateParam:
        """`typename T = float`, `int N`, `typename... Ts`, `template <typename> class F`."""
        begin = self.at
        if self.text == "template":
            self.template_head()
        if self.constrained() or (
            self.text in ("typename", "class") and (self.ahead() in _ENDS_NAME or self.ahead(2) in _ENDS_NAME)
        ):
            self.step()
            kind = "typename..." if self.take("...") else "typename"
            name = self.name() if self.is_name else ""
            meaning = "type parameter"
        else:
            kind_type = self.pointers(self.specifiers().type)
            self.take("...")
            kind, meaning = self.spelled(begin, self.at), "value"
            name = self.declarator(kind_type).name
        if name:
            self.scopes.declare(name, meaning)
        default = ""
        if self.take("="):
            begin = self.at
            self.template_argument()
            default = self.spelled(begin, self.at)
        return TemplateParam(kind, name, default)
