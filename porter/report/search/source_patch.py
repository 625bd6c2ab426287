"""Writes the winner of a search as a patch for the repository of its source, as `git format-patch` does.

The winner is compared with its source once more, and the message says how that went. Nothing of the repository is
changed: objects of the patch are written to a folder that is removed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from textwrap import fill

from porter.errors import InputError, MachineError
from porter.evolve.scoring.subject import ORIGINAL, StandardKind, standard_kind_of
from porter.report.search.course import Course
from porter.report.search.export import verify_words, winner_texts, write_texts
from porter.report.search.words import best_words, meaning
from porter.source.encoding import read_text

_NOBODY = ("-c", "user.name=porter", "-c", "user.email=porter@localhost")  # for a git without a user
_WIDTH = 72


@dataclass(frozen=True)
class Proof:
    """The outcome of comparing the winner with its source: why it is right, on how many workloads, by what software."""

    because: str
    workloads: int
    seed: int
    versions: Mapping[str, str]


def prove(course: Course, environment: Mapping[str, str]) -> Proof:
    """Compares the winner with its source by `porter verify`. Raises `InputError` where it is not verified."""
    if standard_kind_of(course.about) is not StandardKind.CUDA:
        raise InputError(
            f"{course.folder}: its candidates were not compared with a CUDA source, so there is none to patch"
        )
    with tempfile.TemporaryDirectory(prefix="porter-patch-") as name:
        folder = Path(name)
        write_texts(winner_texts(course), folder)
        words = [sys.executable, "-m", "porter", "verify", *verify_words(course), "--json"]
        done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    try:
        found = json.loads(done.stdout)
        outcome, because = found["outcome"], found["because"]
    except (ValueError, KeyError) as error:
        raise MachineError(f"`porter verify` gave no verdict: {done.stderr.strip()[:300]}") from error
    if outcome != "verified":
        raise InputError(f"{course.folder}: the best candidate is {outcome} now: {because}", "search anew")
    return Proof(because, len(found["workloads"]), found["seed"], found["environment"])


@dataclass(frozen=True)
class _Git:
    """Calls git in a repository, with an index and objects of its own."""

    repository: Path
    environment: Mapping[str, str]

    def __call__(self, *words: str, given: str = "") -> str:
        command, raw = ["git", "-C", str(self.repository), *words], given.encode("utf-8", "surrogateescape")
        try:
            done = subprocess.run(command, input=raw, env=self.environment, capture_output=True, check=False)
        except FileNotFoundError as error:
            raise MachineError("git, which writes the patch, is not installed") from error
        if done.returncode:
            raise InputError(f"{self.repository}: git {words[0]}: {done.stderr.decode('utf-8', 'replace').strip()}")
        return done.stdout.decode("utf-8", "surrogateescape")


def patch_of(
    course: Course, proof: Proof, repository: Path, environment: Mapping[str, str], *, at: str, in_place: bool
) -> Mapping[str, bytes]:
    """Returns the patch by the name of its file.

    `at` is the source's path in the repository; without it, the one file that is the same. With `in_place` the port
    replaces the source, otherwise it lies beside it. Raises `InputError` for a repository without that source, and for
    a port that would overwrite another file.
    """
    with _apart(repository, environment) as git:
        source = _source_in(git, course, at)
        for path, text in _changes(git, course, PurePosixPath(source), in_place=in_place).items():
            blob = git("hash-object", "-w", "--stdin", given=text).strip()
            git("update-index", "--add", "--cacheinfo", f"100644,{blob},{path}")
        tree = git("write-tree").strip()
        if tree == git("rev-parse", "HEAD^{tree}").strip():
            raise InputError(f"{repository}: has the port already")
        nobody = () if _has_user(git) else _NOBODY
        commit = git(*nobody, "commit-tree", tree, "-p", "HEAD", given=_message(course, proof, source)).strip()
        text = git(*nobody, "format-patch", "--stdout", "-1", "--no-signature", "--no-color", commit)
        git("read-tree", "HEAD")
        git("apply", "--cached", "--check", "-", given=text)
    return {f"0001-port-{PurePosixPath(source).stem}.patch": text.encode("utf-8", "surrogateescape")}


@contextmanager
def _apart(repository: Path, environment: Mapping[str, str]) -> Iterator[_Git]:
    git = _Git(repository, environment)
    objects = git("rev-parse", "--path-format=absolute", "--git-path", "objects").strip()
    with tempfile.TemporaryDirectory(prefix="porter-patch-") as name:
        own = {
            "GIT_INDEX_FILE": f"{name}/index",
            "GIT_OBJECT_DIRECTORY": name,
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": objects,
        }
        apart = _Git(Path(git("rev-parse", "--show-toplevel").strip()), {**environment, **own})
        apart("read-tree", "HEAD")
        yield apart


def _source_in(git: _Git, course: Course, at: str) -> str:
    name = course.about["source"]
    text = read_text(course.folder / ORIGINAL / name)
    paths = [path for path in git("ls-tree", "-r", "-z", "--name-only", "HEAD").split("\0") if path]
    named = [path for path in paths if (path == at if at else PurePosixPath(path).name == name)]
    same = [path for path in named if _alike(git("show", f"HEAD:{path}"), text)]
    if len(same) == 1:
        return same[0]
    if not same and named:
        raise InputError(f"{git.repository}: {named[0]} is not what was ported: it has changed since")
    found = "several files are" if same else "no file is"
    raise InputError(f"{git.repository}: {found} {at or name} as it was ported", "name the one by --at")


def _alike(one: str, other: str) -> bool:
    return one.removeprefix("\ufeff").replace("\r\n", "\n") == other.replace("\r\n", "\n")


def _changes(git: _Git, course: Course, source: PurePosixPath, *, in_place: bool) -> Mapping[str, str]:
    """Returns the files of the port by their paths. Raises `InputError` where another file is there."""
    best = course.state.best
    assert best is not None
    main, *others = best.candidate.files
    if in_place and PurePosixPath(main.name).suffix == ".py":
        raise InputError(f"{source}: the port is Python, and the source C++", "leave out --in-place")
    changes = {str(source if in_place else source.parent / main.name): main.text}
    changes |= {str(source.parent / file.name): file.text for file in others}
    there = set(git("ls-files", "-z").split("\0")) - ({str(source)} if in_place else set())
    for path in sorted(changes.keys() & there):
        if not _alike(git("show", f"HEAD:{path}"), changes[path]) and not in_place:
            raise InputError(
                f"{git.repository}: {path} is there already, with another text", "--in-place rewrites files"
            )
    return changes


def _has_user(git: _Git) -> bool:
    try:
        return bool(git("config", "user.email").strip() and git("config", "user.name").strip())
    except InputError:
        return False


def _message(course: Course, proof: Proof, source: str) -> str:
    target = " ".join(filter(None, (course.about.get("target", ""), course.about.get("arch", ""))))
    stated = "stated by a user" if course.about.get("contract") == "user" else "drafted by porter from the source"
    spent, versions = course.state.progress, ", ".join(f"{name} {one}" for name, one in proof.versions.items() if one)
    return "\n\n".join((
        f"Port {PurePosixPath(source).name} to {target}",
        *_filled(
            f"Found by a search of porter: {best_words(course)}. {meaning(course)} {spent.evaluations} candidates in "
            f"{spent.rounds} rounds, seed {course.state.settings.seed}.",
            f"Held to {source} by `porter verify`: {proof.because}. {proof.workloads} workloads, inputs drawn from "
            f"--seed {proof.seed}; the contract was {stated}.",
            f"Versions: {versions}.",
        ),
        "",
    ))  # fmt: skip


def _filled(*paragraphs: str) -> Sequence[str]:
    return [fill(one, _WIDTH, break_long_words=False, break_on_hyphens=False) for one in paragraphs]
