"""Shows tensor programs, and the result of comparing them with their source."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from porter.evaluate.model.outcome import KernelsVerified, Verified, Wrong
from porter.ir.tensor.printer import printed
from porter.launch_plan.wire import encode
from porter.source_text import Source
from porter.writing.document import Json

if TYPE_CHECKING:
    from porter.evaluate.formula.lift import Lifted


def tensor_text(lifted: Sequence[Lifted], source: Source) -> Text:
    """Returns each entry's programs, with its verdict below."""
    return Text("\n\n".join(_text(one, source) for one in lifted) or "no entry")


def _text(one: Lifted, source: Source) -> str:
    programs = "\n".join(map(printed, one.programs)) or f"{one.entry.name}\n"
    return "\n".join([programs + _verdict(one, source), *(f"left out: {why}" for why in one.left_out)])


def _verdict(one: Lifted, source: Source) -> str:
    outcome = one.outcome
    if isinstance(outcome, Verified | KernelsVerified):
        names = len(dict.fromkeys(checked.name for checked in outcome.checked))
        alone = ", as a kernel by itself" if isinstance(outcome, KernelsVerified) else ""
        caveat = f"; {outcome.caveat}" if outcome.caveat else ""
        return f"executed on the CPU on {names} workloads and equal to {source.path.name}{alone}{caveat}"
    if isinstance(outcome, Wrong):
        return f"NOT equal to {source.path.name}, do not rely on it: {outcome.because}"
    return f"{'not compared' if one.programs else 'no program'}: {outcome.because}"


def tensor_document(lifted: Sequence[Lifted]) -> Json:
    """Returns the same for programs; `program` is the tree of expressions, fractions as texts."""
    return [
        {
            "entry": one.entry.name,
            "choice": one.entry.choice,
            "programs": [{"program": json.loads(encode(p)), "text": printed(p)} for p in one.programs],
            "outcome": one.outcome.label,
            "because": getattr(one.outcome, "because", ""),
            "caveat": getattr(one.outcome, "caveat", ""),
            "left_out": list(one.left_out),
        }
        for one in lifted
    ]
