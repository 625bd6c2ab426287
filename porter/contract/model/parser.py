"""Parses expressions: one small grammar for the C++ of host code and for the expressions of a contract.

Literals, names (`a::b`), calls, members, subscripts, casts, braces, C operators, and for contracts `//`, `and`, `or`,
`not`. Anything else (lambdas, statements) raises `ExpressionError`.
"""

from __future__ import annotations

import re

from porter.contract.model.syntax import (
    TYPE_BYTES,
    Binary,
    Braces,
    Call,
    Cast,
    Choice,
    ExpressionError,
    Member,
    Name,
    Node,
    Number,
    Subscript,
    Text,
    Unary,
)

_TOKEN = re.compile(
    r"""\s*(?:/\*.*?\*/\s*)*(?:
    (?P<number>0[xX][0-9a-fA-F']+[uUlLzZ]*|0[bB][01']+[uUlLzZ]*
        |(?:\d[\d']*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[uUlLzZfF]*)
    |(?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])')
    |(?P<name>(?:::)?[A-Za-z_]\w*(?:\s*::\s*[A-Za-z_]\w*)*)
    |(?P<op><<|>>|<=|>=|==|!=|&&|\|\||->|//|[-+*/%<>=!~&|^?:.,()\[\]{}])
    )""",
    re.X | re.S,
)
_TEMPLATE = re.compile(r"\s*<((?:[\w\s:,*&]|<[\w\s:,*&]*>)*)>(?=\s*[({])")
_SIZEOF = re.compile(r"\s*\(([\w\s:*]+)\)")
_BINARY = {
    "||": 1, "or": 1, "&&": 2, "and": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6,
    "<": 7, "<=": 7, ">": 7, ">=": 7, "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "//": 10, "%": 10,
}  # fmt: skip
_SPELT = {"and": "&&", "or": "||", "not": "!"}
_TYPE_WORDS = frozenset({"const", "volatile", "auto", "void", "dim3", "scalar_t", *TYPE_BYTES})
_CASTS = frozenset({"static_cast", "reinterpret_cast", "const_cast", "dynamic_cast"})
_MAX_DEPTH = 100


def parse(text: str) -> Node:
    """Returns the tree of `text`. Raises `ExpressionError` when the grammar has no such expression."""
    parser = _Parser(text)
    node = parser.expression(1, 0)
    if parser.kind != "end":
        raise parser.error(f"unexpected {parser.token!r}")
    return node


class _Parser:
    """Parses by precedence climbing over one token of look-ahead."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.kind = ""
        self.token = ""
        self.advance()

    def error(self, reason: str) -> ExpressionError:
        return ExpressionError(f"cannot read the expression '{self.text.strip()}': {reason}")

    def advance(self) -> None:
        """Steps to the next token; `kind` is "end" after the last."""
        match = _TOKEN.match(self.text, self.position)
        if match is None or match.lastgroup is None:
            rest = self.text[self.position :].strip()
            if rest:
                raise self.error(f"unexpected {rest[:10]!r}")
            self.kind, self.token = "end", ""
            return
        self.kind, self.token = match.lastgroup, match.group(match.lastgroup)
        self.position = match.end()

    def take(self, token: str) -> bool:
        """Steps over `token` when it is next."""
        if self.kind == "op" and self.token == token:
            self.advance()
            return True
        return False

    def expect(self, token: str) -> None:
        if not self.take(token):
            raise self.error(f"expected {token!r} before {self.token!r}" if self.token else f"expected {token!r}")

    def expression(self, floor: int, depth: int) -> Node:
        """Returns an expression whose operators bind at least as tightly as `floor`."""
        if depth > _MAX_DEPTH:
            raise self.error("nested too deeply")
        left = self.unary(depth + 1)
        while (level := _BINARY.get(self.token, 0)) >= floor and self.kind in ("op", "name"):
            operator = _SPELT.get(self.token, self.token)
            self.advance()
            left = Binary(operator, left, self.expression(level + 1, depth + 1))
        if floor <= 1 and self.take("?"):
            yes = self.expression(1, depth + 1)
            self.expect(":")
            return Choice(left, yes, self.expression(1, depth + 1))
        return left

    def unary(self, depth: int) -> Node:
        if depth > _MAX_DEPTH:
            raise self.error("nested too deeply")
        if self.token == "not" or (self.kind == "op" and self.token in "-+!~&*"):
            operator = _SPELT.get(self.token, self.token)
            self.advance()
            operand = self.unary(depth + 1)
            return operand if operator == "+" else Unary(operator, operand)
        return self.postfix(self.primary(depth + 1), depth + 1)

    def primary(self, depth: int) -> Node:
        kind, token = self.kind, self.token
        if kind == "number":
            self.advance()
            return _number(token)
        if kind == "string":
            self.advance()
            return Text(token[1:-1])
        if kind == "name":
            return self.name(token, depth)
        if self.take("{"):
            return Braces(self.items("}", depth))
        if self.take("("):
            return self.parenthesised(depth)
        raise self.error(f"unexpected {token!r}" if token else "it ends too early")

    def name(self, token: str, depth: int) -> Node:
        name = re.sub(r"\s+", "", token)
        if name == "sizeof" and (size := _SIZEOF.match(self.text, self.position)):
            self.position = size.end()
            self.advance()
            return Call(Name(name), (Text(size.group(1).strip()),))
        template = self.template()
        self.advance()
        if name in ("true", "false"):
            return Number(int(name == "true"))
        if name in _CASTS and template:
            self.expect("(")
            operand = self.expression(1, depth)
            self.expect(")")
            return Cast(template, operand)
        return Name(name, template)

    def template(self) -> str:
        """Steps over template arguments between a name and its `(`; `a < b` is none."""
        match = _TEMPLATE.match(self.text, self.position)
        if match is None:
            return ""
        self.position = match.end()
        return match.group(1).strip()

    def parenthesised(self, depth: int) -> Node:
        """Parses a cast or an expression, after `(`."""
        closing = self.text.find(")", self.position - 1)
        inner = self.text[self.position - len(self.token) : closing] if self.token else ""
        words = re.findall(r"[A-Za-z_][\w:]*", inner)
        if words and re.fullmatch(r"[\w\s:]+[\s*&]*", inner.strip()):
            pointer = inner.strip().endswith(("*", "&"))
            follows = self.text[closing + 1 :].lstrip()[:1]
            known = all(w in _TYPE_WORDS for w in words)
            plain = len(words) == 1 and (follows.isalnum() or follows in ("_", "(", '"'))
            if (known or pointer or plain) and follows and follows not in ")],;:?":
                self.position = closing + 1
                self.advance()
                return Cast(inner.strip(), self.unary(depth))
        node = self.expression(1, depth)
        self.expect(")")
        return node

    def postfix(self, node: Node, depth: int) -> Node:
        while self.kind == "op":
            if self.take("("):
                node = Call(node, self.items(")", depth))
            elif self.take("["):
                node = Subscript(node, self.expression(1, depth))
                self.expect("]")
            elif self.token == "{" and isinstance(node, Name):
                self.advance()
                node = Call(node, self.items("}", depth))
            elif self.token in (".", "->"):
                self.advance()
                if self.kind != "name":
                    raise self.error("a member's name is missing")
                name, template = self.token, self.template()
                self.advance()
                node = Member(node, name, template)
            else:
                break
        return node

    def items(self, closing: str, depth: int) -> tuple[Node, ...]:
        """Parses comma-separated expressions up to `closing`."""
        items: list[Node] = []
        while not self.take(closing):
            items.append(self.expression(1, depth))
            if not self.take(","):
                self.expect(closing)
                break
        return tuple(items)


def _number(token: str) -> Number:
    digits = token.replace("'", "")
    if digits[:2] in ("0x", "0X"):
        return Number(int(digits.rstrip("uUlLzZ"), 16))
    if digits[:2] in ("0b", "0B"):
        return Number(int(digits.rstrip("uUlLzZ"), 2))
    digits = digits.rstrip("uUlLzZfF")
    if "." in digits or "e" in digits or "E" in digits or token[-1] in "fF":
        return Number(float(digits))
    return Number(int(digits))
