"""Function definitions: their heads, parameters and bodies."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from porter.source.lexer import TokenKind
from porter.source.program import Function, TemplateParam
from porter.source.shared import shared_arrays
from porter.source.signature import read_signature
from porter.source.vocabulary import QUALIFIERS
from porter.syntax.nodes import (
    Assign,
    Block,
    Braces,
    Evaluate,
    Expression,
    Member,
    Name,
    Statement,
    TypeName,
)
from porter.syntax.structs import StructReader
from porter.syntax.unit import FunctionTree

_ENDS = frozenset((";", "{", "}", "="))


class FunctionReader(StructReader):
    """Reads functions."""

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
        """Returns what the source room says about the function with the words `[begin, body)` for its head."""
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

    def function(self, head: Function, body: int, *, special: bool) -> FunctionTree:
        """The function whose `head` is known and whose template's names are; `special` for `template <>`."""
        returns = self.result(head)
        arguments = self.specialisation()
        with self.scopes.inner():
            parameters = self.parameters()
            constant = self.text == "const"
            if self.in_trailing_type(body):
                self.take("->")
                returns = self.pointers(self.specifiers().type)
            initial = self.initial_values(body)
            self.at = body
            block = self.block()
        body_block = Block((*initial, *block.statements), block.line)
        file = self.file.reading.source.path.name
        tree = FunctionTree(head, returns, parameters, body_block, arguments, file, constant)
        return replace(tree, arguments=self.specialised_for(tree)) if special and not arguments else tree

    def specialised_for(self, tree: FunctionTree) -> tuple[TypeName | Expression, ...]:
        """Returns what `template <> void f(int* x)` specialises `template <typename T> void f(T* x)` for."""
        for general in reversed(self.found.functions):
            told = _told(general, tree) if general.head.qualified == tree.head.qualified else ()
            if told:
                return told
        return ()

    def result(self, head: Function) -> TypeName:
        """The type before the function's name, which comes next then; `void` for a constructor.

        That of a conversion is its name.
        """
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
        if self.text == "operator" and head.name.startswith("operator "):
            mark = self.mark()
            self.step()
            kind = self.pointers(self.specifiers().type)
            self.back(mark)
            return kind
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
            value = self.braces(None) if self.text == "{" else Braces(self.arguments(), None, line, parentheses=True)
            given: Expression = value.items[0] if len(value.items) == 1 else value
            member = Member(Name("this", (), line), target.name, True, (), line)
            found.append(Evaluate(Assign("", member, given, line), line))
        return found


def _told(general: FunctionTree, special: FunctionTree) -> tuple[TypeName | Expression, ...]:
    """The template arguments of `general` with which its parameters and its result are those of `special`; none where
    unsure.
    """
    if len(general.parameters) != len(special.parameters):
        return ()
    pairs = [(g.type, s.type) for g, s in zip(general.parameters, special.parameters, strict=True)]
    pairs.append((general.returns, special.returns))
    found: list[TypeName] = []
    for name in (t.name for t in general.head.template):
        types = [(g, s) for g, s in pairs if g.name == name and s.pointers >= g.pointers]
        if not types:
            return ()
        wide, narrow = types[0]
        found.append(TypeName(narrow.name, narrow.arguments, narrow.pointers - wide.pointers))
    return tuple(found)
