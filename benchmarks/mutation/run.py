"""Mutate verified ports of the suites, judge mutants as `porter verify --edges` does, and count those called verified.

    python -m benchmarks.mutation.run JOURNAL [--target NAME]... [--only WORD] [--each N] [--jobs N] [--seed N]
        [--seconds S] [--survivors] [--known] [--commit HASH]
    python -m benchmarks.mutation.run JOURNAL... --summary FILE [--judged EARLIER_FILE]...

Every operator of `op_suites` is ported as `porter migrate` ports it. Where `porter verify --edges` calls this verified,
`--each` of its mutants are judged against the operator's own CUDA and contract, `--jobs` at once. A mutant is one
change at one place: an operator, a comparison, a minimum for a maximum, a constant, a bound, a sign, an index, a mask,
a dtype, a grid, a removed statement, swapped arguments. A seed chooses them: `--seed`, else the journal's own, else one
that is drawn. JOURNAL gets a line for each as soon as it is judged; run again, only those are judged that it lacks, or
with `--survivors` those that were called verified; with `--known` no operator is begun whose port it lacks. After
`--seconds` the run ends, and what was being judged is left to the next one. The first mutant of every operator is
judged before the second of any, so that a run that was cut has looked at all.

FILE gets the counts and the survivors, each with a `verdict` that a person fills in: `equivalent: ...`, `named: ...`
where the verdict on the mutant says that the changed code was not executed (`caveat`; of those that name the changed
line porter says so itself), or `real: ...` and which inputs would tell. It stays when the file is written again, as
does `retried`: what became of it at a later commit (`{"porter": HASH, "outcome": "wrong", "because": "..."}`). What was
said of the same change of the same operator in an EARLIER_FILE is taken over.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.mutation import journal
from benchmarks.mutation.journal import Entry
from benchmarks.mutation.schedule import Pair, Settings, judged_at_once
from benchmarks.mutation.summary import write_summary
from benchmarks.mutation.trial import MUTATIONS
from porter.suite.operators import operators

SUITES = Path(__file__).parents[2] / "op_suites"


def main() -> None:
    arguments = parsed()
    if arguments.summary:
        entries = [e for path in arguments.journal for e in journal.read(path) if e.kind != journal.PORT]
        write_summary(entries, arguments.summary, arguments.judged)
        return
    deadline = time.monotonic() + arguments.seconds
    (path,) = arguments.journal
    known = journal.read(path)
    seed = seed_of(arguments.seed, known)
    print(f"seed {seed}, {arguments.jobs} at once", flush=True)
    settings = Settings(seed, arguments.each, arguments.commit or own_commit(), arguments.survivors)
    for one in judged_at_once(tuple(pairs(arguments, known, seed)), known, settings, arguments.jobs, deadline):
        journal.append(path, [one])
        print(
            f"{one.outcome:13} {one.target:6} {one.operator:40} {one.kind:18} [{one.seconds} s] {one.because[:90]}",
            flush=True,
        )


def parsed() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("journal", type=Path, nargs="+")
    parser.add_argument("--target", action="append", choices=sorted(MUTATIONS))
    parser.add_argument("--only", default="")
    parser.add_argument("--each", type=int, default=8)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--survivors", action="store_true")
    parser.add_argument("--known", action="store_true")
    parser.add_argument("--commit", default="")
    parser.add_argument("--summary", type=Path)
    parser.add_argument("--judged", type=Path, action="append", default=[])
    return parser.parse_args()


def seed_of(wanted: int | None, known: list[Entry]) -> int:
    """Returns the seed that is asked for, else the one that the journal was begun with, else one that nobody knows."""
    if wanted is not None:
        return wanted
    return known[-1].seed if known else random.SystemRandom().randrange(1, 2**31)


def pairs(arguments: argparse.Namespace, known: list[Entry], seed: int) -> Iterator[Pair]:
    """The operators for each target, in an order that the seed decides."""
    survivors = {(one.operator, one.target) for one in known if one.is_survivor}
    ported = {(one.operator, one.target) for one in known if one.kind == journal.PORT}
    found = [o for o in operators(SUITES) if arguments.only in o.key]
    random.Random(seed).shuffle(found)
    for operator in found:
        for target in arguments.target or sorted(MUTATIONS):
            key = operator.key, target
            if (not arguments.survivors or key in survivors) and (not arguments.known or key in ported):
                yield Pair(operator, target)


def own_commit() -> str:
    """The commit of the tree this module stands in."""
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit("this is no git checkout: name the commit of porter with --commit")
    return done.stdout.strip()


if __name__ == "__main__":
    main()
