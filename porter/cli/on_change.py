"""`porter migrate --watch`: sources are ported again whenever they, or what they are read with, change."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from rich.text import Text

from porter.cli.attempt import Attempt, Failed, Migrated, Task, attempt_all, exit_code
from porter.cli.console import Console
from porter.cli.sources import NamedSource, named_sources
from porter.errors import PorterError
from porter.writing.counting import counted

_PERIOD_S = 0.5  # between two looks at the files: an editor has written all of a file by then
Stamp = tuple[int, int] | None  # when a file was written, in nanoseconds, and its length; None where it is not there


def on_every_change(paths: Sequence[Path], task: Task, console: Console) -> int:
    """Port the sources, then again those that changed, until Ctrl-C. Returns the exit code of what stands then.

    Raises `PorterError` where `paths` name no source in the beginning.
    """
    watched = _Watched(task)
    changed: Sequence[NamedSource] = named_sources(paths)
    try:
        for run in count(1):
            for source in changed:
                watched.port(source, console)
            files = counted(watched.files, "file")
            console.show(Text(f"run {run} is done; watching {files} for changes, Ctrl-C ends\n", "dim"))
            changed = _wait(paths, watched)
    except KeyboardInterrupt:
        pass
    return watched.exit_code


@dataclass
class _Watched:
    """Remembers what came of each source last, and the files that it was read with, as they were then."""

    task: Task
    came: dict[NamedSource, tuple[Attempt, ...]] = field(default_factory=dict)
    stamps: dict[NamedSource, dict[Path, Stamp]] = field(default_factory=dict)

    @property
    def files(self) -> int:
        """Returns how many files are watched."""
        return len({file for stamps in self.stamps.values() for file in stamps})

    @property
    def exit_code(self) -> int:
        """Returns the exit code of all sources together, as they were last ported."""
        return exit_code([attempt for came in self.came.values() for attempt in came])

    def port(self, source: NamedSource, console: Console) -> None:
        """Port the source; an error is shown, and what it was read with before stays watched."""
        files = (source.path, *self.stamps.get(source, ()), *_named_besides(self.task))
        self.stamps[source] = {file: _stamp(file) for file in files}
        try:
            self.came[source] = attempt_all([source], self.task, console)
        except PorterError as error:
            console.fail(error)
            self.came[source] = (Failed(source.path, "", error),)
            return
        programs = [one.migration.program for one in self.came[source] if isinstance(one, Migrated)]
        for header in (header.path for program in programs for _, header in program.headers):
            self.stamps[source].setdefault(header, _stamp(header))

    def is_changed(self, source: NamedSource) -> bool:
        """Returns whether the source is new, or one of its files is no longer what it was."""
        if source not in self.stamps:
            return True
        return any(_stamp(file) != stamp for file, stamp in self.stamps[source].items())


def _wait(paths: Sequence[Path], watched: _Watched) -> list[NamedSource]:
    """The sources that changed, once there are some; one that is gone for a moment, as editors do, did not."""
    while True:
        time.sleep(_PERIOD_S)
        with suppress(PorterError):
            if changed := [source for source in named_sources(paths) if watched.is_changed(source)]:
                return changed


def _named_besides(task: Task) -> list[Path]:
    """The files besides sources that the command line names."""
    options = [wish.options for wish in task.wishes]
    return [file for one in options for file in (one.contract, one.reference) if file is not None]


def _stamp(file: Path) -> Stamp:
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
