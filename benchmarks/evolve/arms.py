"""Compares arms that search from the same port, with as many evaluations and the same seeds.

    python benchmarks/evolve/arms.py run OUT.jsonl --evaluations 16 --seeds 2 [--jobs N] [--together N] [OPERATOR ...]
    python benchmarks/evolve/arms.py table OUT.jsonl

`run` searches from porter's port of each operator of `op_suites/kernelbench` with each arm, evaluates what several
arms propose once, and appends a line for each search; what OUT has already is left out, so that it may be run again.
Times are taken where there is a device, else the scores are modelled costs: a line says which. No language model is
asked. The arm `scripted expert` stands for a good one: a server on this machine that answers the questions of the
proposer `llm` with ports from the operator's formula, the most promising first, but every third time with a mistake,
and the first time with no program at all. It takes `porter[llm]`, and is left out without it.

`table` says how good the best so far is after so many evaluations, the port that all begin with being the first: 0 is
that port, 1 the best that any arm found for the operator, between them the binary logarithm counts. Operators on which
no arm gained 1 % are left out of that, and those for which not every arm has searched of all. Intervals are
bootstrapped, with 95 %, over operators. An arm wins an operator where none is more than 1 % better at the end.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import statistics
import tempfile
import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from math import log2
from multiprocessing import get_context
from pathlib import Path
from random import Random
from threading import Lock

from porter.agent.options import ModelOptions, Models
from porter.agent.secret import Secret
from porter.cache_folder import cache_folder
from porter.cli.options import cores
from porter.contract.model.reader import load_contracts
from porter.errors import PorterError
from porter.evaluate.formula.scheduled import Formula, formula_of
from porter.evaluate.model.migration import MigrateOptions
from porter.evaluate.problem.bench import Bench, bench
from porter.evaluate.problem.original import read_original
from porter.evolve.axis import Axis
from porter.evolve.budget import Budget
from porter.evolve.candidate import Candidate, Origin
from porter.evolve.proposer import Proposer, Request
from porter.evolve.proposing.ports import space_of_port
from porter.evolve.replay import searching
from porter.evolve.scored import Scored
from porter.evolve.scoring.evaluator import files_of
from porter.evolve.scoring.local import ThisMachine
from porter.evolve.scoring.subject import Subject
from porter.evolve.settings import SEED, Settings
from porter.evolve.space import Space
from porter.evolve.traits import MECHANISM, traits
from porter.registry import find_backend
from porter.schedule.polynomial import NotSchedulableError
from porter.search.agents import open_agent
from porter.search.loop import CandidateJudge, evaluate_all
from porter.search.proposers import closing, proposers_of, task_of
from porter.search.run import PRIORS
from porter.source_text import Source

SUITE = Path(__file__).parents[2] / "op_suites" / "kernelbench"
# At least two of each category, few that take long to be interpreted.
OPERATORS = (
    "activation/elu", "activation/softmax", "activation/tanh", "loss/huber_loss", "loss/mse_loss", "norm/l2_norm",
    "norm/layer_norm", "norm/rms_norm", "reduction/cumsum", "reduction/max_reduce", "reduction/mean_reduce",
    "reduction/sum_reduce",
)  # fmt: skip
ARMS = {
    "random": ("random",),
    "schedules": ("schedule", "kriging"),
    "rules and plan": ("rewrite", "plan"),
    "formula": ("formula",),
    "all but random": ("formula", "schedule", "kriging", "rewrite", "plan"),
    "scripted expert": ("llm",),
}
EXPERT = "scripted expert"
LEAST_GAIN = 1.01
SHOWN = (2, 4, 8, 16, 32, 64)
RESAMPLES = 2000


@dataclass(frozen=True)
class Played:
    """One search: the best so far after each evaluation, the seed's included, as a factor over that."""

    operator: str
    fidelity: str
    device: str
    arm: str
    seed: int
    curve: list[float]


class RandomProposer:
    """Proposes points of the space, each as likely as any other."""

    name = "random"

    def __init__(self, space: Space) -> None:
        self._space = space

    def propose(self, request: Request) -> Sequence[Candidate]:
        """At most `count` that the search has not seen."""
        draw, found = Random(request.seed), dict[str, Candidate]()
        for _ in range(20 * request.count):
            point = self._space.sample(draw)
            candidate = self._space.candidate(point, Origin(self.name)) if point is not None else None
            if candidate and candidate.digest not in request.seen and len(found) < request.count:
                found.setdefault(candidate.digest, candidate)
        return tuple(found.values())


class Once:
    """Evaluates each candidate once, whichever searches ask for it; to all of them it is worth the same."""

    def __init__(self, judge: CandidateJudge) -> None:
        self._judge, self._known, self._locks, self._lock = (
            judge,
            dict[str, Scored](),
            defaultdict[str, Lock](Lock),
            Lock(),
        )

    @property
    def axes(self) -> tuple[Axis, ...]:
        """Returns the axes on which it tells candidates apart."""
        return self._judge.apart.axes

    def evaluate(self, candidate: Candidate) -> Scored:
        """Returns what came of it."""
        with self._lock:
            mine = self._locks[candidate.digest]
        with mine:
            if candidate.digest not in self._known:
                self._known[candidate.digest] = self._judge.evaluate(candidate)
            return self._known[candidate.digest]


@contextmanager
def expert(formula: Formula, subject: Subject, axes: tuple[Axis, ...], planning: Bench) -> Iterator[Proposer]:
    """A proposer that asks a server, which knows what a good model would write."""
    numbers, promising = itertools.count(), formula.schedules
    main = files_of(subject.seed)[0].name

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            said = self.reply(next(numbers))
            body = json.dumps({"choices": [{"message": {"content": said}, "finish_reason": "stop"}]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def reply(self, number: int) -> str:
            if number == 0:
                return "Let me think about what bounds this program."
            schedule = promising[(number - 1) % len(promising)]
            text = formula.port(schedule).files[0].text
            text = text.replace("tl.store(", "tl.stores(") if number % 3 == 0 else text
            return f"IDEA: {schedule}\nFILE: {main}\n```python\n{text}```"

        def log_message(self, *_: object) -> None:
            """Nothing."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    threading.Thread(target=http.serve_forever, daemon=True).start()
    options = ModelOptions("expert", f"http://127.0.0.1:{http.server_port}/v1")
    agent = open_agent(Models((options,)), lambda _: Secret(""), silent)
    try:
        with closing(agent):
            yield agent.llm(task_of(subject, axes, planning))
    finally:
        http.shutdown()


def silent(step: str) -> None:
    """Nobody watches."""


def subject_of(operator: str) -> Subject:
    """The operator with porter's port of its kernels."""
    path, contract, backend = SUITE / operator / "kernel.cu", SUITE / operator / "contract.toml", find_backend("triton")
    options = MigrateOptions("triton", cache_folder(), contract=contract, environment=dict(os.environ))
    original, target = read_original(Source(path, path.read_text("utf-8")), options), backend.targets()[0]
    port = backend.port(original.program, tuple(header for _, header in original.headers), target)
    return Subject(original, port, target, load_contracts(contract), options)


def studied(operator: str, searches: Sequence[tuple[str, int]], evaluations: int, jobs: int) -> Iterator[Played]:
    """Yields a line for each search of one operator, which is an arm and a seed."""
    subject = subject_of(operator)
    backend = find_backend(subject.target.backend)
    space = space_of_port(backend, subject.original, subject.target)
    apart = traits(MECHANISM, backend, files_of(subject.seed))
    with (
        ThisMachine().open(subject, jobs, silent, own=True) as evaluator,
        bench(subject.options.cache, subject.options.time_limit_s) as planning,
    ):
        try:
            formula = formula_of(subject.original.source, subject.target, subject.options, silent)
            formula.port()
        except (NotSchedulableError, PorterError):
            formula = None
        known = proposers_of(subject, space, None, planning, formula=formula, axes=apart.axes)
        named = {one.name: one for one in (RandomProposer(space), *known)}
        once = Once(CandidateJudge(evaluator, 0, apart))
        seed = Candidate(files_of(subject.seed), Origin(SEED), space.seed())
        for arm, number in searches:
            with ExitStack() as stack:
                if arm == EXPERT and formula is not None and find_spec("openai"):
                    named["llm"] = stack.enter_context(expert(formula, subject, apart.axes, planning))
                proposers = tuple(named[name] for name in ARMS[arm] if name in named)
                if proposers:
                    found = curve(once, proposers, seed, number, evaluations, jobs)
                    yield Played(operator, evaluator.fidelity.value, evaluator.device, arm, number, found)
    print(operator, {stage.value: round(took) for stage, took in subject.options.stages.seconds.items()}, flush=True)


def curve(  # noqa: PLR0917 - an arm, and what it may spend
    once: Once, proposers: tuple[Proposer, ...], seed: Candidate, number: int, evaluations: int, jobs: int
) -> list[float]:
    """The best so far after each evaluation, the seed's included; it stays where an arm has no more to give."""
    names = tuple(one.name for one in proposers)
    slow = {"llm": 4} if "llm" in names else {}
    settings = Settings(number, once.axes, names, priors=PRIORS, batch=1, measure_after=0, slow=slow)
    budget = Budget(rounds=10_000, evaluations=evaluations)
    with (
        tempfile.TemporaryDirectory(prefix="porter-arms-") as folder,
        searching(Path(folder), settings, budget, proposers, (seed,)) as search,
    ):
        evaluate_all(search, lambda _, candidate: lambda: once.evaluate(candidate), jobs, silent)
        factors = [m.scored.score.factor if m.scored.score else 0.0 for m in search.state.members.values()]
    best = [round(max(factors[: n + 1]), 5) for n in range(len(factors))]
    return best + best[-1:] * (evaluations - len(best))


def run(out: Path, given: argparse.Namespace) -> None:
    """Searches for several operators at once, each in a process of its own, and appends to `out`."""
    with ProcessPoolExecutor(given.together, get_context("spawn")) as pool:
        begun = {pool.submit(search, out, operator, given): operator for operator in given.operators}
        for future in as_completed(begun):
            try:
                print(f"{begun[future]}: {future.result()} searches", flush=True)
            except PorterError as error:
                print(f"{begun[future]}: {error}", flush=True)


def search(out: Path, operator: str, given: argparse.Namespace) -> int:
    """Searches for one operator, appends a line for each search as it ends, and returns how many there were."""
    known = {(line.arm, line.seed) for line in (lines(out) if out.exists() else ()) if line.operator == operator}
    waiting = [
        (arm, seed)
        for seed, arm in itertools.product(range(given.seeds), given.arm or ARMS)
        if (arm, seed) not in known
    ]
    count = 0
    for line in studied(operator, waiting, given.evaluations, given.jobs) if waiting else ():
        with out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(line)) + "\n")
        count += 1
    return count


def lines(path: Path) -> list[Played]:
    """Returns what was written."""
    return [Played(**json.loads(line)) for line in path.read_text("utf-8").splitlines()]


def table(path: Path) -> str:
    """The study as Markdown."""
    read = played_by_all(lines(path))
    best: defaultdict[str, float] = defaultdict(lambda: 1.0)
    for line in read:
        best[line.operator] = max(best[line.operator], *line.curve)
    length = min(len(line.curve) for line in read)
    shown = [n for n in SHOWN if n <= length]
    operators, arms = sorted(best), [arm for arm in ARMS if any(line.arm == arm for line in read)]
    won, rows = wins(read, operators, arms), []
    gained = [operator for operator in operators if best[operator] >= LEAST_GAIN]
    for arm in arms:
        cells = [told([share(read, arm, operator, n, best[operator]) for operator in gained]) for n in shown]
        rows.append(f"| {arm} | {' | '.join(cells)} | {won[arm]} of {len(operators)} |")
    kinds = sorted({f"{line.fidelity} on {line.device}" if line.device else "modelled costs" for line in read})
    seeds = len({line.seed for line in read})
    count = f"{len(operators)} operators, {len(gained)} of them with a gain, {seeds} seeds, {length} evaluations"
    head = f"{count}; scores: {', '.join(kinds)}\n\n"
    heads = f"| arm | {' | '.join(f'after {n}' for n in shown)} | wins |\n|{' --- |' * (len(shown) + 2)}\n"
    return head + heads + "\n".join(rows)


def played_by_all(read: list[Played]) -> list[Played]:
    """Returns the searches for operators for which each arm searched that did for any."""
    arms, of_operator = {line.arm for line in read}, defaultdict[str, set[str]](set)
    for line in read:
        of_operator[line.operator].add(line.arm)
    return [line for line in read if of_operator[line.operator] == arms]


def share(read: list[Played], arm: str, operator: str, count: int, best: float) -> float:
    """The progress of the arm after so many evaluations, over its seeds: 0 is the port, 1 the best of all arms."""
    curves = [line.curve for line in read if (line.arm, line.operator) == (arm, operator)]
    if not curves:
        return 0.0
    return statistics.fmean(log2(one[count - 1]) for one in curves) / log2(best)


def wins(read: list[Played], operators: Sequence[str], arms: Sequence[str]) -> dict[str, int]:
    """For how many operators no arm is more than 1 % better, by the mean over seeds."""
    ends = {
        (arm, operator): statistics.fmean(values)
        for arm in arms
        for operator in operators
        if (values := [line.curve[-1] for line in read if (line.arm, line.operator) == (arm, operator)])
    }
    tops = {operator: max(v for (_, o), v in ends.items() if o == operator) for operator in operators}
    return {arm: sum(ends.get((arm, o), 0.0) >= 0.99 * tops[o] for o in operators) for arm in arms}


def told(values: Sequence[float]) -> str:
    """The mean over operators, with a bootstrapped interval of 95 %."""
    draw = Random(1)
    means = sorted(statistics.fmean(draw.choices(values, k=len(values))) for _ in range(RESAMPLES))
    low, high = means[RESAMPLES // 40], means[-RESAMPLES // 40 - 1]
    return f"{statistics.fmean(values):.3f} [{low:.3f}, {high:.3f}]"


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("run", "table"))
    parser.add_argument("out", type=Path)
    parser.add_argument("operators", nargs="*", default=OPERATORS)
    parser.add_argument("--arm", action="append", choices=tuple(ARMS), help="only this one; may be repeated")
    parser.add_argument("--evaluations", type=int, default=16)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=cores(), help="evaluations at once for an operator")
    parser.add_argument("--together", type=int, default=1, help="operators at once")
    given = parser.parse_intermixed_args()
    if given.what == "run":
        run(given.out, given)
    print(table(given.out))


if __name__ == "__main__":
    main()
