"""What a search came to, in a few lines and as JSON."""

from __future__ import annotations

from rich.text import Text

from porter.evolve.run import Improved
from porter.evolve.scored import Measure, Score
from porter.report.document import Json

_WORDS = {
    Measure.NATIVE: "times as fast as the seed",
    Measure.PROXY: "times as fast as the seed, as a proxy on another device",
    Measure.MODELLED: "times as good as the seed by its modelled cost, which is no time",
}


def improved_text(improved: Improved) -> Text:
    """The best, by what it is better, and how the search ended."""
    text = Text()
    if improved.best is None or improved.best.scored.score is None:
        text.append("nothing was verified\n", "red")
    elif not improved.is_better:
        text.append("nothing better than the seed was found\n", "yellow")
    else:
        best = improved.best
        text.append(f"{_words(improved.best.scored.score)}\n", "green")
        text.append(f"  {best.candidate.origin.proposer}: {best.candidate.origin.note}\n")
        text.append(f"  {best.scored.feedback}\n", "dim")
    spent = f"{improved.evaluations} candidates in {improved.rounds} rounds; {improved.ended or 'not ended'}"
    return text.append(f"{spent}\n{improved.folder}/journal.jsonl")


def improved_document(improved: Improved) -> dict[str, Json]:
    """`best` is null where nothing was verified; factors are over the seed, by the `measure`."""
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


def _words(score: Score) -> str:
    interval = f" ({score.low:.3f} to {score.high:.3f})" if score.low < score.high else ""
    return f"{score.factor:.3f}{interval} {_WORDS[score.measure]}"
