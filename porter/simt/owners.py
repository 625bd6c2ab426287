"""Classes that would free twice what they own where a compiler copied them out of the function that made them.

`struct Buffer { float* p; ~Buffer() { cudaFree(p); } };` says nothing of copies, and a function `Buffer b; return b;`
works, for every compiler makes `b` in the caller. One told to make copies (see compiler.py) would free `p` twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_DESTROYED = re.compile(r"~\s*(\w+)\s*\(")
_COPIED = re.compile(r"\b(\w++)\s*\(\s*(?:const\s+)?\1\b[^,()&]*&")


def returns_owner(texts: Iterable[str]) -> bool:
    """Returns whether a function of `texts` returns a class that has a destructor, and whose copies nobody wrote or
    forbade.
    """
    text = "\n".join(texts)
    owners = {*_DESTROYED.findall(text)} - {*_COPIED.findall(text)}
    return bool(owners) and any(_returned(name, text) for name in (*owners, "auto"))


def _returned(name: str, text: str) -> bool:
    return re.search(rf"\b{name}\b(?:\s*<[^;{{}}()]*>)?\s+[\w:]+\s*\([^;{{}}]*\)[^;{{}}]*\{{", text) is not None
