"""Makes a commit in a git repository, and a patch of it, without a change to the repository."""

from __future__ import annotations

import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

from porter.errors import InputError, MachineError

_NOBODY = ("-c", "user.name=porter", "-c", "user.email=porter@localhost")  # for a git without a user


@dataclass(frozen=True)
class Git:
    """Calls git in a repository, with an index and objects of its own."""

    repository: Path
    environment: Mapping[str, str]

    def __call__(self, *words: str, given: str = "", none: int = 0) -> str:
        """Returns what git prints; `none` is the exit code by which it says that there is nothing.

        Raises `InputError` where it fails, and `MachineError` where it is not installed.
        """
        command, raw = ["git", "-C", str(self.repository), *words], given.encode("utf-8", "surrogateescape")
        try:
            done = subprocess.run(command, input=raw, env=self.environment, capture_output=True, check=False)
        except FileNotFoundError as error:
            raise MachineError("git, which writes the patch, is not installed") from error
        if done.returncode not in (0, none):
            raise InputError(f"{self.repository}: git {words[0]}: {done.stderr.decode('utf-8', 'replace').strip()}")
        return done.stdout.decode("utf-8", "surrogateescape")

    @cached_property
    def paths(self) -> frozenset[str]:
        """The files of the last commit."""
        return frozenset(filter(None, self("ls-tree", "-r", "-z", "--name-only", "HEAD").split("\0")))

    def beside(self, word: str, kind: str, usual: Sequence[str]) -> PurePosixPath:
        """Returns the folder of most Python files whose path says that `kind` and whose text has `word`.

        Where there are none it is the first of the `usual` folders that is there, or else the first.
        """
        found = self("grep", "-l", "-w", "-F", "-e", word, "HEAD", "--", "*.py", none=1).splitlines()
        files = [PurePosixPath(line.removeprefix("HEAD:")) for line in found]
        folders = Counter(str(file.parent) for file in files if kind in file.name)
        if folders:
            return PurePosixPath(min(folders, key=lambda folder: (-folders[folder], folder)))
        there = {path.split("/")[0] for path in self.paths if "/" in path}
        return PurePosixPath(next((folder for folder in usual if folder in there), usual[0]))

    def patch(self, changes: Mapping[str, str], message: str) -> str:
        """Returns a commit of these files on the last one, as `git format-patch` does, which was seen to apply.

        Raises `InputError` where it changes nothing.
        """
        for path, text in changes.items():
            blob = self("hash-object", "-w", "--stdin", given=text).strip()
            mode = self("ls-tree", "HEAD", path)[:6] or "100644"
            self("update-index", "--add", "--cacheinfo", f"{mode},{blob},{path}")
        tree = self("write-tree", "--missing-ok").strip()
        if tree == self("rev-parse", "HEAD^{tree}").strip():
            raise InputError(f"{self.repository}: has the port already")
        nobody = () if self._has_user() else _NOBODY
        commit = self(*nobody, "commit-tree", tree, "-p", "HEAD", given=message).strip()
        text = self(*nobody, "format-patch", "--stdout", "-1", "--no-signature", "--no-color", commit)
        self("read-tree", "HEAD")
        self("apply", "--cached", "--check", "-", given=text)
        return text

    def _has_user(self) -> bool:
        try:
            return bool(self("config", "user.email").strip() and self("config", "user.name").strip())
        except InputError:
            return False


@contextmanager
def apart(repository: Path, environment: Mapping[str, str]) -> Iterator[Git]:
    """Yields the repository with an index and a store of objects that are removed in the end."""
    git = Git(repository, environment)
    objects = git("rev-parse", "--path-format=absolute", "--git-path", "objects").strip()
    with tempfile.TemporaryDirectory(prefix="porter-patch-") as name:
        own = {
            "GIT_INDEX_FILE": f"{name}/index",
            "GIT_OBJECT_DIRECTORY": name,
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": objects,
        }
        one = Git(Path(git("rev-parse", "--show-toplevel").strip()), {**environment, **own})
        one("read-tree", "HEAD")
        yield one
