"""Problems that a device of a server has open: the original is built and studied once for all its candidates."""

from __future__ import annotations

import tempfile
from base64 import b64decode
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Condition, Lock

from porter.errors import InputError
from porter.evaluate.model.migration import MigrateOptions
from porter.evolve.candidate import Candidate, File, Origin
from porter.evolve.scoring.evaluation import Evaluator, Evaluators, Problem
from porter.evolve.scoring.evaluator import port_of
from porter.evolve.scoring.subject import CONTRACT, ORIGINAL, StandardKind, Subject, about_of_port, kept
from porter.evolve.store import keepable
from porter.launch_plan.wire import WireError, decode

_MOST_OPEN = 8  # each has processes of its own, and on a device the answers that it knows


@dataclass(eq=False)
class _Open:
    """A problem that is open, or about to be; so many evaluate in it."""

    lock: Lock = field(default_factory=Lock)
    stack: ExitStack = field(default_factory=ExitStack)
    evaluator: Evaluator | None = None
    users: int = 0


class OpenProblems:
    """Opens problems as they are asked for, each for one seed, and closes the one that was not asked for longest.

    `content` is what was sent under a digest; None where nothing was.
    """

    def __init__(
        self, content: Callable[[str], bytes | None], evaluators: Evaluators, options: MigrateOptions, jobs: int
    ) -> None:
        self._content, self._evaluators, self._options, self._jobs = content, evaluators, options, jobs
        self._open: OrderedDict[tuple[str, int], _Open] = OrderedDict()
        self._changed = Condition()

    @contextmanager
    def using(self, problem: str, seed: int) -> Iterator[Evaluator]:
        """The evaluator of a problem, which stays open meanwhile.

        Raises `InputError` for a content that is no problem or whose original is unsound, `MachineError` where
        nothing scores its candidates.
        """
        one = self._taken((problem, seed))
        try:
            with one.lock:
                if one.evaluator is None:
                    one.evaluator = self._opened(one.stack, problem, seed)
            yield one.evaluator
        finally:
            self._give_back(one)

    def close(self) -> None:
        """End the processes of all problems."""
        with self._changed:
            self._changed.wait_for(lambda: not any(one.users for one in self._open.values()))
            for one in self._open.values():
                one.stack.close()
            self._open.clear()

    def _taken(self, key: tuple[str, int]) -> _Open:
        with self._changed:
            one = self._open.setdefault(key, _Open())
            self._open.move_to_end(key)
            one.users += 1
            return one

    def _give_back(self, one: _Open) -> None:
        with self._changed:
            one.users -= 1
            idle = [key for key, other in self._open.items() if not other.users]
            unopened = [key for key in idle if self._open[key].evaluator is None]
            surplus = idle[: max(0, len(self._open) - _MOST_OPEN)]
            gone = [self._open.pop(key) for key in dict.fromkeys((*unopened, *surplus))]
            self._changed.notify_all()
        for each in gone:
            each.stack.close()

    def _opened(self, stack: ExitStack, name: str, seed: int) -> Evaluator:
        problem = problem_in(self._content(name), name)
        with ExitStack() as opening:
            folder = Path(opening.enter_context(tempfile.TemporaryDirectory(prefix="porter-problem-")))
            subject = subject_of(problem, folder, replace(self._options, seed=seed))
            opened = self._evaluators.open(subject, self._jobs, lambda _: None, own=False)
            evaluator = opening.enter_context(opened)
            stack.push(opening.pop_all())
        return evaluator


def problem_in(content: bytes | None, name: str) -> Problem:
    """Returns the problem that a content is. Raises `InputError` for one that is none."""
    if content is None:
        raise InputError(f"the problem {name} was never sent")
    try:
        return decode(Problem, content)
    except WireError as error:
        raise InputError(f"{name} is no problem: {error}") from error


def subject_of(problem: Problem, folder: Path, options: MigrateOptions) -> Subject:
    """Returns what `problem` is about, its files in `folder`; of `options` the cache, seed and environment count.

    Raises `InputError` for names that lead out of the folder, and for a time limit above that of `options`.
    """
    files = (*problem.files, File(CONTRACT, problem.contracts))
    for each in (files, problem.seed.files):
        if not keepable(Candidate(each, Origin(""))):
            raise InputError("a problem's files have names of letters, digits and _ . + -, below one folder")
    if problem.source not in {file.name for file in problem.files}:
        raise InputError(f"the problem's source, {problem.source!r}, is none of its files")
    if not 0 < problem.time_limit_s <= options.time_limit_s:
        limit = f"{problem.time_limit_s:g} s for one run, and this server allows {options.time_limit_s:g} s"
        raise InputError(f"the problem asks for {limit}", "lower --time-limit, or raise that of `porter serve`")
    place = folder / ORIGINAL
    for file in files:
        (place / file.name).parent.mkdir(parents=True, exist_ok=True)
        (place / file.name).write_bytes(_content(file, problem))
    about = about_of_port(
        problem.source,
        problem.target,
        problem.arch,
        problem.defines,
        problem.entry,
        problem.standard_kind,
        is_stated=problem.is_stated,
    )
    known = replace(options, time_limit_s=problem.time_limit_s)
    return kept(folder, about, port_of(problem.seed.files, place), known)


def _content(file: File, problem: Problem) -> bytes:
    """Returns the bytes of one of a problem's files. Raises `InputError` for a recording that is no base64."""
    if problem.standard_kind is not StandardKind.RECORDING or file.name != problem.source:
        return file.text.encode()
    try:
        return b64decode(file.text, validate=True)
    except ValueError as error:
        raise InputError(f"{file.name}: is no recording: {error}") from error
