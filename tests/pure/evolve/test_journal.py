import hashlib
import json
from dataclasses import is_dataclass
from enum import Enum
from typing import get_args, get_type_hints

import pytest

from porter.errors import InputError, UsageError
from porter.evolve.budget import Budget
from porter.evolve.candidate import Candidate, File, Origin
from porter.evolve.events import EVENTS, VERSION, Granted, Opened, Proposed, Told
from porter.evolve.journal import NAME, entries, journal
from porter.evolve.lines import Line, Lines
from porter.evolve.proposer import Account, Exchange
from porter.evolve.scored import Measure, Score, Scored
from porter.evolve.store import Store
from tests.pure.evolve.world import in_memory, run, settings


def test_every_event_of_a_run_is_read_as_it_was_written(tmp_path):
    lines = Lines(Store(tmp_path))
    for event in [Opened(settings()), *in_memory()[1]]:
        raw = lines.written(Line(event, 1.5))
        assert lines.read(raw) == Line(event, 1.5)
        assert raw.count(b"\n") == 1


def shape(kind: type) -> str:
    """The fields of a record and of those in it, or the names of an enumeration."""
    if issubclass(kind, Enum):
        return f"{kind.__name__}: {[each.name for each in kind]}"
    hints = get_type_hints(kind)
    within = {part for hint in hints.values() for part in (hint, *get_args(hint)) if isinstance(part, type)}
    inner = sorted(shape(part) for part in within if is_dataclass(part) or issubclass(part, Enum))
    return f"{kind.__name__}: {sorted(f'{name}: {hint}' for name, hint in hints.items())} {inner}"


def test_another_form_of_lines_is_another_version():
    """Whoever changes a record in journals, or who is asked, raises VERSION, so that older ones are told by that."""
    form = hashlib.sha256("\n".join(sorted(map(shape, EVENTS.values()))).encode()).hexdigest()[:16]
    assert (VERSION, form) == (5, "e7b19514389b9b6e")


def test_a_journal_of_another_form_is_said_to_be_of_another_version(tmp_path):
    raw = run(tmp_path)
    older = raw.replace(b'"version":%d' % VERSION, b'"version":1').replace(b'"exploit"', b'"greed"')
    (tmp_path / NAME).write_bytes(older)
    with pytest.raises(InputError, match="written by another version"):
        list(entries(tmp_path))


def test_what_is_long_lies_in_the_store_under_its_digest(tmp_path):
    candidate = Candidate(
        (File("sub/kernel.py", "é\r\nx\n"), File("b.h", "")),
        Origin("llm", ("a", "b"), "tiled"),
        {"block": 64, "order": "rows"},
    )
    said = Account((Exchange("faster?", "yes \ud800", 9),), "# Plan\n")
    event = Proposed(3, 1, 0, "llm", (candidate,), account=said)
    lines = Lines(Store(tmp_path))
    raw = lines.written(Line(event, 0.0))
    assert (tmp_path / "candidates" / candidate.digest / "sub/kernel.py").read_bytes() == "é\r\nx\n".encode()
    assert len(list((tmp_path / "texts").iterdir())) == 3
    assert b"faster" not in raw
    assert lines.read(raw).event == event


def test_lines_are_canonical(tmp_path):
    score = Score(Measure.PROXY, 1.5, 1.25, 2.0)
    event = Told(Scored("d1", "verified", "", score, (1, 2), "ünïcode\n", "b1"))
    raw = Lines(Store(tmp_path)).written(Line(event, 12.345))
    assert raw.decode("ascii") == json.dumps(json.loads(raw), sort_keys=True, separators=(",", ":")) + "\n"
    assert raw == Lines(Store(tmp_path)).written(Line(event, 12.345))


def test_a_candidate_that_was_changed_is_not_believed(tmp_path):
    raw = run(tmp_path)
    folder = next((tmp_path / "candidates").iterdir())
    (folder / "kernel.py").write_text("another")
    with pytest.raises(InputError, match="was changed"):
        list(entries(tmp_path))
    (folder / "kernel.py").unlink()
    with pytest.raises(InputError, match="cannot be read"):
        list(entries(tmp_path))
    assert raw


@pytest.mark.parametrize(
    "broken",
    [
        b"not json\n",
        b"[]\n",
        b'{"event":"unheard","seconds":0.0}\n',
        b'{"event":"ended","seconds":0.0}\n',
        b'{"because":3,"event":"ended","seconds":0.0}\n',
        b'{"because":"x","event":"ended","more":1,"seconds":0.0}\n',
        b'{"because":"x","event":"ended","seconds":"late"}\n',
        b"\xff\xfe\n",
    ],
)
def test_a_line_that_says_nothing_is_named(tmp_path, broken):
    whole = run(tmp_path).splitlines(keepends=True)
    (tmp_path / NAME).write_bytes(b"".join([*whole[:3], broken, *whole[3:]]))
    with pytest.raises(InputError, match=f"{NAME}:4: "):
        list(entries(tmp_path))


def test_a_line_that_was_cut_short_is_not_read(tmp_path):
    raw = run(tmp_path)
    (tmp_path / NAME).write_bytes(raw[:-5])
    assert b"".join(entry.raw for entry in entries(tmp_path)) == raw[: raw[:-1].rfind(b"\n") + 1]


def test_what_was_cut_short_is_taken_off_before_more_is_written(tmp_path):
    (tmp_path / NAME).write_bytes(b'{"whole":1}\n{"cut')
    with journal(tmp_path) as recorder:
        recorder.write(Granted(Budget()), 0.0)
    first, second = (tmp_path / NAME).read_bytes().splitlines()
    assert first == b'{"whole":1}'
    assert json.loads(second)["event"] == "granted"


def test_one_process_writes(tmp_path):
    with journal(tmp_path), pytest.raises(UsageError, match="another process"), journal(tmp_path):
        pass
    with journal(tmp_path):
        pass


def test_a_folder_without_a_run_is_named(tmp_path):
    with pytest.raises(InputError, match="there is no search in it"):
        list(entries(tmp_path))


def test_a_journal_of_another_version_is_not_read(tmp_path):
    raw = run(tmp_path)
    (tmp_path / NAME).write_bytes(raw.replace(b'"version":%d' % VERSION, b'"version":1'))
    with pytest.raises(InputError, match="this porter reads"):
        list(entries(tmp_path))


def test_a_journal_begins_with_how_the_run_was_opened(tmp_path):
    raw = run(tmp_path)
    (tmp_path / NAME).write_bytes(raw[raw.index(b"\n") + 1 :])
    with pytest.raises(InputError, match="first line"):
        list(entries(tmp_path))
