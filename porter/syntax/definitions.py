"""Reads what stands outside of bodies: functions, structs, enums, aliases, global variables, namespaces."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from porter.source.program import TemplateParam
from porter.source.vocabulary import QUALIFIERS
from porter.syntax.cursor import NotReadError
from porter.syntax.functions import FunctionReader
from porter.syntax.nodes import Alias
from porter.syntax.prototypes import Prototype
from porter.syntax.structs import CLASS_KEYS
from porter.syntax.unit import Declaration


class DefinitionReader(FunctionReader):
    """Reads a whole file into `found`."""

    def file_scope(self) -> None:
        """Everything up to the end of the file."""
        while self.at < len(self.words):
            self.definition()

    def definition(self) -> None:
        """One definition or declaration; what does not read becomes `unread`."""
        mark, depth = self.mark(), self.path
        try:
            self.read_definition()
        except NotReadError as problem:
            self.path = depth
            self.found.unread.append(self.unread(mark, problem))
        except RecursionError:
            self.path = depth
            self.found.unread.append(self.unread(mark, self.problem("nested too deeply")))

    def read_definition(self) -> None:
        """One definition or declaration."""
        text = self.text
        if text in (";", "#unroll", "}"):
            self.step()
        elif text == "namespace" or (text == "inline" and self.ahead() == "namespace"):
            self.namespace()
        elif text == "extern" and self.ahead().startswith('"'):
            self.linkage()
        elif text in ("using", "typedef"):
            self.type_definition(())
        elif text == "static_assert":
            self.static_assertion()
        elif text == "template" and self.ahead() != "<":
            self.skip_statement()  # an explicit instantiation
        elif self.is_macro_call():
            self.macro_call()
        else:
            self.entity()

    def namespace(self) -> None:
        """`namespace a::b { ... }`."""
        outer = self.path
        self.take("inline")
        if self.namespace_alias():
            return
        self.step()
        while self.is_name:
            self.path = (*self.path, self.step())
            self.take("::")
        self.braced()
        self.path = outer

    def linkage(self) -> None:
        """`extern "C" { ... }` or `extern "C" void f() {}`."""
        if self.ahead(2) != "{":
            self.entity()
            return
        self.step()
        self.step()
        self.braced()

    def braced(self) -> None:
        """The definitions within `{ ... }`."""
        self.expect("{")
        while not self.take("}"):
            if self.at >= len(self.words):
                raise self.problem("'{' is never closed")
            self.definition()

    def is_macro_call(self) -> bool:
        """Returns whether `NAME(...)` stands where only a definition can: a macro nobody defines."""
        return self.is_name and self.ahead() == "(" and self.text.isupper() and self.text not in QUALIFIERS

    def macro_call(self) -> None:
        """Step over `PYBIND11_MODULE(name, m) { ... }`."""
        self.step()
        self.skip_bracket()
        if self.text == "{":
            self.skip_bracket()
        self.take(";")

    def type_definition(self, template: tuple[TemplateParam, ...]) -> None:
        """`using A = T;`, `typedef T A;`, `typedef struct { ... } A;`."""
        if self.text == "typedef" and self.ahead() in (*CLASS_KEYS, "enum") and self.defines_type(self.at + 1):
            self.step()
            self.class_or_enum(template, typedef=True)
            return
        aliases = list(self.aliases())
        self.expect(";")
        parameters = tuple(p.name for p in template)
        self.found.aliases.extend(replace(alias, template=parameters, scope=self.path) for alias in aliases)

    def aliases(self) -> Iterator[Alias]:
        """Yields what `using A = T` or `typedef T A, *B` declares."""
        if self.text == "typedef":
            line = self.line
            self.step()
            kind = self.specifiers().type
            yield self.typedef_name(kind, line)
            while self.take(","):
                yield self.typedef_name(kind, line)
        elif (alias := self.alias()) is not None:
            yield alias

    def entity(self) -> None:
        """A function, struct, enum or variable with its template head."""
        begin = self.at
        with self.scopes.inner():
            template = self.template_head()
            if self.text in ("using", "typedef"):
                self.type_definition(template)
                declared, meaning = self.found.aliases[-1].name, "type"
            elif self.text == "concept":
                declared, meaning = self.concept(), "concept"
            elif self.text == "friend" and self.ahead() in ("class", "struct", "union"):
                self.skip_statement()  # which would be a member without a name
                declared, meaning = "", "type"
            elif self.defines_type(self.at):
                declared, meaning = self.class_or_enum(template), "type"
            else:
                declared, meaning = self.function_or_variable(begin, template)
        if declared and not (meaning != "type" and self.is_type(declared)):  # a constructor is called as its class
            self.scopes.declare(declared, meaning)

    def concept(self) -> str:
        """The name of `concept A = ...;`, which is not asked for what it says."""
        self.step()
        name = self.name()
        self.skip_statement()
        return name

    def function_or_variable(self, begin: int, template: tuple[TemplateParam, ...]) -> tuple[str, str]:
        """The name of what is declared from the word `begin` on, and whether it is a `template` or a `value`."""
        body = self.function_body()
        if body is None:
            return self.variables_or_prototype(template), "value"
        head = self.head(begin, body, template)
        if head is None:
            raise self.problem("this head of a function is not understood")
        self.found.functions.append(self.function(head, body, special=self.texts[begin] == "template" and not template))
        return head.name, "template"

    def variables_or_prototype(self, template: tuple[TemplateParam, ...]) -> str:
        """Variables of file or class scope, kept; of prototypes the names, and parameters with defaults."""
        while self.text == "extern" and self.ahead().startswith('"'):
            self.step()
            self.step()
        while self.ignored():
            pass
        if self.text == "~" or self.texts[self.at + 1] == "(" or self.text in ("explicit", "virtual", "operator"):
            self.skip_statement()
            return ""
        name = self.prototype_name()
        if name:
            if name != "operator":
                self.keep_defaults(name, template)
                self.keep_declared(name)
            self.skip_statement()
            self.scopes.levels[-2].setdefault(name, "template")
            return ""
        declared = self.declare()
        if self.text == ":":
            raise self.problem("bit-fields are not understood")
        self.expect(";")
        if declared is None:
            return ""
        self.found.variables.extend(replace(v, scope=self.path) for v in declared.variables)
        for variable in declared.variables:
            self.scopes.levels[-2][variable.name] = "value"
        return ""

    def keep_defaults(self, name: str, template: tuple[TemplateParam, ...]) -> None:
        """The parameters of the function declared here, if any has a default and they read; steps over nothing."""
        begin = self.mark()
        while self.text != "(":
            self.step()
        closer = self.closer(self.at)
        if closer is not None and "=" in self.texts[self.at : closer]:
            with suppress(NotReadError), self.scopes.inner():
                qualified = "::".join((*self.path, name))
                self.found.prototypes.append(Prototype(qualified, template, self.parameters()))
        self.back(begin)

    def keep_declared(self, name: str) -> None:
        """The function declared here, if the type that it returns reads; steps over nothing."""
        begin = self.mark()
        with suppress(NotReadError):
            while self.ignored():
                pass
            returns = self.pointers(self.specifiers().type)
            if self.text == name:
                self.found.declared.append(Declaration("::".join((*self.path, name)), returns))
        self.back(begin)

    def prototype_name(self) -> str:
        """The name of the function declared, not defined, here; empty for a variable."""
        index = self.at
        while self.texts[index] not in (";", "=", "{", "", "("):
            if self.texts[index] == "operator":
                return "operator"
            index += 1
        if self.texts[index] != "(" or not self.texts[index - 1].isidentifier() or self.texts[index + 1] in ("*", "&"):
            return ""
        if self.texts[index - 1] in QUALIFIERS:
            return ""
        closer = self.closer(index)
        behind = self.texts[closer + 1] if closer is not None else ""
        mark = self.mark()
        self.at = index
        prototype = behind in ("const", "noexcept", "override", "=", "->") or self.declares_function(outside=True)
        prototype = prototype or closer == index + 1 or self.ahead() == "..."
        self.back(mark)
        return self.texts[index - 1] if prototype else ""
