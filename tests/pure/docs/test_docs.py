"""The documentation says what the program does."""

import json
import re
from pathlib import Path

import pytest

from porter.cli.main import main
from porter.contract.model.toml import loads
from porter.evolve.scoring.evaluation_schema import schema
from porter.report.findings.catalogue import reference_page
from porter.report.findings.full_catalogue import full_catalogue
from porter.report.migration.document import migration_document
from porter.writing.document import encode_json

ROOT = Path(__file__).parents[3]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])


def test_the_findings_reference_is_current(golden):
    golden(ROOT / "docs" / "tables" / "findings.md", reference_page(tuple(full_catalogue().values())))


def test_the_schema_of_evaluations_is_current(golden):
    golden(ROOT / "docs" / "tables" / "evaluation.schema.json", encode_json(schema()))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    prose = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(), flags=re.DOTALL)
    links = re.findall(r"\]\(([^)#:]+)\)", prose)
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_every_option_of_migrate_is_documented(capsys):
    main(["migrate", "--help"])
    options = set(re.findall(r"--[a-z-]+", capsys.readouterr().out)) - {"--help"}
    page = (ROOT / "docs" / "migrate.md").read_text()
    assert {option for option in options if f"`{option}" not in page} == set()
    assert set(re.findall(r"^\| `(--[a-z-]+)", page, re.MULTILINE)) == options


def test_the_contract_shown_is_one():
    page = ROOT / "docs" / "contract.md"
    (shown,) = re.findall(r"```toml\n(.*?)```", page.read_text(), re.DOTALL)
    (contract,) = loads(shown, page)
    assert [argument.name for argument in contract.arguments] == ["x", "y", "n"]


def test_the_document_shown_is_that_of_a_migration(migration):
    (shown,) = re.findall(r"```json\n(.*?)```", (ROOT / "docs" / "migrate.md").read_text(), re.DOTALL)
    example, real = json.loads(shown), migration_document(migration, [])
    assert list(example) == list(real)
    for name in ("entries", "workloads", "findings"):
        assert list(example[name][0]) == list(real[name][0])


def test_every_code_the_documentation_mentions_exists():
    mentioned = {code for page in PAGES for code in re.findall(r"PORT1[0-7]\d\d", page.read_text())}
    assert mentioned
    assert mentioned <= full_catalogue().keys()


def test_the_map_of_the_house_names_every_package_and_no_other():
    rows = re.findall(r"^\| (`[^|]*`) \|", (ROOT / "docs" / "design" / "packages.md").read_text(), re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`([\w.]+)`", row)}
    porter = ROOT / "porter"
    packages = {path.parent.name for path in porter.glob("*/__init__.py")}
    assert packages <= {name.split(".")[0] for name in named}
    places = {name: porter / name.replace(".", "/") for name in named}
    assert {
        name for name, place in places.items() if not (place.is_dir() or place.with_suffix(".py").exists())
    } == set()
