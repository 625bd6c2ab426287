"""Mutate verified ports of the suites, judge mutants as `porter verify --edges` does, and count those called verified.

    python -m benchmarks.mutation.run JOURNAL [--target NAME]... [--only WORD] [--each N] [--part I/N] [--seed N]
        [--seconds S] [--survivors] [--known] [--commit HASH]
    python -m benchmarks.mutation.run JOURNAL... --summary FILE

Every operator of `op_suites` is ported as `porter migrate` ports it. Where `porter verify --edges` calls this verified,
`--each` of its mutants, which `--seed` chooses, are judged against the operator's own CUDA and contract. A mutant is
one change at one place: an operator, a comparison, a minimum for a maximum, a constant, a bound, a sign, an index, a
mask, a dtype, a grid, a removed statement, swapped arguments. JOURNAL gets a line for each; run again, only those are
judged that it lacks, or with `--survivors` those that were called verified; with `--known` no operator is begun whose
port it lacks. No mutant is begun after `--seconds`. The first of every operator is judged before the second of any, so
that a run that was cut has looked at all; `--part 0/2` and `--part 1/2` share them between two processes with a journal
each.

FILE gets the counts and the survivors, each with a `verdict` that a person fills in (`equivalent`, or which inputs
would tell) and that stays when the file is written again, as does `retried`: what became of it at a later commit
(`{"porter": HASH, "outcome": "wrong", "because": "..."}`).
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from benchmarks.mutation import journal
from benchmarks.mutation.journal import Entry
from benchmarks.mutation.mutation import Mutation, chosen
from benchmarks.mutation.summary import write_summary
from benchmarks.mutation.trial import MUTATIONS, Trial, trial
from porter.cli.options import cache_folder
from porter.errors import PorterError
from porter.evaluate.outcome import Verified
from porter.suite.operators import Operator, operators

SUITES = Path(__file__).parents[2] / "op_suites"
PORT = "port"  # the kind of the entry that says what is judged of the port itself, which must be verified


def main() -> None:
    arguments = parsed()
    if arguments.summary:
        write_summary(
            [e for path in arguments.journal for e in journal.read(path) if e.kind != PORT], arguments.summary
        )
        return
    deadline = time.monotonic() + arguments.seconds
    commit = arguments.commit or own_commit()
    (path,) = arguments.journal
    known = {e.key: e for e in journal.read(path)}
    for judged, mutation in turns(started(arguments, path, known, commit, deadline), arguments):
        if time.monotonic() > deadline:
            return
        text = mutation.applied(judged.text)
        before = known.get((judged.operator.key, judged.options.target, journal.digest_of(text)))
        if is_survivor(before) if arguments.survivors else before is None:
            record(path, entry(judged, mutation.kind, mutation.shown(judged.text), text, commit))


def is_survivor(one: Entry | None) -> bool:
    """Returns whether a mutant was called verified."""
    return one is not None and one.kind != PORT and one.outcome == Verified.label


def parsed() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("journal", type=Path, nargs="+")
    parser.add_argument("--target", action="append", choices=sorted(MUTATIONS))
    parser.add_argument("--only", default="")
    parser.add_argument("--each", type=int, default=8)
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--survivors", action="store_true")
    parser.add_argument("--known", action="store_true")
    parser.add_argument("--commit", default="")
    parser.add_argument("--summary", type=Path)
    return parser.parse_args()


def started(
    arguments: argparse.Namespace, path: Path, known: dict[tuple[str, str, str], Entry], commit: str, deadline: float
) -> Iterator[Trial]:
    """The operators whose port is verified; what is known of a port at this commit is not asked again."""
    survivors = {(one.operator, one.target) for one in known.values() if is_survivor(one)}
    ported = {(one.operator, one.target) for one in known.values() if one.kind == PORT}
    for operator, target in pairs(arguments):
        pair = operator.key, target
        if (arguments.survivors and pair not in survivors) or (arguments.known and pair not in ported):
            continue
        if time.monotonic() > deadline:
            return
        try:
            begun = trial(operator, target, cache_folder(), arguments.seed)
        except PorterError as error:
            print(f"not ported: {operator.key} for {target}: {error.message}", flush=True)
            continue
        judged = known.get((operator.key, target, journal.digest_of(begun.text)))
        if judged is None or judged.porter != commit:
            judged = entry(begun, PORT, "", begun.text, commit)
            record(path, judged)
        if judged.outcome == Verified.label:
            yield begun


def pairs(arguments: argparse.Namespace) -> list[tuple[Operator, str]]:
    """The operators for each target, in an order that the seed decides."""
    found = [o for o in operators(SUITES) if arguments.only in o.key]
    random.Random(arguments.seed).shuffle(found)
    every = [(operator, target) for operator in found for target in arguments.target or sorted(MUTATIONS)]
    part, parts = map(int, arguments.part.split("/"))
    return every[part::parts]


def turns(trials: Iterable[Trial], arguments: argparse.Namespace) -> Iterator[tuple[Trial, Mutation]]:
    """The mutants, one of each operator before the next of any."""
    queues = []
    for one in trials:
        queue = chosen(one.mutations(), f"{arguments.seed} {one.operator.key} {one.options.target}", arguments.each)
        queues.append((one, queue))
        yield from ((one, mutation) for mutation in queue[:1])
    for n in range(1, arguments.each):
        yield from ((one, queue[n]) for one, queue in queues if n < len(queue))


def entry(judged: Trial, kind: str, shown: str, text: str, commit: str) -> Entry:
    """A mutant, judged."""
    said = judged.judge(text)
    return Entry(
        judged.operator.key, judged.options.target, kind, journal.digest_of(text), shown,
        said.outcome, said.because[:300], said.caveat, round(said.seconds, 1), commit,
    )  # fmt: skip


def record(path: Path, one: Entry) -> None:
    """Keeps the entry and prints it."""
    journal.append(path, [one])
    print(
        f"{one.outcome:13} {one.target:6} {one.operator:40} {one.kind:18} [{one.seconds} s] {one.because[:90]}",
        flush=True,
    )


def own_commit() -> str:
    """The commit of the tree this module stands in."""
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit("this is no git checkout: name the commit of porter with --commit")
    return done.stdout.strip()


if __name__ == "__main__":
    main()
