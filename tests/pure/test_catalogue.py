"""The catalogue of finding codes."""

from types import SimpleNamespace

import pytest

from porter.diagnostics.catalogue import core_catalogue, load_catalogue, lookup
from porter.diagnostics.findings import CatalogueEntry, Effort, Severity
from porter.errors import InputError, UsageError
from porter.registry import loadable_backends
from porter.report.findings.full_catalogue import full_catalogue

ROW = """
[[finding]]
code = "{code}"
title = "A title"
severity = "warning"
effort = "minutes"
explanation = \"\"\"What it means.
Why it matters.\"\"\"
"""


def row(code="PORT2001", **changes):
    text = ROW.format(code=code)
    for name, value in changes.items():
        text = "\n".join(f'{name} = "{value}"' if line.startswith(f"{name} =") else line for line in text.split("\n"))
    return text


def test_a_table_becomes_entries_in_the_order_of_their_codes():
    entries = load_catalogue(row("PORT2002") + row("PORT2001"))
    assert list(entries) == ["PORT2001", "PORT2002"]
    entry = entries["PORT2001"]
    assert (entry.severity, entry.effort, entry.title) == (Severity.WARNING, Effort.MINUTES, "A title")
    assert entry.explanation == "What it means. Why it matters."


def test_a_file_is_read_like_text_and_named_in_complaints(tmp_path):
    table = tmp_path / "broken.toml"
    table.write_text(row() + row())
    with pytest.raises(InputError, match="PORT2001 is claimed twice"):
        load_catalogue(table)
    table.write_text("[[finding")
    with pytest.raises(InputError, match=r"broken\.toml"):
        load_catalogue(table)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (row("PORT1"), "PORT and four digits"),
        (row(severity="fatal"), "PORT2001: 'fatal'"),
        (row(effort="days"), "PORT2001: 'days'"),
        (row() + 'colour = "red"', "colour"),
        (row().replace("title", "titel"), "titel, title"),
    ],
)
def test_a_wrong_row_is_refused_with_its_reason(text, complaint):
    with pytest.raises(InputError, match=complaint):
        load_catalogue(text)


def test_every_code_of_the_core_lies_in_its_room_and_explains_itself():
    rooms = {"source": "2", "contract": "3", "execution": "4", "verdict": "5", "integrity": "6"}
    assert {code[4] for code in core_catalogue()} <= set(rooms.values())
    for entry in core_catalogue().values():
        assert entry.explanation.count(". ") >= 1, f"{entry.code} is explained in less than two sentences"


def test_backends_own_the_codes_of_portability():
    for backend in loadable_backends():
        assert all(entry.code.startswith("PORT1") for entry in backend.catalogue())


def test_lookup_takes_either_case_and_names_what_it_does_not_know():
    code = next(iter(full_catalogue()))
    assert lookup(code.lower(), full_catalogue()) is full_catalogue()[code]
    with pytest.raises(UsageError, match="'PORT0000'") as caught:
        lookup("PORT0000", full_catalogue())
    assert "porter explain" in caught.value.hint


@pytest.mark.parametrize("entries", [lambda: 1 / 0, lambda: core_catalogue().values()])
def test_a_backend_whose_findings_cannot_be_used_harms_nobody_else(monkeypatch, entries):
    fine = CatalogueEntry("PORT1999", "t", Severity.NOTE, Effort.NONE, "e")
    backends = (
        SimpleNamespace(name="broken", catalogue=entries),
        SimpleNamespace(name="fine", catalogue=lambda: (fine,)),
    )
    monkeypatch.setattr("porter.report.findings.full_catalogue.loadable_backends", lambda: backends)
    with pytest.warns(UserWarning, match="'broken' cannot be used"):
        found = full_catalogue.__wrapped__()
    assert found.keys() == {*core_catalogue(), "PORT1999"}
