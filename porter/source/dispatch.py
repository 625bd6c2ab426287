"""Names that a dispatch macro or a local alias gives several meanings: `scalar_t` within `AT_DISPATCH_*`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from porter.resources import resource
from porter.source.lexer import Token, TokenKind, significant, split_arguments, tokens
from porter.source.program import Macro
from porter.source.vocabulary import STATEMENT_ENDS

_NAME = re.compile(r"AT_(?:DISPATCH_)?(?:CASE_)?(?P<group>[A-Z_]+?)(?:_AND(?P<more>\d?))?$")
_CONSTANT = re.compile(r"(?:\w+::)*?(?:k([A-Z]\w*)|ScalarType::(\w+))")
_SCALAR_TYPE = re.compile(r"(?:\w+::)*k?(\w+)$")


@cache
def _table() -> Mapping[str, Mapping[str, object]]:
    return tomllib.loads((resource("grammars") / "torch_dispatch.toml").read_text("utf-8"))


@dataclass
class DispatchMacros:
    """The macros of a file that wrap PyTorch's dispatch, or have `using T = float;` in their cases.

    What one makes of the names in its body is told once: macros that repeat another one ten times, within such as do,
    have more calls than can be gone through.
    """

    macros: Mapping[str, Macro]
    _known: dict[str, Mapping[str, list[str]]] = field(default_factory=dict)

    def meanings(self, words: Sequence[Token], index: int) -> dict[str, list[str]]:
        """Returns what the call of a macro at `words[index]` makes of the names it defines for its body, each with its
        types.
        """
        name = words[index].text
        macro = self.macros.get(name)
        if macro is None or macro.params is None:
            types = _torch_types(name, split_arguments(words, index + 1, templates=False))
            return {_scalar_name(name, words, index): types} if types else {}
        given = _given(macro, split_arguments(words, index + 1, templates=False))
        found: dict[str, list[str]] = {}
        for inner, types in self._own(macro).items():
            found.setdefault(given.get(inner, inner), []).extend(given.get(t, t) for t in types)
        return {name: list(dict.fromkeys(types)) for name, types in found.items()}

    def _own(self, macro: Macro) -> Mapping[str, list[str]]:
        """The names that the body of a macro defines, in terms of its parameters; none for a macro within itself."""
        if macro.name not in self._known:
            self._known[macro.name] = {}
            self._known[macro.name] = self._of_body(significant(tokens(macro.body, line_start=False)))
        return self._known[macro.name]

    def _of_body(self, body: Sequence[Token]) -> Mapping[str, list[str]]:
        found: dict[str, list[str]] = {}
        for name, meaning in aliases(body):
            found.setdefault(name, []).append(meaning)
        for i, token in enumerate(body[:-1]):
            if token.kind is TokenKind.IDENTIFIER and body[i + 1].text == "(":
                for name, types in self.meanings(body, i).items():
                    found.setdefault(name, []).extend(types)
        return {name: list(dict.fromkeys(types)) for name, types in found.items()}


def cpp_type(constant: str) -> str | None:
    """Returns the C++ type that a constant of torch's names, `at::kHalf` or `ScalarType::Half`; None for any other."""
    named = _CONSTANT.fullmatch(constant)
    found = _table()["scalar_types"].get(named[1] or named[2]) if named else None
    return None if found is None else str(found)


def _scalar_name(name: str, words: Sequence[Token], index: int) -> str:
    """`scalar_t`, `index_t`, or the name given to `AT_PRIVATE_CASE_TYPE_USING_HINT` and the like."""
    if name == "AT_DISPATCH_INDEX_TYPES":
        return "index_t"
    arguments = split_arguments(words, index + 1, templates=False)
    hinted = name.endswith("HINT") and len(arguments) > 1 and len(arguments[1]) == 1
    return arguments[1][0].text if hinted else "scalar_t"


def _torch_types(name: str, arguments: Sequence[Sequence[Token]]) -> list[str]:
    """The types of one of PyTorch's macros; nothing for any other name."""
    if not name.startswith("AT_"):
        return []
    if name in ("AT_DISPATCH_CASE", "AT_PRIVATE_CASE_TYPE", "AT_PRIVATE_CASE_TYPE_USING_HINT"):
        return [t for a in arguments[:1] if (t := _scalar_type(a))]
    if name in ("AT_DISPATCH_SWITCH", "AT_DISPATCH_V2"):
        inner = [i for a in arguments for i in a]
        return _types_of_cases(inner)
    groups = _groups()
    plain = name.removeprefix("AT_DISPATCH_").removeprefix("CASE_")
    if plain in groups:
        return list(groups[plain])
    found = _NAME.match(name)
    if found is None or found["group"] not in groups:
        return []
    extra = [t for a in arguments[: int(found["more"] or 1)] if (t := _scalar_type(a))]
    return [*groups[found["group"]], *extra]


def _types_of_cases(words: Sequence[Token]) -> list[str]:
    """Types of the `AT_DISPATCH_CASE...` and `AT_<group>` among the arguments of a switch."""
    types: list[str] = []
    for i, token in enumerate(words):
        if token.kind is not TokenKind.IDENTIFIER:
            continue
        if token.text.startswith("AT_DISPATCH_CASE") and i + 1 < len(words) and words[i + 1].text == "(":
            types.extend(_torch_types(token.text, split_arguments(words, i + 1, templates=False)))
        elif token.text.removeprefix("AT_") in _groups():
            types.extend(_groups()[token.text.removeprefix("AT_")])
        elif token.text.startswith("k") and (scalar := _scalar_type([token])):
            types.append(scalar)
    return list(dict.fromkeys(types))


@cache
def _groups() -> Mapping[str, tuple[str, ...]]:
    return {name: tuple(map(str, types)) for name, types in _table()["groups"].items() if isinstance(types, list)}


def _scalar_type(argument: Sequence[Token]) -> str:
    found = _SCALAR_TYPE.match("".join(t.text for t in argument))
    return str(_table()["scalar_types"].get(found.group(1), "")) if found else ""


def _given(macro: Macro, arguments: Sequence[Sequence[Token]]) -> dict[str, str]:
    """Returns what each parameter of `macro` stands for, as far as it is short enough to be a name or type."""
    pairs = zip(macro.params or (), arguments, strict=False)
    return {param: "".join(t.text for t in argument) for param, argument in pairs if len(argument) < 8}


def aliases(words: Sequence[Token]) -> Iterator[tuple[str, str]]:
    """`using A = B;`, `typedef B A;` and `constexpr T A = B;` among `words`: A and B."""
    for i, token in enumerate(words):
        if token.text not in ("using", "typedef", "constexpr"):
            continue
        stop = next((k for k in range(i, len(words)) if words[k].text in STATEMENT_ENDS), len(words))
        if token.text == "typedef":
            if stop > i + 2 and words[stop - 1].kind is TokenKind.IDENTIFIER:
                yield words[stop - 1].text, spelled(words[i + 1 : stop - 1])
            continue
        equals = next((k for k in range(i, stop) if words[k].text == "="), None)
        named = i + 1 if token.text == "using" else (equals or 0) - 1  # behind the name of a type stand attributes
        if equals is not None and words[named].kind is TokenKind.IDENTIFIER:
            yield words[named].text, spelled(words[equals + 1 : stop])


def spelled(words: Sequence[Token]) -> str:
    """The tokens as one text, with blanks only where two names would run together."""
    parts: list[str] = []
    for word in words:
        glue = parts and parts[-1][-1:].isidentifier() and word.text[:1].isidentifier()
        parts.append(" " + word.text if glue else word.text)
    return "".join(parts)
