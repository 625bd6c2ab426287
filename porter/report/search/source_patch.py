"""Writes the winner of a search as a patch for the repository of its source, as `git format-patch` does.

The winner is compared with its source once more, and the message says how that went. Nothing of the repository is
changed: objects of the patch are written to a folder that is removed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from textwrap import fill

from porter.errors import InputError, MachineError
from porter.evolve.scoring.subject import ORIGINAL, StandardKind, standard_kind_of
from porter.report.search.course import Course
from porter.report.search.export import verify_words, winner_texts, write_texts
from porter.report.search.function_patch import function_changes
from porter.report.search.git import Git, apart
from porter.report.search.words import best_words, meaning
from porter.source.encoding import read_text

_WIDTH = 72


@dataclass(frozen=True)
class Proof:
    """The outcome of comparing the winner with its source: why it is right, on which workloads, by what software."""

    because: str
    passed: Sequence[str]
    seed: int
    versions: Mapping[str, str]


def prove(course: Course, environment: Mapping[str, str], *, edges: bool = False) -> Proof:
    """Compares the winner with its source by `porter verify`, with `edges` also at sizes of one and none.

    Raises `InputError` where it is not verified.
    """
    if standard_kind_of(course.about) is not StandardKind.CUDA:
        raise InputError(
            f"{course.folder}: its candidates were not compared with a CUDA source, so there is none to patch"
        )
    with tempfile.TemporaryDirectory(prefix="porter-patch-") as name:
        folder = Path(name)
        write_texts(winner_texts(course), folder)
        words = [sys.executable, "-m", "porter", "verify", *verify_words(course), *["--edges"] * edges, "--json"]
        done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    try:
        found = json.loads(done.stdout)
        outcome, because = found["outcome"], found["because"]
    except (ValueError, KeyError) as error:
        raise MachineError(f"`porter verify` gave no verdict: {done.stderr.strip()[:300]}") from error
    if outcome != "verified":
        raise InputError(f"{course.folder}: the best candidate is {outcome} now: {because}", "search anew")
    passed = tuple(str(one["name"]) for one in found["workloads"] if one["passed"])
    return Proof(because, passed, found["seed"], found["environment"])


def patch_of(
    course: Course, proof: Proof, repository: Path, environment: Mapping[str, str], *, at: str, in_place: bool
) -> Mapping[str, bytes]:
    """Returns the patch by the name of its file.

    `at` is the source's path in the repository; without it, the one file that is the same. With `in_place` the port
    replaces the source, otherwise it lies beside it. Where `at` is `path.py:function` it answers for that function
    instead. Raises `InputError` for a repository without that source, and for a port that would overwrite another file.
    """
    name, target = course.about["source"], _target(course)
    with apart(repository, environment) as git:
        if is_function(at):
            if in_place:
                raise InputError(f"{at}: --in-place replaces a source, and this is a function", "leave it out")
            stem = at.rpartition(":")[2]
            title, changes = (
                f"Let {name} for {target} answer for {stem}",
                function_changes(git, course, proof.passed, at),
            )
        else:
            source = PurePosixPath(_source_in(git, course, at))
            name, stem = str(source), source.stem
            title, changes = f"Port {source.name} to {target}", _changes(git, course, source, in_place=in_place)
        text = git.patch(changes, _message(course, proof, title, name))
    return {f"0001-port-{stem}.patch": text.encode("utf-8", "surrogateescape")}


def is_function(at: str) -> bool:
    """Returns whether a place in a repository is a function, `path.py:function`, and not a file."""
    return ".py:" in at


def _target(course: Course) -> str:
    return " ".join(filter(None, (course.about.get("target", ""), course.about.get("arch", ""))))


def _source_in(git: Git, course: Course, at: str) -> str:
    name = course.about["source"]
    text = read_text(course.folder / ORIGINAL / name)
    named = [path for path in sorted(git.paths) if (path == at if at else PurePosixPath(path).name == name)]
    same = [path for path in named if _alike(git("show", f"HEAD:{path}"), text)]
    if len(same) == 1:
        return same[0]
    if not same and named:
        raise InputError(f"{git.repository}: {named[0]} is not what was ported: it has changed since")
    found = "several files are" if same else "no file is"
    raise InputError(f"{git.repository}: {found} {at or name} as it was ported", "name the one by --at")


def _alike(one: str, other: str) -> bool:
    return one.removeprefix("\ufeff").replace("\r\n", "\n") == other.replace("\r\n", "\n")


def _changes(git: Git, course: Course, source: PurePosixPath, *, in_place: bool) -> Mapping[str, str]:
    """Returns the files of the port by their paths. Raises `InputError` where another file is there."""
    best = course.state.best
    assert best is not None
    main, *others = best.candidate.files
    if in_place and PurePosixPath(main.name).suffix == ".py":
        raise InputError(f"{source}: the port is Python, and the source C++", "leave out --in-place")
    changes = {str(source if in_place else source.parent / main.name): main.text}
    changes |= {str(source.parent / file.name): file.text for file in others}
    there = git.paths - ({str(source)} if in_place else set())
    for path in sorted(changes.keys() & there):
        if not _alike(git("show", f"HEAD:{path}"), changes[path]) and not in_place:
            raise InputError(
                f"{git.repository}: {path} is there already, with another text", "--in-place rewrites files"
            )
    return changes


def _message(course: Course, proof: Proof, title: str, source: str) -> str:
    stated = "stated by a user" if course.about.get("contract") == "user" else "drafted by porter from the source"
    spent, versions = course.state.progress, ", ".join(f"{name} {one}" for name, one in proof.versions.items() if one)
    return "\n\n".join((
        title,
        *_filled(
            f"Found by a search of porter: {best_words(course)}. {meaning(course)} {spent.evaluations} candidates in "
            f"{spent.rounds} rounds, seed {course.state.settings.seed}.",
            f"Held to {source} by `porter verify`: {proof.because}. {len(proof.passed)} workloads, inputs drawn from "
            f"--seed {proof.seed}; the contract was {stated}.",
            f"Versions: {versions}.",
        ),
        "",
    ))  # fmt: skip


def _filled(*paragraphs: str) -> Sequence[str]:
    return [fill(one, _WIDTH, break_long_words=False, break_on_hyphens=False) for one in paragraphs]
