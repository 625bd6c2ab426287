"""Replies of a model that is being trained, judged as a search judges candidates, and given a reward.

The judge of a search stays open, so that the original is built and studied once; `porter.cli.reward` has the function
that trainers call.
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from porter.agent.complaint import ReplyError
from porter.agent.question import Answer
from porter.agent.reply import read_reply
from porter.agent.splice import splice
from porter.errors import InputError
from porter.evaluate.model.migration import MigrateOptions
from porter.evolve.candidate import Candidate, File, Origin
from porter.evolve.replay import replayed
from porter.evolve.scored import Scored
from porter.evolve.scoring.evaluator import port_of
from porter.evolve.scoring.local import ThisMachine
from porter.evolve.scoring.subject import ORIGINAL, kept
from porter.evolve.traits import MECHANISM, traits
from porter.learn.records import plain, record
from porter.learn.rewards import Reward, reward
from porter.learn.steps import Program, Step, factor_of
from porter.registry import find_backend
from porter.search.loop import CandidateJudge
from porter.search.run import seed_of

_POLICY = Origin("policy")


@dataclass(frozen=True, slots=True)
class Exam:
    """The exam of a reply: it changes the files `parent` of the search in the folder `run`.

    Factors are over the seed; `best_factor` is that of the best program in the prompt.
    """

    run: str
    parent: tuple[File, ...]
    parent_factor: float
    best_factor: float
    reward: Reward


def exam(step: Step, run: Path, kind: Reward) -> str:
    """Returns the exam of a step's prompt as JSON: what trainers call its ground truth.

    Raises `ValueError` for the seed of a search, to which no prompt leads.
    """
    parent = step.situation.parent
    if parent is None:
        raise ValueError("the seed of a search answers no prompt")
    asked = Exam(str(run), parent.files, factor_of(parent), step.situation.best_factor, kind)
    return json.dumps(plain(asked), sort_keys=True)


@dataclass(frozen=True)
class Judge:
    """Judges replies in one search. What came of a program is kept: the same one is not executed again."""

    judge: CandidateJudge
    known: dict[str, Scored]

    def factor(self, parent: tuple[File, ...], reply: str) -> float:
        """Returns what the program is worth that `reply` makes of `parent`; 0 where it makes none that is verified.

        A reply that changes nothing makes none.
        """
        try:
            files = splice(parent, read_reply(Answer(reply)).changes)
        except ReplyError:
            return 0.0
        candidate = Candidate(files, _POLICY)
        if candidate.digest not in self.known:
            self.known[candidate.digest] = self.judge.evaluate(candidate)
        return factor_of(Program(files, self.known[candidate.digest]))


class Judges:
    """Judges by the folders of searches; they are open until `close`."""

    def __init__(self, options: MigrateOptions) -> None:
        self._options = options
        self._open: dict[str, Judge] = {}
        self._stack = ExitStack()

    def of(self, folder: Path) -> Judge:
        """Returns the judge of the search in `folder`. Raises `InputError` where there is none."""
        if str(folder) not in self._open:
            self._open[str(folder)] = Judge(self._opened(folder), {})
        return self._open[str(folder)]

    def close(self) -> None:
        """End the processes of all judges."""
        self._stack.close()
        self._open.clear()

    def _opened(self, folder: Path) -> CandidateJudge:
        state = replayed(folder).state
        files = seed_of(state)
        if files is None:
            raise InputError(f"{folder}: this search never began")
        seed = port_of(files, folder / ORIGINAL)
        subject = kept(folder, state.settings.about, seed, self._options)
        place = ThisMachine().open(subject, 1, lambda _: None, own=False)
        apart = traits(MECHANISM, find_backend(subject.target.backend), ())
        return CandidateJudge(self._stack.enter_context(place), self._options.seed or 0, apart)

    def reward(self, reply: str, asked: str) -> float:
        """Returns the reward of `reply` by the exam `asked`, in JSON; 0 for what is not verified.

        Raises `InputError` where the exam is none, or its search is not there.
        """
        try:
            own = record(Exam, json.loads(asked))
        except ValueError as error:
            raise InputError(
                f"this is not an exam of a step: {error}", "`porter.learn.judging.exam` makes one"
            ) from error
        child = self.of(Path(own.run)).factor(own.parent, reply)
        return reward(own.reward, child, own.parent_factor, own.best_factor)
