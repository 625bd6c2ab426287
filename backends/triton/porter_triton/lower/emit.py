"""The Python that comes out, as a tree of statements whose expressions are text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from porter_triton.lower.types import Type
from porter_triton.lower.values import Scalar

_IDENTIFIER = re.compile(r"(?<![\w.\"])[A-Za-z_]\w*")


def names_in(text: str) -> frozenset[str]:
    """The identifiers a text reads; attributes and strings are none."""
    return frozenset(_IDENTIFIER.findall(text))


def renamed(text: str, names: Mapping[str, str]) -> str:
    """A text with other identifiers for some of its own."""
    return _IDENTIFIER.sub(lambda found: names.get(found.group(), found.group()), text)


@dataclass(frozen=True, slots=True)
class Store:
    """What a store of one number a lane is made of; `mask` is None where all lanes store."""

    pointer: Scalar
    value: Scalar
    mask: Scalar | None


@dataclass(frozen=True, slots=True)
class Kind:
    """What a name of the output is: one value a thread where it is `varying`, else one for the block."""

    type: Type
    varying: bool


@dataclass(frozen=True, slots=True)
class Change:
    """What an assignment is made of: `value` in the lanes of `mask`; `again` assigns another in those that run then."""

    value: Scalar
    mask: Scalar
    again: Callable[[Scalar], Line]


@dataclass(slots=True)
class Line:
    """`target = text`, or `text` alone. `effect`: it must run even if nobody reads the target.

    `temporary` targets were made up here and may be folded into their only reader; `loads`: the text reads memory.
    `count` values come as a tuple, where they are several. `store` is what the text is, if it is one, `change` what an
    assignment in some lanes is, `pointer` what a load of one number reads, `bases` the buffers of a load of several.
    `value` tells what the target is: its type,
    and whether threads differ.
    """

    text: str
    target: str = ""
    effect: bool = False
    temporary: bool = False
    loads: bool = False
    level: int = 0
    count: int = 1
    store: Store | None = None
    pointer: Scalar | None = None
    bases: frozenset[str] = frozenset()
    value: Kind | None = None
    change: Change | None = None

    @property
    def reads(self) -> frozenset[str]:
        """The names the text reads."""
        return names_in(self.text)


@dataclass(slots=True)
class Comment:
    """The lines of `file` that what follows came from; `alone` where it is one statement, a loop.

    `turns` is how many turns of it are done at a time, where they are several.
    """

    file: str
    first: int
    last: int
    alone: bool = False
    turns: int = 0


@dataclass(slots=True)
class Suite:
    """Statements in order."""

    nodes: list[Node] = field(default_factory=list)


@dataclass(slots=True)
class Branch:
    """`if condition:`; `opposite` is the negated condition."""

    condition: str
    opposite: str
    yes: Suite
    no: Suite


@dataclass(frozen=True, slots=True)
class Steps:
    """`range(start, end, step)`; `masked`: the body runs under a mask that leaves out what is not below `end`."""

    start: Scalar
    end: Scalar
    step: Scalar
    masked: bool

    @property
    def turns(self) -> int | None:
        """Returns how many there are, where that is known."""
        start, end, step = self.start.fixed, self.end.fixed, self.step.fixed
        return None if start is None or end is None or step is None else len(range(start, end, step))

    @property
    def even(self) -> bool:
        """Returns whether they are a power of two, so that tiles of several have no row too many."""
        return self.turns is not None and self.turns.bit_count() == 1


@dataclass(slots=True)
class Loop:
    """`for variable in range(...)`, or `while condition` where there is no variable; `steps` are what `range` is given.

    A turn does `turns` of the source's, where they are several.
    """

    variable: str
    header: str
    body: Suite
    steps: Steps | None = None
    turns: int = 0


@dataclass(slots=True)
class Leave:
    """`return`."""


Node = Line | Comment | Branch | Loop | Leave


def suites_of(node: Node) -> tuple[Suite, ...]:
    """The suites that a statement has inside."""
    if isinstance(node, Branch):
        return node.yes, node.no
    return (node.body,) if isinstance(node, Loop) else ()


def nodes_of(suite: Suite) -> Iterator[Node]:
    """Every statement, however deep, before those inside it."""
    for node in suite.nodes:
        yield node
        for inner in suites_of(node):
            yield from nodes_of(inner)


def lines_of(suite: Suite) -> Iterator[Line]:
    """Every line, however deep."""
    return (node for node in nodes_of(suite) if isinstance(node, Line))


def assigned(suite: Suite) -> frozenset[str]:
    """The names a suite assigns."""
    return frozenset(line.target for line in lines_of(suite) if line.target)


def render(suite: Suite, indent: int = 1) -> list[str]:
    """The lines of text."""
    pad = "    " * indent
    lines: list[str] = []
    for node in suite.nodes:
        if isinstance(node, Comment):
            last = "" if node.last <= node.first else f"-{node.last}"
            several = f", {node.turns} turns at a time" if node.turns else ""
            lines.append(f"{pad}# {node.file}:{node.first}{last}{several}")
        elif isinstance(node, Line):
            lines.append(pad + (f"{node.target} = {node.text}" if node.target else node.text))
        elif isinstance(node, Leave):
            lines.append(pad + "return")
        elif isinstance(node, Loop):
            head = f"for {node.variable} in {node.header}:" if node.variable else f"while {node.header}:"
            lines += [pad + head, *render(node.body, indent + 1)]
        else:
            lines += _branches(node, indent)
    return lines


def _branches(node: Branch, indent: int) -> list[str]:
    """`if`, and an `elif` for each `else` that holds nothing but another `if`."""
    pad, word, lines = "    " * indent, "if", list[str]()
    while True:
        lines += [f"{pad}{word} {node.condition}:", *render(node.yes, indent + 1)]
        match node.no.nodes:
            case [Branch() as inner]:
                node, word = inner, "elif"
            case []:
                return lines
            case _:
                return [*lines, f"{pad}else:", *render(node.no, indent + 1)]
