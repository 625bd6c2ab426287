"""Makes a verified port better: the straight line from a migration to a search, and to the best it found."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from porter.agent.profile import Profile
from porter.errors import InputError, PorterError
from porter.evaluate.formula.scheduled import Formula, formula_of
from porter.evaluate.model.migration import MigrateOptions, Progress
from porter.evaluate.problem.bench import bench
from porter.evaluate.problem.standards import opened
from porter.evolve.bandit import Prior
from porter.evolve.budget import Budget
from porter.evolve.candidate import Candidate, File, Origin
from porter.evolve.events import INTERRUPTED
from porter.evolve.journal import NAME
from porter.evolve.proposer import Member
from porter.evolve.proposing.formula import NAME as FORMULA
from porter.evolve.proposing.ports import space_of_files, space_of_port
from porter.evolve.replay import replayed, searching
from porter.evolve.scoring.evaluation import Evaluator, Evaluators
from porter.evolve.scoring.evaluator import MEASURES, files_of, port_of
from porter.evolve.scoring.local import ThisMachine
from porter.evolve.scoring.subject import ORIGINAL, Beginning, StandardKind, Subject, kept
from porter.evolve.settings import SEED, Settings
from porter.evolve.state import State
from porter.evolve.traits import MECHANISM, preset_of, traits
from porter.lift.nodes import NotLiftedError
from porter.measure.deadline import Deadline, OutOfTime
from porter.oracle.python_reference import PythonStandard
from porter.registry import find_backend
from porter.schedule.polynomial import NotSchedulableError
from porter.search.evaluations import EvaluationFile
from porter.search.loop import CandidateJudge, evaluate_all
from porter.search.proposers import about_models, agent_of, closing, models_about, proposers_of

_LIFTING_S = 60.0
# Of what 16 evaluations found, the formula's first candidate had 0.69 and its first three 0.84 on the mean of 11
# operators, other proposers 0.2 and 0.3 (kernelbench, H200, benchmarks/results/arms_h200.jsonl).
PRIORS = (Prior(FORMULA, 8.0, 2.0),)
_MEASURE, _DEVICE = "measure", "device"  # what scores are of, and what timed them


def _say_nothing(_: str) -> None:
    """Tells nobody."""


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """The budget of a search, its seed and its number of islands; `jobs` candidates are evaluated at once.

    Without a `model` candidates come from schedules and from a plan by rules. With `again` an existing search of the
    same port goes on, and one of another port is replaced. `tell` hears at once when a model fails. Where proposers are
    named in `only`, no others are asked. `axes` are the traits by which the archive tells candidates apart, by the name
    of a preset. A resumed search has as many requests of `slow` proposers out as it began with. `evaluators` are where
    candidates are evaluated. Where `in_flight` is not 0, so many candidates are kept in evaluation, in rounds of about
    as many, and outcomes count as they come.
    """

    budget: Budget
    seed: int = 0
    islands: int = 3
    batch: int = 1
    jobs: int = 1
    model: Profile | None = None
    again: bool = False
    slow: Mapping[str, int] | None = None
    only: tuple[str, ...] = ()
    axes: str = MECHANISM
    tell: Callable[[str], None] = _say_nothing
    evaluators: Evaluators = field(default_factory=ThisMachine)
    in_flight: int = 0

    @property
    def at_once(self) -> int:
        """Returns how many candidates are evaluated at once."""
        return max(self.jobs, self.in_flight)


@dataclass(frozen=True)
class Improved:
    """The result of a search: its folder, why it ended, the best candidate, and the seed it started from."""

    folder: Path
    ended: str
    seed: Member | None
    best: Member | None
    rounds: int
    evaluations: int

    @property
    def is_better(self) -> bool:
        """Returns whether the best is another than the seed."""
        return self.best is not None and self.best.candidate.origin.proposer != SEED


def improve(
    beginning: Beginning, options: MigrateOptions, wanted: SearchOptions, folder: Path, progress: Progress
) -> Improved:
    """Searches for something better than the seed of `beginning`, in `folder`, which must not hold a run.

    Raises `InputError` where a run is there or the files cannot be kept, and `MachineError` where nothing scores
    candidates.
    """
    check_free(folder, again=wanted.again)
    if (folder / NAME).exists():
        if _is_of(beginning, folder):
            return resume(
                folder, options, wanted.budget, wanted.jobs, progress, wanted.model, wanted.tell, wanted.evaluators
            )
        shutil.rmtree(folder)
    beginning.keep(folder)
    about = beginning.about
    return _run(kept(folder, about, beginning.seed, options), about, wanted, folder, progress)


def check_free(folder: Path, *, again: bool) -> None:
    """Raises `InputError` where `folder` holds a run that was not to be resumed."""
    if (folder / NAME).exists() and not again:
        raise InputError(
            f"{folder}: holds a search already",
            f"go on with it by --resume or `porter resume {folder}`, or name another --out",
        )


def _is_of(beginning: Beginning, folder: Path) -> bool:
    """Returns whether the search in `folder` can go on as one from `beginning`."""
    try:
        state = replayed(folder).state
    except InputError:  # nothing was begun, or another version of porter began it
        return False
    about = beginning.about
    same = {name: state.settings.about.get(name) for name in about} == about and beginning.is_kept(folder)
    return same and seed_of(state) in (None, files_of(beginning.seed))


def seed_of(state: State) -> tuple[File, ...] | None:
    """Returns the files that the search began with; None where it never did."""
    members = (member.candidate for member in state.members.values())
    waiting = (one.candidate for one in state.round.waiting.values())
    return next((one.files for one in (*members, *waiting) if one.origin.proposer == SEED), None)


def resume(  # noqa: PLR0917 - a search, and what it goes on with
    folder: Path,
    options: MigrateOptions,
    budget: Budget,
    jobs: int,
    progress: Progress,
    model: Profile | None = None,
    tell: Callable[[str], None] = _say_nothing,
    evaluators: Evaluators | None = None,
) -> Improved:
    """Resumes the search in `folder` from its last whole line, within that `budget`.

    It asks the models that its journal names, in the way that is said there, or those of `model` instead. A search that
    already finished within that budget is only read. Raises `InputError` where the folder holds no search, or this
    machine measures differently from the one it began on.
    """
    state = replayed(folder).state
    if budget.tokens is None and state.budget is not None:  # the limit of cost holds until another one is given
        budget = replace(budget, tokens=state.budget.tokens)
    if state.budget == budget and state.ended not in ("", INTERRUPTED):
        return _came_to(state, folder)
    settings = state.settings
    asked = model or models_about(settings.about)
    wanted = SearchOptions(
        budget, settings.seed, settings.islands, settings.batch, jobs, asked,
        slow=settings.slow, only=settings.proposers, axes=preset_of(settings.axes), tell=tell,
        evaluators=evaluators or ThisMachine(), in_flight=settings.in_flight,
    )  # fmt: skip
    files = seed_of(state)
    subject = kept(folder, settings.about, port_of(files, folder / ORIGINAL) if files else None, options)
    return _run(subject, settings.about, wanted, folder, progress)


def read(folder: Path) -> Improved:
    """Returns the result of the search in `folder`. Raises `InputError` where a line does not fit the others."""
    return _came_to(replayed(folder).state, folder)


def _run(
    subject: Subject, about: Mapping[str, str], wanted: SearchOptions, folder: Path, progress: Progress
) -> Improved:
    """Runs the search; on Ctrl-C returns what it found so far."""
    try:
        return _searched(subject, about, wanted, folder, progress)
    except KeyboardInterrupt:
        return _came_to(replayed(folder).state, folder)


def _searched(
    subject: Subject, about: Mapping[str, str], wanted: SearchOptions, folder: Path, progress: Progress
) -> Improved:
    backend = find_backend(subject.target.backend)
    if subject.is_given:
        space = space_of_files(backend, files_of(subject.seed), subject.target)
    else:
        space = space_of_port(backend, subject.original, subject.target)
    agent = agent_of(wanted.model, wanted.budget, subject.options.environment, folder, wanted.tell)
    apart = traits(wanted.axes, backend, files_of(subject.seed))
    formula = formula_of_subject(subject, progress)
    if formula is None and FORMULA in wanted.only:
        raise InputError(f"{subject.path}: its formula is not known", "search with --follow kernels")
    options = subject.options
    with (
        wanted.evaluators.open(subject, wanted.at_once, progress, own=agent is None) as evaluator,
        bench(options.cache, options.time_limit_s) as planning,
    ):
        measured = _measured(evaluator)
        _check_scores(folder, about, measured)
        every = proposers_of(subject, space, agent, planning, formula=formula, axes=apart.axes)
        proposers = tuple(one for one in every if not wanted.only or one.name in wanted.only)
        settings = Settings(
            seed=wanted.seed,
            axes=apart.axes,
            proposers=tuple(proposer.name for proposer in proposers),
            priors=PRIORS if agent is None else (),  # a model has as good a chance
            islands=wanted.islands,
            batch=max(wanted.batch, -(-wanted.in_flight // wanted.islands)),
            in_flight=wanted.in_flight,
            slow=wanted.slow if wanted.slow is not None else agent.at_once if agent else {},
            about={**about_models(wanted.model), **about, **measured},
        )
        seed = Candidate(files_of(subject.seed), Origin(SEED), space.seed())
        keep = EvaluationFile(folder).keep
        judge = CandidateJudge(evaluator, options.seed or 0, apart, frozenset({FORMULA}), keep)
        with searching(folder, settings, wanted.budget, proposers, (seed,)) as search, closing(agent):
            evaluate_all(search, judge.asked, wanted.at_once, progress)
            return _came_to(search.state, folder)


def _measured(evaluator: Evaluator) -> Mapping[str, str]:
    """Returns what a journal says of what scores are."""
    measure = {_MEASURE: MEASURES[evaluator.fidelity].value}
    return {**measure, _DEVICE: evaluator.device} if evaluator.device else measure


def formula_of_subject(subject: Subject, progress: Progress) -> Formula | None:
    """Returns the formula of the original; None where it is unknown, or cannot be written for the target."""
    deadline = Deadline(_LIFTING_S)
    try:
        with deadline.running():
            formula = _lifted(subject, deadline, progress)
        formula.port()
    except (NotLiftedError, NotSchedulableError, PorterError, OutOfTime):
        return None
    return formula


def _lifted(subject: Subject, deadline: Deadline, progress: Progress) -> Formula:
    options = replace(subject.options, deadline=deadline)
    if subject.standard_kind is StandardKind.CUDA:
        return formula_of(subject.original.source, subject.target, options, progress)
    if subject.standard_kind is StandardKind.RECORDING or options.contract is not None:
        raise NotLiftedError("only a module that says itself how it is called is lifted")
    from porter.evaluate.formula.module_lift import formula_of_module  # noqa: PLC0415 - which takes PyTorch

    with opened(subject.path, options) as standard:
        assert isinstance(standard, PythonStandard)
        return formula_of_module(standard, subject.contracts[0], subject.target)


def _check_scores(folder: Path, about: Mapping[str, str], measured: Mapping[str, str]) -> None:
    """Raises `InputError` where a search goes on with other scores than it began with, or on another device."""
    if all(about.get(name, here) == here for name, here in measured.items()):
        return
    before, here = (" on ".join(filter(None, (each.get(_MEASURE), each.get(_DEVICE)))) for each in (about, measured))
    hint = "go on where it began, or begin another search"
    raise InputError(f"{folder}: its scores are {before}, here they would be {here}", hint)


def _came_to(state: State, folder: Path) -> Improved:
    spent = state.progress
    seeds = (member for member in state.members.values() if member.candidate.origin.proposer == SEED)
    return Improved(folder, state.ended, next(seeds, None), state.best, spent.rounds, spent.evaluations)
