"""Exports the best candidate of a search as a folder that can be merged: port, test, benchmark, and its history."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from jinja2 import Environment, PackageLoader, StrictUndefined

from porter.errors import InputError, unwritable
from porter.evolve.candidate import File
from porter.evolve.proposer import Member
from porter.evolve.scored import Measure
from porter.evolve.scoring.subject import CONTRACT, ORIGINAL, StandardKind, standard_kind_of
from porter.evolve.settings import SEED
from porter.oracle.golden import GOLDEN
from porter.report.search.course import Course
from porter.report.search.lineage import lineage
from porter.report.search.tables import lineage_table
from porter.report.search.words import best_words, ending, factor, meaning, measured, title, visible
from porter.source.encoding import read_text
from porter.writing.columns import markdown_table

_ORIGINALS = {
    StandardKind.CUDA: "the CUDA original",
    StandardKind.PYTHON: "the Python reference",
    StandardKind.RECORDING: "the recording",
}


def winner_texts(course: Course) -> Mapping[str, str | bytes]:
    """Returns the files of the folder by their path in it; a recording is bytes.

    Raises:
        InputError: nothing was verified, or the run does not keep its standard.
    """
    best, seed = course.state.best, _seed(course)
    if best is None or seed is None:
        raise InputError(f"{course.folder}: nothing was verified, so there is nothing to export")
    port = _placed(best.candidate.files, "")
    main, seed_main = _called(best.candidate.files, ""), _called(seed.candidate.files, "seed")
    original = _ORIGINALS[standard_kind_of(course.about)]
    test = render("test_port.py.j2", words=[_here(main), *_python(_words(course, drafted=True))], original=original)
    others: dict[str, str | bytes] = {
        **_placed(seed.candidate.files, "seed"),
        **_original(course),
        "test_port.py": test,
        "README.md": _readme(course, best, main, original),
    }
    if standard_kind_of(course.about) is not StandardKind.RECORDING:  # recorded answers have no speed
        words = _python(_words(course, drafted=False))
        names = {"seed": _here(seed_main), "best": _here(main), "original": original}
        others["benchmark.py"] = render("benchmark.py.j2", **names, words=words)
    if taken := sorted(port.keys() & others.keys()):
        raise InputError(
            f"{course.folder}: the best candidate has a file {taken[0]}, and so has what is exported with it"
        )
    return {**port, **others}


def write_texts(texts: Mapping[str, str | bytes], folder: Path) -> list[Path]:
    """Writes them into `folder`; returns their places. Raises `InputError` where it is not empty, or not writable."""
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise InputError(f"{folder}: is not empty", "name a new folder")
        written = {folder / name: text for name, text in texts.items()}
        for place, text in written.items():
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(text.encode() if isinstance(text, str) else text)
    except OSError as error:
        raise unwritable(Path(error.filename or folder), error) from error
    return list(written)


def _seed(course: Course) -> Member | None:
    """Returns the first seed that is right: the factors are over it."""
    members = course.state.members.values()
    return next((m for m in members if m.candidate.origin.proposer == SEED and m.scored.score is not None), None)


def _placed(files: Sequence[File], below: str) -> dict[str, str]:
    """Puts one file alone, and several in a folder whose name tells which of them is called."""
    folder = PurePosixPath(below) if len(files) == 1 else PurePosixPath(below, PurePosixPath(files[0].name).stem)
    return {str(folder / file.name): file.text for file in files}


def _called(files: Sequence[File], below: str) -> str:
    """Returns what is handed to `porter verify`."""
    name = files[0].name if len(files) == 1 else PurePosixPath(files[0].name).stem
    return str(PurePosixPath(below, name))


def _original(course: Course) -> dict[str, str | bytes]:
    place = course.folder / ORIGINAL
    found: dict[str, str | bytes] = {
        f"{ORIGINAL}/{p.relative_to(place).as_posix()}": p.read_bytes() if p.suffix == GOLDEN else read_text(p)
        for p in sorted(place.rglob("*"))
        if p.is_file()
    }
    for name in (course.about.get("source", ""), CONTRACT):
        if not name or f"{ORIGINAL}/{name}" not in found:
            raise InputError(
                f"{place}: there is no {name or 'source'}, with which the best candidate could be compared"
            )
    return found


def verify_words(course: Course) -> list[str]:
    """Returns what `porter verify` is called with in the folder that is exported. Raises `InputError` as there."""
    if course.state.best is None:
        raise InputError(f"{course.folder}: nothing was verified, so there is nothing to export")
    return [_called(course.state.best.candidate.files, ""), *map(str, _words(course, drafted=True))]


def _words(course: Course, *, drafted: bool) -> Iterator[str | PurePosixPath]:
    """Yields the arguments of `porter verify` and `porter bench` besides the candidate.

    A contract that porter drafted is only for the former: a stated one also gives the sizes to time at, a drafted one
    has only small sizes.
    """
    about, standard_kind = course.about, standard_kind_of(course.about)
    standard = "--golden" if standard_kind is StandardKind.RECORDING else "--against"
    yield from (standard, PurePosixPath(ORIGINAL, about["source"]))
    if standard_kind is StandardKind.CUDA:
        yield from ("--include-dir", PurePosixPath(ORIGINAL))
    if about.get("contract") == "user" or (drafted and standard_kind is StandardKind.CUDA):
        yield from ("--contract", PurePosixPath(ORIGINAL, CONTRACT))
    if drafted and about.get("contract") != "user" and standard_kind is StandardKind.CUDA:
        yield "--edges"
    for option in ("target", "arch", "entry"):
        if value := about.get(option):
            yield from (f"--{option}", value)
    for define in filter(None, about.get("defines", "").split("\n")):
        yield from ("--define", define)


def _python(words: Iterable[str | PurePosixPath]) -> list[str]:
    return [json.dumps(word) if isinstance(word, str) else _here(str(word)) for word in words]


def _here(path: str) -> str:
    """Returns a path beside the script that names it, wherever that is called from."""
    return f"str(HERE / {json.dumps(path)})"


def _readme(course: Course, best: Member, main: str, original: str) -> str:
    state, table = course.state, lineage_table(course, lineage(course))
    return render(
        "winner.md.j2",
        title=title(course),
        best=best_words(course).capitalize(),
        meaning=meaning(course),
        main=main,
        original=original,
        can_be_timed=standard_kind_of(course.about) is not StandardKind.RECORDING,
        numbers=f"{factor(best.scored.score)}, {measured(course)}.",
        said=visible(best.scored.because),
        timed=course.measure is not Measure.MODELLED,
        rounds=state.progress.rounds,
        evaluations=state.progress.evaluations,
        islands=len(state.islands.archives),
        seed=state.settings.seed,
        proposers=", ".join(state.settings.proposers),
        ending=ending(course),
        lineage=markdown_table(table.heads, table.rows),
    )


def render(name: str, **values: object) -> str:
    """Renders text, not HTML: nothing is escaped."""
    loader = PackageLoader("porter.report")
    template = Environment(
        loader=loader, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    return template.get_template(name).render(**values)
