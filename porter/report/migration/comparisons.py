"""Shows the comparisons of one entry: a line for all that are equal, and one for each that is not."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.text import Text

from porter.evaluate.model.outcome import Checked
from porter.report.findings.view import View
from porter.report.migration.verdict import lanes_of
from porter.writing.columns import Cell, columns
from porter.writing.counting import counted, enumerated

_HEAD: Sequence[Cell] = ("workload", "lanes", "max abs error", "max rel error", "")


def comparisons_text(checked: Sequence[Checked], view: View) -> Text:
    """Returns every comparison in a verbose view; else those that differ, and the largest error of the others."""
    equal = [check for check in checked if check.passed]
    shown = checked if view.is_verbose else [check for check in checked if not check.passed]
    text = columns([_HEAD, *map(_row, shown)], indent="  ") if shown else Text()
    return text if view.is_verbose or not equal else text.append(f"  {equal_words(equal)}\n", "green")


def equal_words(equal: Sequence[Checked]) -> str:
    """Returns how many comparisons found nothing wrong, and the largest error among them."""
    names = {check.name for check in equal}
    sizes = sorted({check.warp_size for check in equal if check.warp_size is not None}, reverse=True)
    at = f" at {enumerated([str(size) for size in sizes])} lanes" if sizes else ""
    return f"equal on {counted(len(names), 'workload')}{at}; {_largest(equal)}"


def _largest(equal: Sequence[Checked]) -> str:
    """Returns the largest absolute error with the relative one beside it, and where it was seen."""
    worst = max(equal, key=lambda check: -1.0 if math.isnan(check.max_abs_error) else check.max_abs_error)
    if worst.max_abs_error == 0:
        return "no result differs"
    lanes = f", {worst.warp_size} lanes" if worst.warp_size is not None else ""
    return f"largest error {worst.max_abs_error:.3g} ({worst.max_rel_error:.3g} relative) on `{worst.name}`{lanes}"


def _row(check: Checked) -> Sequence[Cell]:
    passed = Text("equal", "green") if check.passed else Text(check.worst or "differs", "red")
    return (check.name, lanes_of(check), f"{check.max_abs_error:.3g}", f"{check.max_rel_error:.3g}", passed)
