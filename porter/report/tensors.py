"""Tensor programs and what comparing them with their source came to."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from porter.evaluate.outcome import Verified
from porter.ir.tensor.printer import printed
from porter.launch_plan.wire import encode
from porter.report.document import Json
from porter.source.text import Source

if TYPE_CHECKING:
    from porter.evaluate.lift import Lifted


def tensor_text(lifted: Sequence[Lifted], source: Source) -> Text:
    """Each entry's program, with its verdict below."""
    return Text("\n\n".join(_text(entry, source) for entry in lifted) or "no entry")


def _text(lifted: Lifted, source: Source) -> str:
    verdict = _verdict(lifted, source)
    return printed(lifted.program) + verdict if lifted.program else f"{lifted.entry.name}\n{verdict}"


def _verdict(lifted: Lifted, source: Source) -> str:
    outcome = lifted.outcome
    if isinstance(outcome, Verified):
        names = len(dict.fromkeys(checked.name for checked in outcome.checked))
        caveat = f"; {outcome.caveat}" if outcome.caveat else ""
        return f"checked against {source.path.name} on {names} workloads: equal{caveat}"
    if lifted.program is None:
        return f"not lifted: {getattr(outcome, 'because', outcome.label)}"
    return f"NOT equal to {source.path.name}, do not rely on it: {outcome.label}: {getattr(outcome, 'because', '')}"


def tensor_document(lifted: Sequence[Lifted]) -> Json:
    """The same for programs; `program` is the tree of expressions, fractions as texts."""
    return [
        {
            "entry": one.entry.name,
            "program": json.loads(encode(one.program)) if one.program else None,
            "text": printed(one.program) if one.program else "",
            "outcome": one.outcome.label,
            "because": getattr(one.outcome, "because", ""),
            "caveat": getattr(one.outcome, "caveat", ""),
        }
        for one in lifted
    ]
