"""What stands outside of bodies: functions, structs, enums, aliases, global variables, namespaces."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise

from porter.source.lexer import TokenKind
from porter.source.program import Function, TemplateParam
from porter.source.shared import shared_arrays
from porter.source.signature import read_signature
from porter.source.vocabulary import QUALIFIERS
from porter.syntax.cursor import Scopes, NotReadError
from porter.syntax.nodes import (
    Alias,
    Assign,
    Binary,
    Block,
    Braces,
    Declare,
    Evaluate,
    Expression,
    Literal,
    Member,
    Name,
    Skipped,
    Statement,
    TypeName,
    Unread,
    Variable,
)
from porter.syntax.statements import StatementReader
from porter.syntax.unit import FunctionTree, StructTree
from porter.syntax.words import Words

_CLASS_KEYS = ("struct", "class", "union")
_ENDS = frozenset((";", "{", "}", "="))


@dataclass
class Found:
    """What was read so far, of all files."""

    functions: list[FunctionTree] = field(default_factory=list)
    structs: list[StructTree] = field(default_factory=list)
    aliases: list[Alias] = field(default_factory=list)
    variables: list[Variable] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)


class DefinitionReader(StatementReader):
    """Reads a whole file into `found`."""

    def __init__(self, file: Words, scopes: Scopes, found: Found) -> None:
        super().__init__(file, scopes)
        self.found = found
        self.path: tuple[str, ...] = ()

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
        """Whether `NAME(...)` stands where only a definition can: a macro nobody defines."""
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
        if self.text == "typedef" and self.ahead() in (*_CLASS_KEYS, "enum") and self.defines_type(self.at + 1):
            self.step()
            self.class_or_enum(template, typedef=True)
            return
        alias = self.alias()
        self.expect(";")
        if alias is not None:
            self.found.aliases.append(replace(alias, template=tuple(p.name for p in template)))

    def entity(self) -> None:
        """A function, struct, enum or variable with its template head."""
        begin = self.at
        with self.scopes.inner():
            template = self.template_head()
            if self.text in ("using", "typedef"):
                self.type_definition(template)
                declared, meaning = self.found.aliases[-1].name, "type"
            elif self.defines_type(self.at):
                declared, meaning = self.class_or_enum(template), "type"
            else:
                declared, meaning = self.function_or_variable(begin, template)
        if declared and not (meaning != "type" and self.is_type(declared)):  # a constructor is called as its class
            self.scopes.declare(declared, meaning)

    def defines_type(self, index: int) -> bool:
        """Whether `struct A ... {` or `struct A;`, without a declarator, begins at `index`."""
        while index < len(self.texts) and self.texts[index] in ("static", "const", "constexpr"):
            index += 1
        if self.texts[index] not in (*_CLASS_KEYS, "enum"):
            return False
        if self.texts[index + 1] == "{" and self.texts[index] != "enum":
            return self.texts[index - 1] == "typedef"
        i = index + 1
        while i < len(self.words):
            text = self.texts[i]
            closer = self.closer(i) if text == "[" or (text == "(" and self.texts[i - 1] in QUALIFIERS) else None
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
            return self.enum()
        return self.struct(template, typedef=typedef)

    def struct(self, template: tuple[TemplateParam, ...], *, typedef: bool) -> str:
        """`struct A<int> : B { ... } name;`."""
        line, union = self.line, self.step() == "union"
        while self.ignored():
            pass
        name, arguments = self.struct_name()
        if typedef and not name:
            closer = self.closer(self.at)
            name = self.texts[closer + 1] if closer is not None else ""
        if self.take(";"):
            return name
        self.scopes.declare(name, "type")
        self.take("final")
        bases = self.bases() if self.take(":") else ()
        self.members(StructTree(name, template, (), (), (), bases, line, arguments, union))
        if not typedef and self.is_name:
            self.found.variables.extend(self.instances(name))
        while self.text not in (";", "") and typedef:
            self.step()
        self.expect(";")
        return name

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
        found, outer = self.found, self.path
        self.found, self.path = Found(structs=found.structs, unread=found.unread), (*outer, head.name)
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
        found.structs.append(replace(head, name=name, fields=fields, methods=methods, aliases=aliases))

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

    def enum(self) -> str:
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
        self.found.variables.extend(self.enumerators(f"{name}::" if scoped else "", kind))
        self.found.aliases.append(Alias(name, kind, (), line))
        while self.text not in (";", ""):
            self.step()
        self.expect(";")
        return name

    def enumerators(self, prefix: str, kind: TypeName) -> list[Variable]:
        """`{ a, b = 4, c }` with the value of each."""
        found: list[Variable] = []
        following: Expression = Literal(0, "int", self.line)
        self.expect("{")
        while not self.take("}"):
            line, name = self.line, self.name()
            value = self.assignment() if self.take("=") else following
            self.scopes.declare(name, "value")
            found.append(Variable(prefix + name, replace(kind, const=True), (), value, "static", True, line))
            following = _successor(value, Name(prefix + name, (), line), line)
            if not self.take(",") and self.text != "}":
                raise self.problem(f"expected '}}' before {self.text!r}")
        return found

    def function_or_variable(self, begin: int, template: tuple[TemplateParam, ...]) -> tuple[str, str]:
        """The name of what is declared from the word `begin` on, and whether it is a `template` or a `value`."""
        body = self.function_body()
        if body is None:
            return self.variables_or_prototype(), "value"
        head = self.head(begin, body, template)
        if head is None:
            raise self.problem("this head of a function is not understood")
        self.found.functions.append(self.function(head, body))
        return head.name, "template"

    def function_body(self) -> int | None:
        """Index of the brace of the function whose head stands here; None for a variable or prototype."""
        index, parameters = self.at, False
        while index < len(self.words):
            text = self.texts[index]
            if text in ("(", "["):
                closer = self.closer(index)
                if closer is None:
                    return None
                parameters = parameters or (text == "(" and self.texts[index - 1] not in QUALIFIERS)
                index = closer
            elif text == "operator" and self.texts[index + 1] not in ("(", "["):
                index += 1
            elif text == ":" and parameters:
                return self.behind_initializers(index + 1)
            elif text in _ENDS:
                return index if text == "{" and parameters else None
            index += 1
        return None

    def behind_initializers(self, index: int) -> int | None:
        """Index of the body's brace behind a constructor's initializers."""
        while index < len(self.words):
            if self.texts[index] in ("(", "{"):
                closer = self.closer(index)
                if closer is None:
                    return None
                if self.texts[closer + 1] == "{":
                    return closer + 1
                index = closer
            index += 1
        return None

    def head(self, begin: int, body: int, template: tuple[TemplateParam, ...]) -> Function | None:
        """What the source room says about the function with the words `[begin, body)` for its head."""
        reading, words = self.file.reading, self.words[begin:body]
        signature = read_signature(reading, words)
        end = self.closer(body)
        if signature is None or end is None:
            return None
        start, opening, stop = words[0].start, self.words[body].start, self.words[end].end
        return Function(
            name=signature.name,
            scope=(*self.path, *signature.scope),
            space=signature.space,
            template=template,
            returns=signature.returns,
            params=signature.params,
            shared=shared_arrays(reading, opening, stop),
            extern_c=any(w.text == "extern" and n.text == '"C"' for w, n in pairwise(words)),
            launch_bounds=signature.launch_bounds,
            header=reading.span(start, opening),
            body=reading.span(opening, stop),
            span=reading.span(start, stop),
            body_text=reading.text[opening:stop],
        )

    def function(self, head: Function, body: int) -> FunctionTree:
        """The function whose `head` is known and whose template's names are."""
        returns = self.result(head)
        arguments = self.specialisation()
        with self.scopes.inner():
            parameters = self.parameters()
            if self.in_trailing_type(body):
                self.take("->")
                returns = self.pointers(self.specifiers().type)
            initial = self.initial_values(body)
            self.at = body
            block = self.block()
        return FunctionTree(head, returns, parameters, Block((*initial, *block.statements), block.line), arguments)

    def result(self, head: Function) -> TypeName:
        """The type before the function's name, which comes next then; `void` for a constructor."""
        while self.text == "extern" or self.kind is TokenKind.STRING:
            self.step()
        while self.ignored() or self.text in (
            "explicit",
            "virtual",
            "inline",
            "constexpr",
            "static",
            "__device__",
            "__host__",
        ):
            if self.text in ("explicit", "virtual", "inline", "constexpr", "static", "__device__", "__host__"):
                self.step()
        if self.text in ("~", "operator") or (self.text == head.name and self.ahead() == "("):
            return TypeName("void")
        mark = self.mark()
        kind = self.pointers(self.specifiers().type)
        if self.text in ("(", "::"):  # a constructor defined outside its class
            self.back(mark)
            return TypeName("void")
        return kind

    def specialisation(self) -> tuple[TypeName | Expression, ...]:
        """Step over the function's name to its parameters; the template arguments it is specialised for."""
        arguments: tuple[TypeName | Expression, ...] = ()
        while self.text != "(":
            if self.text == "<":
                arguments = self.template_arguments()
            elif self.text == "operator":
                self.operator_name()
            elif self.text == "":
                raise self.problem("expected '('")
            else:
                self.step()
        return arguments

    def in_trailing_type(self, body: int) -> bool:
        """Step to the `->` before the body; False without."""
        while self.at < body and self.text not in ("->", ":"):
            self.step()
        return self.text == "->"

    def initial_values(self, body: int) -> list[Statement]:
        """A constructor's `: a(x), b{y}` as assignments."""
        found: list[Statement] = []
        while self.at < body and (self.take(":") or self.take(",")):
            line, target = self.line, self.named_type()
            value = self.braces(None) if self.text == "{" else Braces(self.arguments(), None, line)
            given: Expression = value.items[0] if len(value.items) == 1 else value
            member = Member(Name("this", (), line), target.name, True, (), line)
            found.append(Evaluate(Assign("", member, given, line), line))
        return found

    def variables_or_prototype(self) -> str:
        """Variables of file or class scope, kept; prototypes, only their names."""
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
            self.skip_statement()
            self.scopes.levels[-2].setdefault(name, "template")
            return ""
        declared = self.declare()
        if self.text == ":":
            raise self.problem("bit-fields are not understood")
        self.expect(";")
        if declared is None:
            return ""
        self.found.variables.extend(declared.variables)
        for variable in declared.variables:
            self.scopes.levels[-2][variable.name] = "value"
        return ""

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
        prototype = behind in ("const", "noexcept", "override", "=", "->") or self.declares_function()
        prototype = prototype or closer == index + 1 or self.ahead() == "..."
        self.back(mark)
        return self.texts[index - 1] if prototype else ""


def _successor(value: Expression, name: Name, line: int) -> Expression:
    """The value of the enumerator after one of `value`."""
    if isinstance(value, Literal) and isinstance(value.value, int):
        return Literal(value.value + 1, "int", line)
    return Binary("+", name, Literal(1, "int", line), line)
