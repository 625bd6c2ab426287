"""Reads what a project says once, not on every command line: `porter.toml`, or `[tool.porter]` in `pyproject.toml`.

A key is an option without its dashes and holds for every command that has it; a table named after a command holds for
that command alone. `allow` lists the findings that the project accepts, each with its reason.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from typer.core import TyperCommand, TyperGroup, TyperOption

from porter.diagnostics.allowances import Allowance, read_allowances
from porter.errors import InputError

Value = object
Defaults = dict[str, object]  # what typer takes: a value for each parameter, a mapping for each command

_OWN, _SHARED = "porter.toml", "pyproject.toml"
_ALLOW = "allow"
_OF_ONE_COMMAND = ("json", "debug", "quiet", "verbose")  # how one command line is to be answered
_ON_DISK = ("FILE", "DIR")  # what paths are called in the help of an option


@dataclass(frozen=True, slots=True)
class Configuration:
    """The configuration in `file`; it is empty where there is none."""

    file: Path | None = None
    table: Mapping[str, Value] | None = None

    @property
    def allowances(self) -> tuple[Allowance, ...]:
        """The findings that the project accepts. Raises `InputError` for one without code or reason."""
        if self.file is None or self.table is None:
            return ()
        return read_allowances(self.file, self.table.get(_ALLOW, ()))

    def defaults(self, app: TyperGroup) -> Defaults:
        """The values of the options of every command. Raises `InputError` for a key that no command has."""
        given = {key: value for key, value in (self.table or {}).items() if key != _ALLOW}
        return self._group(app, given, {})

    def _group(self, group: TyperGroup, given: Mapping[str, Value], above: Mapping[str, Value]) -> Defaults:
        tables = {key: value for key, value in given.items() if key in group.commands and isinstance(value, Mapping)}
        shared = {key: value for key, value in given.items() if key not in tables}
        self._check_keys(shared, _option_names(group))
        defaults: Defaults = {}
        for name, command in group.commands.items():
            own = tables.get(name, {})
            if isinstance(command, TyperGroup):
                defaults[name] = self._group(command, own, {**above, **shared})
            elif isinstance(command, TyperCommand):
                self._check_keys(own, _options(command))
                defaults[name] = self._command(command, {**above, **shared, **own})
        return defaults

    def _command(self, command: TyperCommand, given: Mapping[str, Value]) -> Defaults:
        """The values that `command` can take: a list is nothing for an option that is given once."""
        found: Defaults = {}
        for key, option in _options(command).items():
            if key not in given or (isinstance(given[key], list) and not option.multiple):
                continue
            value = self._placed(given[key]) if option.metavar in _ON_DISK else given[key]
            found[option.name or key] = [value] if option.multiple and not isinstance(value, list) else value
        return found

    def _placed(self, value: Value) -> Value:
        """A path of the file as seen from the current folder: it is meant from where the file lies."""
        if isinstance(value, list):
            return [self._placed(one) for one in value]
        return os.path.relpath((self.file or Path()).parent / str(value)) if value else value

    def _check_keys(self, keys: Iterable[str], known: Iterable[str]) -> None:
        for key in keys:
            if key not in known:
                near = difflib.get_close_matches(key, list(known), 1)
                hint = f"did you mean {near[0]!r}?" if near else "a key is an option without its dashes"
                raise InputError(f"{self.file}: {key!r} is not an option that a project can set", hint)


def find_configuration(folder: Path) -> Configuration:
    """Reads the nearest `porter.toml`, or `pyproject.toml` with a table `[tool.porter]`, at `folder` or above.

    Raises `InputError` for a file that is no TOML.
    """
    for place in (folder, *folder.parents):
        if (place / _OWN).is_file():
            return Configuration(place / _OWN, _read(place / _OWN))
        if (place / _SHARED).is_file():
            tools = _read(place / _SHARED).get("tool", {})
            table = tools.get("porter") if isinstance(tools, Mapping) else None
            if isinstance(table, Mapping):
                return Configuration(place / _SHARED, table)
    return Configuration()


def _read(file: Path) -> Mapping[str, Value]:
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{file}: {error}") from error


def _options(command: TyperCommand) -> dict[str, TyperOption]:
    """The options of a command that a project can set, by their long names without dashes."""
    return {
        name.removeprefix("--"): parameter
        for parameter in command.params
        if isinstance(parameter, TyperOption)
        for name in parameter.opts
        if name.startswith("--") and name.removeprefix("--") not in _OF_ONE_COMMAND
    }


def _option_names(group: TyperGroup) -> set[str]:
    """The names of the options of all commands in `group`."""
    names: set[str] = set()
    for command in group.commands.values():
        if isinstance(command, TyperGroup):
            names |= _option_names(command)
        elif isinstance(command, TyperCommand):
            names |= set(_options(command))
    return names
