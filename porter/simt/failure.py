"""Reads in a compiler's log its first error, at a line of the user's, and the entries that lead to errors."""

from __future__ import annotations

import re
from pathlib import PurePath

from porter.execution.job import BuildFailure, BuildRequest, Built
from porter.simt.driver import BEGUN, DRIVER_FILE

_ERROR = re.compile(r"^(?P<file>[^\n]*?):(?P<line>\d+)(?::\d+)?: (?:fatal )?error: (?P<message>.*)$", re.MULTILINE)
_PLACE = re.compile(r"^(?:In file included from |\s+from )?(?P<file>[^\n:]+):(?P<line>\d+)[:,]", re.MULTILINE)
_REQUIRED = re.compile(r"^(?P<file>[^\n]*?):(?P<line>\d+)(?::\d+)?:\s+required from ", re.MULTILINE)
_EXPANDED = re.compile(r"^(?P<file>[^\n]*?):(?P<line>\d+)(?::\d+)?: note: in expansion of macro ", re.MULTILINE)
_DRIVER = re.compile(rf"{re.escape(DRIVER_FILE)} (?P<entry>\d+):\d+")
_BEGUN = re.compile(rf"^{re.escape(DRIVER_FILE)}:[^\n]*{re.escape(BEGUN)}[^\n]*\n(?: [^\n]*\n)*", re.MULTILINE)
_UNDEFINED = re.compile(
    r"^(?:\S*ld: )?(?P<file>[^\n:]+):(?P<line>\d+): (?P<message>undefined reference to .*)$", re.MULTILINE
)
_NO_NAMESPACE = re.compile("error: \u2018(\\w+)\u2019 is not a namespace-name")
_NO_FILE = re.compile(r"(?P<header>\S+): No such file or directory")
_UNDEFINED_ANYWHERE = re.compile(r"undefined reference to .*$", re.MULTILINE)


def build_failure(log: str, request: BuildRequest) -> BuildFailure:
    """The failure that `log` tells of. An error inside porter's headers is placed where the user's code led there."""
    log = _BEGUN.sub("", log)
    own = {str(request.source.path), *(str(header.path) for _, header in request.headers)}
    error = _ERROR.search(log) or _UNDEFINED.search(log)
    if error is None:
        undefined = _UNDEFINED_ANYWHERE.search(log)
        lines = log.strip().splitlines() or ["the compiler failed and said nothing"]
        return BuildFailure(undefined.group() if undefined else lines[-1], str(request.source.path), 0, log)
    message, file, line = error["message"], error["file"], int(error["line"])
    if file in own:
        return BuildFailure(message, file, line, log)
    if called := _DRIVER.match(error.group()):
        name = request.callees[int(called["entry"])].entry.name
        return BuildFailure(f"{name} cannot be called: {message}", str(request.source.path), 0, log)
    file, line = _led_there(log, error, own) or (str(request.source.path), 0)
    return BuildFailure(message, file, line, log)


def missing_header(built: Built) -> str:
    """The header that is not there, by the name it is included with; empty where that is not why a build failed."""
    found = _NO_FILE.fullmatch(built.message) if isinstance(built, BuildFailure) else None
    return found["header"] if found else ""


def unknown_namespaces(log: str) -> frozenset[str]:
    """The namespaces that `log` says nobody opens, by the last part of their names."""
    return frozenset(_NO_NAMESPACE.findall(log))


def error_lines(log: str) -> frozenset[tuple[str, int]]:
    """The lines of the errors of `log`, each with the name of its file."""
    return frozenset((PurePath(error["file"]).name, int(error["line"])) for error in _ERROR.finditer(log))


def lines_behind(log: str) -> frozenset[tuple[str, int]]:
    """The lines of the errors of `log`, those that had them instantiated, and those that use the macros they lie in,
    each with the name of its file.
    """
    led = (m for pattern in (_REQUIRED, _EXPANDED) for m in pattern.finditer(log))
    return error_lines(log) | {(PurePath(m["file"]).name, int(m["line"])) for m in led}


def only_driver_fails(log: str) -> bool:
    """Returns whether every error of `log` lies in the driver, none in what it calls."""
    errors = list(_ERROR.finditer(log))
    return bool(errors) and all(error["file"].startswith(DRIVER_FILE) for error in errors)


def fails_anyway(log: str) -> bool:
    """Returns whether the compiler found an error before it came to the driver: the source fails whatever is called."""
    error, begun = _ERROR.search(log), _BEGUN.search(log)
    return error is not None and (begun is None or error.start() < begun.start())


def blamed(log: str) -> frozenset[int]:
    """The entries whose calls lead to the errors of `log`; empty where it does not tell.

    That the source fails whatever is called is told by the first error: the driver, and what it instantiates, is
    compiled after all the rest.
    """
    errors = [error.start() for error in _ERROR.finditer(log)]
    if not errors or not _DRIVER.search(log, 0, errors[1] if errors[1:] else len(log)):
        return frozenset()
    return frozenset(int(mention["entry"]) for mention in _DRIVER.finditer(log))


def _led_there(log: str, error: re.Match[str], own: set[str]) -> tuple[str, int] | None:
    """The place in the user's files nearest before the error (instantiations), else the first after it (notes)."""
    following = _ERROR.search(log, error.end())
    end = following.start() if following else len(log)
    before = [m for m in _PLACE.finditer(log, 0, error.start()) if m["file"] in own]
    after = [m for m in _PLACE.finditer(log, error.end(), end) if m["file"] in own]
    places = before[-1:] or after[:1]
    return (places[0]["file"], int(places[0]["line"])) if places else None
