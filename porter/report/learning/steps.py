"""Shows what was kept of steps, and what a model was trained on, to people and to programs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.text import Text

from porter.learn.finetuning import Tuned
from porter.learn.landscape import Landscape
from porter.learn.reinforcement import Practised
from porter.learn.schedule_model import ScheduleModel
from porter.learn.sieve import Sieved
from porter.writing.document import Json


def sieve_text(kept: Sieved, file: Path) -> Text:
    """Returns a line for each filter, with what was left after it."""
    lines = [f"{count:>6}  {what}" for what, count in kept.counts.items()]
    lines += [f"left out: {run}, which is about {operator}" for run, operator in kept.left_out.items()]
    return Text("\n".join((*lines, f"wrote {file}")))


def sieve_document(kept: Sieved, file: Path) -> Json:
    """Returns the same for programs."""
    return {"written": str(file), "counts": dict(kept.counts), "left_out": dict(kept.left_out)}


def model_text(model: ScheduleModel, landscapes: Sequence[Landscape], file: Path) -> Text:
    """Says what a model of schedules was trained on, and how large it is."""
    choices = sum(len(one.choices) for one in landscapes)
    size = file.stat().st_size / 1e6
    return Text(
        f"trained on {choices} schedules of {len(landscapes)} operators, {len(model.names)} features, "
        f"{len(model.forest.trees)} trees\nwrote {file} ({size:.2f} MB)"
    )


def model_document(model: ScheduleModel, landscapes: Sequence[Landscape], file: Path) -> Json:
    """Returns the same for programs."""
    return {
        "written": str(file),
        "operators": len(landscapes),
        "schedules": sum(len(one.choices) for one in landscapes),
        "features": list(model.names),
        "trees": len(model.forest.trees),
        "about": dict(model.about),
    }


def tuned_text(tuned: Tuned) -> Text:
    """Says what a language model was tuned on, and its loss at the first and at the last update."""
    left_out = "".join(f", {count} left out {because}" for because, count in tuned.left_out.items())
    losses = f"; loss {tuned.losses[0]:.3f} at first, {tuned.losses[-1]:.3f} at last" if tuned.losses else ""
    return Text(f"tuned on {tuned.examples} steps{left_out}{losses}\nwrote {tuned.folder}")


def tuned_document(tuned: Tuned) -> Json:
    """Returns the same for programs."""
    return {
        "written": str(tuned.folder),
        "examples": tuned.examples,
        "left_out": dict(tuned.left_out),
        "losses": list(tuned.losses),
    }


def practised_text(practised: Practised) -> Text:
    """Says what a language model practised on, and the mean reward of its first and of its last update."""
    left_out = "".join(f", {count} steps left out {because}" for because, count in practised.left_out.items())
    rewards = practised.rewards
    on_the_way = f"; mean reward {rewards[0]:.3f} at first, {rewards[-1]:.3f} at last" if rewards else ""
    return Text(f"practised on {practised.prompts} prompts{left_out}{on_the_way}\nwrote {practised.folder}")


def practised_document(practised: Practised) -> Json:
    """Returns the same for programs."""
    return {
        "written": str(practised.folder),
        "prompts": practised.prompts,
        "left_out": dict(practised.left_out),
        "rewards": list(practised.rewards),
    }
