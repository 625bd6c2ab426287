"""Shows how a run over a suite gets on: what runs now, and a line for each operator that is done."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path

from rich.text import Text

from porter.cli.console import Console
from porter.evaluate.model.migration import Progress
from porter.evaluate.model.outcome import outcome_words
from porter.report.migration.verdict import OUTCOME_STYLES
from porter.suite.operators import Operator
from porter.suite.result import Result
from porter.writing.counting import counted

_MOST_NAMED = 3  # of the operators that run now: a line has room for no more


@dataclass
class SuiteProgress:
    """Watches a run of `total` operators into `folder`; `step` gets what runs now."""

    console: Console
    step: Progress
    folder: Path
    total: int
    running: list[str] = field(default_factory=list)
    done: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._show()

    def begins(self, operator: Operator) -> None:
        """The operator is among those that run now."""
        with self.lock:
            self.running.append(operator.key)
            self._show()

    def ends(self, result: Result, left: int) -> None:
        """The operator is done: that is a line of its own."""
        with self.lock:
            self.running.remove(result.key)
            self.done = self.total - left
            self._show()
        if not self.console.json and not self.console.quiet:
            outcome = (outcome_words(result.outcome), OUTCOME_STYLES.get(result.outcome, "bold red"))
            self.console.show(Text.assemble(outcome, f"  {result.key}  {result.seconds:.0f} s, {left} to go"))

    def _show(self) -> None:
        counts = f"{self.done} of {counted(self.total, 'operator')}"
        self.console.how_to_go_on = f"{counts} done and kept in {self.folder}; the same command does the others"
        named = ", ".join(self.running[:_MOST_NAMED])
        more = f" and {len(self.running) - _MOST_NAMED} more" if len(self.running) > _MOST_NAMED else ""
        self.step(f"{counts} done; running {named}{more}" if named else f"{counts} done")
