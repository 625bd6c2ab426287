"""Finds tensors that a kernel's text reads by one index and nowhere else: their elements can be loaded early."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from porter.source.lexer import Token
from porter.source.program import Function

# What makes lanes wait for, or see, each other.
TOGETHER = ("__sync", "__shfl", "__ballot", "__any", "__all", "__match", "__reduce", "__activemask", "__shared__")
WRITES = frozenset(("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"))


def read_at(kernel: Function, before: Sequence[Token], body: Sequence[Token], index: str) -> Iterator[tuple[str, str]]:
    """Yields the constant tensors that `body` reads at `index` and nowhere else, with the types of their elements.

    They are parameters of the kernel, or declared in the words `before`.
    """
    given = {p.name: p.type.base for p in kernel.params if p.type.pointers == 1 and p.type.const}
    for name, type_ in {**given, **dict(_pointers(before))}.items():
        places = [i for i, word in enumerate(body) if word.text == name and not is_member(body, i)]
        uses = [[word.text for word in body[i + 1 : i + 5]] for i in places]
        only = all(use[:3] == ["[", index, "]"] and use[3:] and use[3] not in (*WRITES, ".") for use in uses)
        taken = any(body[i - 1].text in ("&", "++", "--") for i in places if i)
        if uses and only and not taken:
            yield name, type_


def _pointers(words: Sequence[Token]) -> Iterator[tuple[str, str]]:
    """Yields the kernel's own pointers to what is constant: `const float* row = x + ...`."""
    for i, word in enumerate(words[:-4]):
        if word.text == "const" and [w.text for w in words[i + 2 : i + 5 : 2]] == ["*", "="]:
            yield words[i + 3].text, words[i + 1].text


def is_member(words: Sequence[Token], i: int) -> bool:
    """Returns whether the word is a member: `x` of `threadIdx.x`."""
    return i > 0 and words[i - 1].text in (".", "->")
