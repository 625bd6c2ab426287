"""Classes that would free twice what they own where a compiler copied them out of the function that made them.

`struct Buffer { float* p; ~Buffer() { cudaFree(p); } };` says nothing of copies, and a function `Buffer b; return b;`
works, for every compiler makes `b` in the caller. One told to make copies (see compiler.py) would free `p` twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_DESTROYED = re.compile(r"~\s*(\w+)\s*\(")


def returns_owner(texts: Iterable[str]) -> bool:
    """Returns whether a function of `texts` returns a class that has a destructor, and whose copies nobody wrote or
    forbade.
    """
    text = "\n".join(texts)
    owners = {name for name in _DESTROYED.findall(text) if not _says_how_to_copy(name, text)}
    return bool(owners) and any(_returned(name, text) for name in (*owners, "auto"))


def _says_how_to_copy(name: str, text: str) -> bool:
    return re.search(rf"\b{name}\s*\(\s*(?:const\s+)?{name}\b[^,()&]*&", text) is not None


def _returned(name: str, text: str) -> bool:
    return re.search(rf"\b{name}\b(?:\s*<[^;{{}}()]*>)?\s+[\w:]+\s*\([^;{{}}]*\)[^;{{}}]*\{{", text) is not None
