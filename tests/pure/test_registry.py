"""Backends found by entry point."""

from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace

import pytest

from porter import registry
from porter.errors import MachineError, UsageError
from porter.registry import Unavailable, backend_names, backend_of, find_backend, find_target, load_backends


def entry_point(name, value, distribution):
    point = EntryPoint(name, value, registry.GROUP)
    object.__setattr__(point, "dist", SimpleNamespace(name=distribution))
    return point


@pytest.fixture
def installed(monkeypatch):
    def install(*points):
        monkeypatch.setattr(registry, "entry_points", lambda group: [p for p in points if p.group == group])

    return install


def test_names_are_sorted_and_nothing_is_imported(installed):
    installed(entry_point("zeta", "no_such_module:Zeta", "z"), entry_point("alpha", "no_such_module:Alpha", "a"))
    assert backend_names() == ("alpha", "zeta")


def test_two_distributions_that_claim_one_name_are_both_named(installed):
    installed(entry_point("maca", "a:A", "porter"), entry_point("maca", "b:B", "acme-porter"))
    with pytest.raises(MachineError, match="'maca': acme-porter and porter"):
        backend_names()


def test_a_vendor_that_fails_to_import_is_a_row(installed, tmp_path, monkeypatch):
    (tmp_path / "half_installed.py").write_text("raise RuntimeError('driver too old')")
    monkeypatch.syspath_prepend(tmp_path)
    installed(entry_point("broken", "half_installed:Backend", "x"), entry_point("gone", "no_such_module:B", "y"))
    broken, gone = load_backends()
    assert broken == Unavailable("broken", "RuntimeError: driver too old")
    assert isinstance(gone, Unavailable)
    assert "no_such_module" in gone.because
    with pytest.raises(MachineError, match="driver too old"):
        find_backend("broken")


def test_an_unknown_target_is_answered_with_the_known_ones(installed):
    installed(entry_point("maca", "a:A", "porter"))
    with pytest.raises(UsageError, match="unknown target 'roc'") as caught:
        find_backend("roc")
    assert caught.value.hint == "targets: maca"


def test_a_target_need_not_be_named_while_there_is_only_one(installed):
    installed(entry_point("maca", "porter_maca:MacaBackend", "porter"))
    assert find_backend().name == "maca"
    installed(entry_point("maca", "a:A", "porter"), entry_point("roc", "b:B", "acme"))
    with pytest.raises(UsageError, match="--target") as caught:
        find_backend()
    assert caught.value.hint == "targets: maca, roc"


def test_the_shipped_backend_is_found_and_its_default_target_is_its_first():
    backend = find_backend("maca")
    assert backend.name == "maca"
    assert find_target(backend) == backend.targets()[0]
    last = backend.targets()[-1]
    assert find_target(backend, last.arch.lower()) == last
    assert find_target(backend, "c600").description == "MetaX C600"
    with pytest.raises(UsageError, match="unknown arch 'MetaX'"):
        find_target(backend, "MetaX")
    with pytest.raises(UsageError, match="unknown arch 'C9'") as caught:
        find_target(backend, "C9")
    assert last.arch in caught.value.hint


def test_the_longest_suffix_says_whose_a_candidate_is(monkeypatch, tmp_path):
    loud = SimpleNamespace(name="loud", suffixes=(".loud.cpp", ".cpp"))
    quiet = SimpleNamespace(name="quiet", suffixes=(".quiet.cpp", ".cpp"))
    monkeypatch.setattr("porter.registry.loadable_backends", lambda: (loud, quiet))
    monkeypatch.setattr("porter.registry.find_backend", lambda name="": name or "asked")
    assert [backend_of(Path(name)) for name in ("op.loud.cpp", "op.quiet.cpp", "op.cpp", "op.py")] == [
        "loud",
        "quiet",
        "asked",
        "asked",
    ]
    (tmp_path / "op.quiet.cpp").touch()
    assert backend_of(tmp_path) == "quiet"
