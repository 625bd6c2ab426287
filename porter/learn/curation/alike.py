"""Tells when two classes are the same: by code with other names, by graph, and nearly, by runs of their words."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator, Sequence

import numpy as np

from porter.learn.curation.records import Operation
from porter.python_tree import module_tree

_SHINGLE = 5  # tokens: shorter runs are alike in all modules
_PERMUTATIONS = 128  # the share of equal signatures is then right to about 0.04
_PRIME = (1 << 31) - 1  # products then wrap many times; with 2^61 the smallest hash was the least of all
_NEARLY = 0.8
Signature = np.ndarray[tuple[int, ...], np.dtype[np.uint64]]


def renamed_digest(code: str) -> str:
    """Returns a digest that code has in common with what differs in names, annotations and docstrings alone."""
    return _digest("\n".join(_words(code)))


def graph_digest(operations: Sequence[Operation]) -> str:
    """Returns a digest of what feeds what. Views count; sizes do not, nor the order of what is independent."""
    labels: list[str] = []
    for one in operations:
        sources = (labels[place] if 0 <= place < len(labels) else "input" for place in one.sources)
        labels.append(_digest(f"{one.operator}({','.join(sources)})"))
    return _digest(" ".join(sorted(labels)))


def shingles(code: str) -> frozenset[str]:
    """Returns all runs of five words of code whose own names are numbered."""
    words = _words(code)
    return frozenset("\0".join(words[at : at + _SHINGLE]) for at in range(max(1, len(words) - _SHINGLE + 1)))


def signature(code: str) -> Signature:
    """Returns the MinHash of the runs of five words of `code`."""
    raw = [int.from_bytes(hashlib.blake2b(one.encode(), digest_size=4).digest(), "big") for one in shingles(code)]
    hashes = np.array(raw, dtype=np.uint64)[:, None] % np.uint64(_PRIME)
    draw = np.random.Generator(np.random.Philox(7_919))
    factors = draw.integers(1, 1 << 31, _PERMUTATIONS, dtype=np.uint64)
    shifts = draw.integers(0, 1 << 31, _PERMUTATIONS, dtype=np.uint64)
    mixed: Signature = ((hashes * factors + shifts) % np.uint64(_PRIME)).min(axis=0)
    return mixed


def nearest(own: Signature, others: Signature) -> tuple[int, float]:
    """Returns the place in `others` of what has most runs in common with `own`, and the share of these."""
    shares = (others == own).mean(axis=1)
    place = int(shares.argmax())
    return place, float(shares[place])


def is_nearly(share: float) -> bool:
    """Returns whether what has that share of runs in common is taken for the same."""
    return share >= _NEARLY


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=8).hexdigest()


def _words(code: str) -> list[str]:
    """Returns the tree of `code`, node after node; names that it binds itself are numbered as they come."""
    tree = module_tree(code)
    return list(_Numbering(set(_bound(tree))).words(tree))


def _bound(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name


_SKIPPED = frozenset(("annotation", "returns", "ctx", "type_comment", "lineno", "kind"))


class _Numbering:
    """Numbers for the names that code binds: those of a function anew in each, all others once."""

    def __init__(self, own: set[str]) -> None:
        self._own = own
        self._numbers: dict[str, str] = {}
        self._functions: list[dict[str, str]] = []

    def words(self, node: object) -> Iterator[str]:
        """Yields a tree as words."""
        if isinstance(node, list):
            for item in node:
                yield from self.words(item)
        elif isinstance(node, (ast.Import, ast.ImportFrom)) or _is_docstring(node):
            return
        elif isinstance(node, ast.AST):
            yield type(node).__name__
            yield from self._fields(node)
        elif isinstance(node, str) and node in self._own:
            yield self._numbers.setdefault(node, f"v{len(self._numbers)}")
        elif node is not None:
            yield repr(node)

    def _fields(self, node: ast.AST) -> Iterator[str]:
        opens = isinstance(node, (ast.FunctionDef, ast.Lambda))
        if opens:
            self._functions.append(dict.fromkeys(_variables(node), ""))
        for name, value in ast.iter_fields(node):
            if name not in _SKIPPED:
                known = self._variable(value) if isinstance(node, (ast.Name, ast.arg)) else ""
                yield from [known] if known else self.words(value)
        if opens:
            self._functions.pop()

    def _variable(self, name: object) -> str:
        for depth, names in enumerate(reversed(self._functions)):
            if isinstance(name, str) and name in names:
                names[name] = names[name] or f"x{sum(map(bool, names.values()))}"
                return f"{names[name]}.{depth}"
        return ""


def _variables(node: ast.AST) -> Iterator[str]:
    for inner in ast.walk(node):
        match inner:
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()):
                yield name


def _is_docstring(node: object) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
