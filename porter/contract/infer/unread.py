"""Finds the fields of structs that no code of an entry reads."""

from __future__ import annotations

import re

from porter.contract.analysis.records import COMPONENTS
from porter.contract.analysis.usage import Usage
from porter.source.program import Function


def is_unread(usage: Usage, function: Function, name: str) -> bool:
    """Returns whether `name` is a field, `p.size.rows`, of which no function that `function` may call has the name.

    Device code counts as called. Components of vectors may be read by functions that are not at hand.
    """
    path = [part for part in re.sub(r"\[\d+\]", "", name).split(".")[1:] if part not in COMPONENTS]
    return bool(path) and not usage.named_within(function).issuperset(path)
