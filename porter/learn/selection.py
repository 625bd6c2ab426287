"""Selects the steps that a model learns from."""

from __future__ import annotations

import ast
import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from porter.evolve.candidate import File
from porter.evolve.stream import stream
from porter.learn.steps import Step, factor_of
from porter.python_tree import module_tree
from porter.source.lexer import significant, tokens

_SHINGLE = 5  # tokens: shorter runs are alike in all kernels
_ALIKE = 0.8  # of the shingles of both: above that one operator is the other's copy
_EASY, _HARD = 1 / 3, 1 / 10  # of a search's steps that were better than their parents


class Choice(StrEnum):
    """The steps of a search that are chosen."""

    ALL = "all"
    INITIAL = "initial"  # those that change the seed
    BEST = "best"  # those that were better than all before them


def select_steps(steps: Iterable[Step], choice: Choice = Choice.BEST, min_gain: float = 0.05) -> list[Step]:
    """Returns the steps of `choice`; the seeds of searches are never among them.

    With `best` a step has to be better by the share `min_gain` than what was right before it in its search. Steps of
    one search stand in their order.
    """
    best: dict[str, float] = {}
    chosen = []
    for step in steps:
        before = best.get(step.work.run, 0.0)
        best[step.work.run] = max(before, step.factor)
        if not step.is_first and _is_chosen(step, choice, before * (1 + min_gain)):
            chosen.append(step)
    return chosen


def _is_chosen(step: Step, choice: Choice, least: float) -> bool:
    match choice:
        case Choice.ALL:
            return True
        case Choice.INITIAL:
            return _changes_seed(step)
        case Choice.BEST:
            return step.factor >= least and step.factor > 0


def _changes_seed(step: Step) -> bool:
    return step.situation.parent is not None and step.situation.parent.is_seed


def is_right_and_faster(step: Step) -> bool:
    """Returns whether a step is verified and better than its parent beyond noise; than none, where that was not right.

    This is the dual filter of Kernel-Smith's SFT.
    """
    parent, score = step.situation.parent, step.outcome.score
    if parent is None or score is None or not step.factor:
        return False
    return not factor_of(parent) or parent.scored.score is None or score.beats(parent.scored.score)


def canonical(files: Sequence[File]) -> str:
    """Returns the digest of what is left of programs without comments and the way they are laid out."""
    parts = "\0".join(f"{file.name}\0{_canonical_text(file)}" for file in files)
    return hashlib.blake2b(parts.encode(errors="surrogatepass"), digest_size=8).hexdigest()


def _canonical_text(file: File) -> str:
    if file.name.endswith(".py"):
        try:
            return ast.unparse(module_tree(file.text))
        except (SyntaxError, ValueError, RecursionError):
            return file.text
    return " ".join(_words(file.text))


def _words(text: str) -> list[str]:
    return [token.text for token in significant(tokens(text))]


def distinct(steps: Iterable[Step]) -> list[Step]:
    """Returns `steps` without those whose program, but for comments and layout, was made for that operator before."""
    seen: set[tuple[str, str]] = set()
    kept = []
    for step in steps:
        key = step.work.original or step.work.run, canonical(step.action.files)
        if key not in seen:
            seen.add(key)
            kept.append(step)
    return kept


def balanced(steps: Sequence[Step], most: int, difficulty: Mapping[str, str], seed: int = 0) -> list[Step]:
    """Returns at most `most` steps of each category and `difficulty` of their search, drawn, in their order."""
    groups: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for place, step in enumerate(steps):
        groups[step.work.category, difficulty[step.work.run]].append(place)
    kept: set[int] = set()
    for key, places in groups.items():
        kept.update(stream(seed, *key).sample(places, min(most, len(places))))
    return [step for place, step in enumerate(steps) if place in kept]


def difficulties(steps: Iterable[Step]) -> Mapping[str, str]:
    """Returns for each search whether to better a program was `easy`, `medium` or `hard` in it.

    That is told by the share of all its steps that were better than their parents.
    """
    paid: defaultdict[str, list[bool]] = defaultdict(list)
    for step in steps:
        if not step.is_first:
            paid[step.work.run].append(is_right_and_faster(step))
    shares = {run: sum(found) / len(found) for run, found in paid.items()}
    return {run: "easy" if share >= _EASY else "hard" if share < _HARD else "medium" for run, share in shares.items()}


def shingles(text: str) -> frozenset[tuple[str, ...]]:
    """Returns all runs of five tokens of a CUDA source."""
    words = _words(text)
    return frozenset(tuple(words[at : at + _SHINGLE]) for at in range(max(1, len(words) - _SHINGLE + 1)))


def held_out(steps: Iterable[Step], sources: Mapping[str, str]) -> tuple[list[Step], dict[str, str]]:
    """Returns the steps about no operator of `sources` (CUDA text by name), and for each search that was left out the
    name of the operator that it is about: four fifths of their runs of five tokens are the same.
    """
    known = {name: shingles(text) for name, text in sources.items()}
    verdicts: dict[str, str] = {}
    kept, left_out = [], dict[str, str]()
    for step in steps:
        work = step.work
        if work.original not in verdicts:
            verdicts[work.original] = _alike(shingles(work.original), known) if work.original else ""
        if name := verdicts[work.original]:
            left_out[work.run] = name
        else:
            kept.append(step)
    return kept, left_out


def _alike(own: frozenset[tuple[str, ...]], known: Mapping[str, frozenset[tuple[str, ...]]]) -> str:
    return next((name for name, other in known.items() if len(own & other) >= _ALIKE * len(own | other)), "")
