"""Several servers as one, behind a network that fails: searches come to what they come to without faults."""

from urllib.parse import urlsplit

import pytest

from benchmarks.serve.faults import JUDGE_SEED, Work, search, without_clock
from porter.agent.secret import Secret
from porter.errors import MachineError
from porter.evolve.scoring.evaluation import content_of
from porter.serve.client import Server
from porter.serve.pool import PoolEvaluator
from tests.toolchain.serve.faulty_network import Faults, FaultyNetwork
from tests.toolchain.serve.server_process import PROBLEM, SECRET

MANY = Faults(cut=0.08, delayed=0.05, doubled=0.15, longest_delay_s=0.1)
WORK = Work(evaluations=24, executed=0.1)


def pool(*urls):
    return PoolEvaluator([Server(url, Secret(SECRET)) for url in urls], content_of(PROBLEM), JUDGE_SEED)


def test_a_search_through_faults_and_past_a_lost_server_has_the_journal_without(server, tmp_path):
    networks = [FaultyNetwork(urlsplit(server.url).port, MANY, seed) for seed in (3, 4)]
    nobody = "http://127.0.0.1:9"
    try:
        search(tmp_path / "faults", pool(nobody, *(one.url for one in networks)), 1, WORK)
    finally:
        for one in networks:
            one.close()
    done = {fault for one in networks for fault in one.counts}
    assert done == {"cut", "delayed", "doubled"}
    search(tmp_path / "without", pool(server.url), 1, WORK)
    lines = without_clock(tmp_path / "faults")
    assert lines == without_clock(tmp_path / "without")
    assert sum(line["event"] == "told" for line in lines) == WORK.evaluations


def test_where_no_server_answers_all_are_named(monkeypatch):
    monkeypatch.setattr("porter.serve.pool._NOTICED_S", 0.1)
    with pytest.raises(MachineError, match=r"127\.0\.0\.1:9 .*; http://127\.0\.0\.2:9 "):
        pool("http://127.0.0.1:9", "http://127.0.0.2:9")
