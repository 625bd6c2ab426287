"""The table of PyTorch's and CUDA's host interface, `torch.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from porter_triton.host.codes import ATOM, COMPARE, PRODUCT, SUM, Code, Kind

_OPERATORS = ((" is not ", COMPARE), (" < ", COMPARE), (" - ", SUM), (" / ", PRODUCT))


@dataclass(frozen=True, slots=True)
class Rule:
    """`text` with `{0}` for the object, `{1}` and so on for arguments, `{*}` for all; `gives` a kind, or `same`."""

    text: str
    gives: str

    def apply(self, owner: Code | None, arguments: tuple[Code, ...]) -> Code:
        """Returns the call in Python."""
        text = self.text.replace("{*}", ", ".join(a.text for a in arguments))
        if owner is not None:
            text = text.replace("{0}", owner.within(ATOM))
        for i, argument in enumerate(arguments, 1):
            text = text.replace(f"{{{i}}}", argument.text)
        kind = Kind(self.gives) if self.gives != "same" else _widest(arguments)
        return Code(text, kind, self._binds, ctype=arguments[0].ctype if self.gives == "same" and arguments else None)

    @property
    def _binds(self) -> int:
        """Returns how tightly the operator binds that is outside of all brackets."""
        outside, depth = "", 0
        for letter in self.text:
            depth += (letter in "([") - (letter in ")]")
            outside += "" if depth else letter
        found = (level for operator, level in _OPERATORS if operator in outside)
        return next(found, ATOM)


@dataclass(frozen=True)
class Table:
    """`torch.toml`."""

    methods: Mapping[str, Rule]
    numbers: Mapping[str, Rule]
    own: Mapping[str, Rule]
    same_methods: Mapping[str, Kind]
    functions: Mapping[str, Kind]
    from_sizes: frozenset[str]
    like: frozenset[str]
    device: Mapping[str, int | list[int]]
    attributes: Mapping[str, str]
    dropped_calls: frozenset[str]
    dropped_types: frozenset[str]
    streams: frozenset[str]
    checks: frozenset[str]
    messages: frozenset[str]
    clocks: frozenset[str]
    clock_types: frozenset[str]
    clock_names: frozenset[str]


@cache
def table() -> Table:
    """Returns the table, read once."""
    raw = tomllib.loads((files("porter_triton.host") / "torch.toml").read_text("utf-8"))
    return Table(
        methods=_rules(raw["methods"]),
        numbers=_rules(raw["numbers"]),
        own=_rules(raw["own"]),
        same_methods=_kinds(raw["same"]),
        functions=_kinds(raw["functions"]),
        from_sizes=_words(raw["factories"]["sizes"]),
        like=_words(raw["factories"]["like"]),
        device=raw["device"],
        attributes=raw["attributes"],
        dropped_calls=_words(raw["dropped"]["calls"]),
        dropped_types=_words(raw["dropped"]["types"]),
        streams=_words(raw["dropped"]["streams"]),
        checks=_words(raw["dropped"]["checks"]),
        messages=_words(raw["told"]["messages"]),
        clocks=_words(raw["time"]["clocks"]),
        clock_types=_words(raw["time"]["types"]),
        clock_names=_words(raw["time"]["names"]),
    )


def _rules(raw: Mapping[str, Mapping[str, str]]) -> Mapping[str, Rule]:
    return {name: Rule(rule["text"], rule["gives"]) for name, rule in raw.items()}


def _kinds(raw: Mapping[str, str]) -> Mapping[str, Kind]:
    """Returns the kind of each function's result, by name."""
    return {name: Kind(gives) for gives, names in raw.items() for name in names.split()}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _widest(arguments: tuple[Code, ...]) -> Kind:
    for kind in (Kind.TENSOR, Kind.FLOAT):
        if any(a.kind is kind for a in arguments):
            return kind
    return Kind.INT
