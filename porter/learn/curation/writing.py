"""Tasks as files in KernelBench's form, in folders that `porter suite run` takes."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from porter.errors import unwritable
from porter.learn.curation.records import Call, Contents, Curated, Given, Provenance, ReadClass, Trial

_LEVELS = (1, 8)  # operators that compute: single ones, chains of a few, blocks


def module_text(one: ReadClass, call: Call) -> str:
    """Returns the file: where it comes from, the class and what it needs, `Model`, `get_inputs`, `get_init_inputs`."""
    names = [setting.name for setting in call.settings]
    passed = ", ".join(f"{name}={name}" for name in names)
    values = ", ".join(setting.text for setting in call.settings)
    inputs = ", ".join(map(drawn_text, call.inputs))
    future, _, code = one.code.partition("\n")
    return (
        f"# {origin(one.provenance)}\n{future}\n{code}\n\n"
        f"class Model({one.name}):\n\n"
        f"    def __init__({', '.join(['self', *names])}):\n"
        f"        super().__init__({passed})\n"
        f"        self.eval()\n\n\n"
        f"def get_inputs():\n    return [{inputs}]\n\n\n"
        f"def get_init_inputs():\n    return [{values}]\n"
    )


def origin(source: Provenance) -> str:
    """Returns in a line where code comes from."""
    commit = f" at {source.commit}" if source.commit else ""
    licence = f"; licence: its {source.licence}" if source.licence else "; no licence was found"
    return f"From {source.repository}{commit}, {source.file}:{source.line}{licence}."


def drawn_text(given: Given) -> str:
    """Returns the expression that makes an input."""
    shape = ", ".join(map(str, given.shape))
    match given.contents:
        case Contents.NORMAL:
            return f"torch.randn({shape})"
        case Contents.INDICES:
            return f"torch.randint(0, {given.below}, ({shape},))"
        case Contents.SEVERAL:
            return f"[torch.randn({shape}) for _ in range(3)]"
        case Contents.LITERAL:
            return given.text


def level_of(operators: int) -> str:
    """Returns the folder of a task that calls so many operators which compute."""
    return f"level{1 + sum(operators > most for most in _LEVELS)}"


@dataclass(frozen=True, slots=True)
class Task:
    """A task as it is written: its file below the suite, and what it holds."""

    key: str
    file: str
    text: str
    family: str
    origin: str


def write_tasks(kept: Sequence[Curated], read: Sequence[ReadClass], trials: Sequence[Trial], suite: Path) -> list[Task]:
    """Writes a file for each task into the folders of `suite`, which is made anew, and returns them.

    Raises `InputError` or `MachineError` where that fails.
    """
    classes, calls = {one.key: one for one in read}, {one.key: one for one in trials}
    tasks = [_task(one, classes[one.key], calls[one.key]) for one in kept]
    try:
        shutil.rmtree(suite, ignore_errors=True)
        for task in tasks:
            file = suite / task.file
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(task.text, "utf-8", errors="backslashreplace")
    except OSError as error:
        raise unwritable(suite, error) from error
    return tasks


def _task(task: Curated, one: ReadClass, trial: Trial) -> Task:
    call = trial.scaled or trial.call
    assert call is not None
    level = level_of(sum(not operation.is_view for operation in trial.operations))
    file = f"{level}/{one.name}_{one.digest[:8]}.py"
    return Task(one.key, file, module_text(one, call), task.family, origin(one.provenance))
