"""The functions of a source as trees whose offsets count in the source's own text; macros are not expanded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from tree_sitter import Node

from porter.source.mask import mask
from porter.source.qualified import unqualified
from porter.source.syntax import parse_masked

_DEVICE = re.compile(r"__device__|__global__|DEVICE|GLOBAL")
_NESTED = frozenset({"pointer_declarator", "reference_declarator", "array_declarator", "init_declarator"})


@dataclass(frozen=True, eq=False)
class FunctionTree:
    """One function definition. `template` and `parameters` hold the declarations, `text` the whole source."""

    name: str
    text: str
    node: Node
    template: tuple[Node, ...]
    parameters: tuple[Node, ...]

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """Every node of the body, in the order of the source."""
        body = self.node.child_by_field_name("body")
        return tuple(walk(body)) if body else ()

    @cached_property
    def is_device(self) -> bool:
        """Returns whether what stands before the body says that it runs on the device, in CUDA's words or a
        library's macro.
        """
        body = self.node.child_by_field_name("body")
        outer = self.node.parent if self.template and self.node.parent else self.node
        before = outer.prev_sibling
        head = self.text[before.end_byte if before else 0 : body.start_byte if body else outer.end_byte]
        return _DEVICE.search(head) is not None

    def parameter_names(self) -> tuple[str, ...]:
        """The name of each parameter; empty where it has none."""
        return tuple(declared_name(p) for p in self.parameters)


def root_of(text: str) -> Node:
    """The tree of the whole source."""
    return parse_masked(mask(text)).root_node


def functions_of(root: Node, text: str) -> tuple[FunctionTree, ...]:
    """All function definitions, member functions included."""
    return tuple(filter(None, (_function(n, text) for n in walk(root) if n.type == "function_definition")))


def walk(node: Node) -> Iterator[Node]:
    """`node` and everything below it, parents first."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(reversed(current.children))


def written(node: Node, text: str) -> str:
    """Returns what the source has for `node`, every run of blanks one space."""
    return " ".join(text[node.start_byte : node.end_byte].split())


def declared_name(declaration: Node) -> str:
    """The name a parameter or declarator introduces; empty for an unnamed one."""
    node: Node | None = declaration
    while node is not None and node.type != "identifier":
        inner = node.child_by_field_name("declarator")
        if inner is None:
            inner = next((c for c in node.named_children if c.type in _NESTED or c.type == "identifier"), None)
        node = inner
    return node.text.decode() if node is not None and node.text else ""


def ancestors(node: Node, last: Node) -> Iterator[Node]:
    """The nodes around `node`, innermost first, up to and without `last`."""
    parent = node.parent
    while parent is not None and parent != last:
        yield parent
        parent = parent.parent


def _function(node: Node, text: str) -> FunctionTree | None:
    declarator = node.child_by_field_name("declarator")
    while declarator is not None and declarator.type != "function_declarator":
        declarator = declarator.child_by_field_name("declarator")
    if declarator is None:
        return None
    name = declarator.child_by_field_name("declarator")
    parameters = declarator.child_by_field_name("parameters")
    if name is None or parameters is None:
        return None
    above = node.parent
    template = above.child_by_field_name("parameters") if above and above.type == "template_declaration" else None
    return FunctionTree(
        unqualified(written(name, text)),
        text,
        node,
        tuple(template.named_children) if template else (),
        tuple(p for p in parameters.named_children if p.type.endswith("parameter_declaration")),
    )
