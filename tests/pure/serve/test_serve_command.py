"""`porter serve` and `--evaluator` from the command line, up to where a server would begin."""

import sys

import pytest

from porter.cli.main import main
from porter.errors import UsageError
from porter.serve.ledger import JobState, ledger
from porter.serve.ray_cluster import slots_of

TOKEN = "PORTER_EVALUATOR_TOKEN"


@pytest.fixture(autouse=True)
def without_token(monkeypatch):
    monkeypatch.delenv(TOKEN, raising=False)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.7", "lab"])
def test_others_reach_no_server_without_a_token(host, tmp_path, capsys):
    assert main(["serve", "--host", host, "--state", str(tmp_path / "state")]) == 2
    assert "no token to keep them out" in capsys.readouterr().err
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize("token", ["short", "with blanks in the middle", ""])
def test_a_token_that_anybody_guesses_is_none(token, tmp_path, capsys):
    (tmp_path / "token").write_text(token)
    assert main(["serve", "--host", "0.0.0.0", "--token-file", str(tmp_path / "token")]) == 2
    assert "a token has 16" in capsys.readouterr().err


def test_without_the_extra_it_is_named(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "fastapi", None)
    assert main(["serve", "--state", str(tmp_path / "state")]) == 3
    assert "porter[serve]" in capsys.readouterr().err


@pytest.mark.parametrize("url", ["lab:8900", "ftp://lab", "http://", "http://lab/path", "http://lab:x", "http://a@b"])
def test_what_is_no_address_is_said_to_be_none(url, capsys):
    assert main(["doctor", "--evaluator", url]) == 2
    assert "not the address of a server" in capsys.readouterr().err


def test_where_nobody_answers_nothing_is_ported(tmp_path, capsys):
    (tmp_path / "a.cu").write_text("__global__ void k(float* x) { x[0] = 1; }")
    words = ["migrate", str(tmp_path / "a.cu"), "--target", "triton", "-o", str(tmp_path / "out"), "--rounds", "1"]
    assert main([*words, "--evaluator", "http://127.0.0.1:9"]) == 3
    assert "cannot be reached" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert main([*words[:-2], "--evaluator", "http://127.0.0.1:9"]) == 2


def test_where_nobody_answers_no_suite_is_run(tmp_path, capsys):
    words = ["suite", "run", "op_suites", "--only", "elu", "--target", "triton", "-o", str(tmp_path / "out")]
    nobody = ["--evaluator", "http://127.0.0.1:9", "--evaluator", "http://127.0.0.2:9"]
    assert main([*words, *nobody, "--rounds", "1"]) == 3
    assert "http://127.0.0.1:9 cannot be reached" in capsys.readouterr().err
    assert main([*words, *nobody]) == 2
    assert "--evaluator applies to a search" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_ledger_goes_on_where_it_was_left_and_belongs_to_one_server(tmp_path):
    with ledger(tmp_path / "state") as first:
        first.keep("a", b"content")
        for name in ("one", "two", "three"):
            first.accept(name, b"request", 1.5)
        assert first.begin("one")
        assert first.end("two", JobState.CANCELLED, "it was cancelled")
        assert not first.end("two", JobState.DONE, "late")
        assert not first.begin("two")
        with pytest.raises(UsageError, match="another server"), ledger(tmp_path / "state"):
            pass
    assert (tmp_path / "state").stat().st_mode & 0o077 == 0
    with ledger(tmp_path / "state") as second:
        assert second.content("a") == b"content"
        assert [job.id for job in second.unended()] == ["one", "three"]
        second.accept("two", b"request", 2.5)
        second.accept("one", b"another", 2.5)
        assert [(job.id, job.request) for job in second.unended()] == [
            ("one", b"request"), ("three", b"request"), ("two", b"request"),
        ]  # fmt: skip


def test_without_ray_a_cluster_is_refused_with_what_to_install(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    (tmp_path / "a.cu").write_text("__global__ void k(float* x) { x[0] = 1; }")
    words = ["migrate", str(tmp_path / "a.cu"), "--target", "triton", "-o", str(tmp_path / "out"), "--rounds", "1"]
    assert main([*words, "--evaluator", "ray://local"]) == 3
    assert "pip install 'porter[ray]'" in capsys.readouterr().err
    assert main([*words, "--evaluator", "ray://local", "--evaluator", "http://lab:8900"]) == 2
    assert "name the cluster alone" in capsys.readouterr().err
    assert main(["doctor", "--evaluator", "ray://local"]) == 2
    assert "ray status" in capsys.readouterr().err


def test_a_node_without_gpus_is_a_device_only_where_no_node_has_one():
    head = {"NodeID": "a", "Alive": True, "Resources": {"CPU": 8.0}}
    worker = {"NodeID": "b", "Alive": True, "Resources": {"CPU": 16.0, "GPU": 2.0}}
    gone = {**worker, "NodeID": "c", "Alive": False}
    assert [(one.node, one.gpus, one.cores) for one in slots_of([head, worker, gone])] == [("b", 1, 8)] * 2
    assert [(one.node, one.gpus, one.cores) for one in slots_of([head, gone])] == [("a", 0, 8)]
