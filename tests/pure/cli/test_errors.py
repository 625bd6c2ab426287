"""Errors: what is said, where, and with which exit code."""

import pytest

from porter.errors import MachineError


def test_an_unknown_command_is_wrong_usage(porter):
    done = porter("migrrate")
    assert (done.code, done.stdout) == (2, "")
    assert done.stderr.startswith("error: No such command 'migrrate'")


def test_an_unknown_option_in_json_is_one_document(porter):
    done = porter("doctor", "--json", "--fast")
    assert (done.code, done.stderr) == (2, "")
    assert done.document["error"]["exit_code"] == 2
    assert "--fast" in done.document["error"]["message"]


@pytest.fixture
def broken(monkeypatch):
    """Makes `porter doctor` raise."""

    def break_with(error):
        def raising(*_):
            raise error

        monkeypatch.setattr("porter.report.machine.examine", raising)

    return break_with


def test_a_porter_error_shows_message_and_hint_and_has_its_exit_code(porter, broken):
    broken(MachineError("no compiler", "install g++"))
    done = porter("doctor")
    assert (done.code, done.stdout, done.stderr) == (3, "", "error: no compiler\n  hint: install g++\n")
    assert porter("doctor", "--json").document == {
        "error": {"message": "no compiler", "hint": "install g++", "exit_code": 3}
    }


def test_a_bug_is_a_sentence_and_a_traceback_only_with_debug(porter, broken):
    broken(ZeroDivisionError("oops"))
    done = porter("doctor")
    assert (done.code, done.stderr) == (1, "error: ZeroDivisionError: oops\n  hint: run again with --debug\n")
    assert "Traceback" in porter("doctor", "--debug").stderr
    in_json = porter("doctor", "--debug", "--json")
    assert in_json.document["error"]["message"] == "ZeroDivisionError: oops"
    assert "Traceback" in in_json.stderr


def test_an_interrupt_ends_with_130_and_says_how_to_go_on(porter, broken):
    broken(KeyboardInterrupt())
    done = porter("doctor")
    assert (done.code, done.stdout) == (130, "")
    assert done.stderr.startswith("error: interrupted\n  hint: the same command begins again")


def test_explain_in_all_its_forms(porter):
    listing = porter("explain", "--json").document["findings"]
    first = listing[0]
    assert porter("explain", first["code"].lower(), "--json").document == first
    assert first["title"] in porter("explain", first["code"]).stdout
    lines = porter("explain").stdout
    assert all(entry["code"] in lines for entry in listing)
    unknown = porter("explain", "PORT9999")
    assert (unknown.code, unknown.stdout) == (2, "")
    assert "PORT9999" in unknown.stderr


def test_doctor_names_every_backend_and_where_the_cache_is(porter, tmp_path):
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "build").write_bytes(b"x" * 1000)
    done = porter("doctor", "--json")
    assert done.code == 0
    assert done.document["cache"] == {"path": str(tmp_path / "cache"), "bytes": 1000}
    rows = {row["name"]: row for row in done.document["backends"]}
    assert rows["maca"]["run"] or rows["maca"]["because"]
    text = porter("doctor").stdout
    assert "maca" in text
    assert "torch" in text
