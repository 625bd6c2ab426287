"""Shows the result of a search, in a few lines and as JSON."""

from __future__ import annotations

from rich.text import Text

from porter.report.search.words import factor, factor_head
from porter.search.run import Improved
from porter.writing.counting import counted
from porter.writing.document import Json


def improved_text(improved: Improved) -> Text:
    """Returns the best, how much better it is, and how the search ended."""
    text = Text()
    best = improved.best
    score = best.scored.score if best is not None else None
    if best is None or score is None:
        text.append("nothing was verified\n", "red")
    elif not improved.is_better:
        text.append("nothing better than the seed was found\n", "yellow")
    else:
        text.append(f"{factor(score)} {factor_head(score.measure)}\n", "green")
        text.append(f"  {best.candidate.origin.proposer}: {best.candidate.origin.note}\n")
        said, _, _ = best.scored.feedback.partition("\n")  # the rest is for proposers
        text.append(f"  {said}\n", "dim")
    tried = f"{counted(improved.evaluations, 'candidate')} in {counted(improved.rounds, 'round')}"
    spent = f"{tried}; {improved.ended or 'not ended'}"
    return text.append(f"{spent}\n{improved.folder}/journal.jsonl")


def improved_document(improved: Improved) -> dict[str, Json]:
    """Returns the result as JSON: `best` is null where nothing was verified; factors are over the seed."""
    best = improved.best
    score = best.scored.score if best is not None else None
    return {
        "run": str(improved.folder),
        "ended": improved.ended,
        "rounds": improved.rounds,
        "evaluations": improved.evaluations,
        "better": improved.is_better,
        "best": None if best is None else best.scored.digest,
        "measure": None if score is None else score.measure.value,
        "factor": None if score is None else round(score.factor, 5),
        "interval": None if score is None else [round(score.low, 5), round(score.high, 5)],
        "note": "" if best is None else best.candidate.origin.note,
    }
