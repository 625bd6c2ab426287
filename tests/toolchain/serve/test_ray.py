"""A Ray cluster of two nodes on this machine, whose actors and nodes are lost while a search uses them."""

import contextlib
import os
import threading
import time

import pytest

from benchmarks.serve.faults import JUDGE_SEED, Work, search, search_here, told, without_clock
from porter.cache_folder import cache_folder
from porter.errors import InputError, MachineError
from porter.evolve.scoring.evaluation import Problem, content_of
from porter.serve.ray_cluster import AUTO, RayCluster, RayEvaluator
from tests.toolchain.serve.server_process import PROBLEM

ray = pytest.importorskip("ray", reason="the extra porter[ray] is not installed")
WORK = Work(evaluations=40, executed=0.3)
IDLE_S = 5.0


@pytest.fixture(scope="module")
def cluster():
    """A cluster of a head and another node, to which this process is connected."""
    from ray.cluster_utils import Cluster

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    one = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        one.add_node(num_cpus=1)
        os.environ["RAY_ADDRESS"] = one.address
        RayCluster(AUTO, cache_folder).connect()
        yield one
    finally:
        os.environ.pop("RAY_ADDRESS", None)
        ray.shutdown()
        one.shutdown()


def evaluator(problem=PROBLEM):
    return RayEvaluator(cache_folder, content_of(problem), JUDGE_SEED, IDLE_S)


def actors():
    return [one["name"] for one in ray.util.list_named_actors(all_namespaces=True)]


def wait_for(happened, seconds=60.0):
    ends = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < ends
        time.sleep(0.05)


@pytest.mark.usefixtures("cluster")
def test_an_unsound_problem_is_said_to_be_one():
    fields = {field: getattr(PROBLEM, field) for field in Problem.__slots__}
    with pytest.raises(InputError, match="none of its files"):
        evaluator(Problem(**{**fields, "source": "other.cu"}))


def test_a_search_past_lost_actors_and_a_lost_node_has_the_journal_without(cluster, tmp_path):
    search_here(tmp_path / "without", 1, WORK)
    on = evaluator()
    wait_for(lambda: on.devices == 2)

    def lose():
        with contextlib.suppress(AssertionError):  # the search fails, if it does, where its journal is compared
            wait_for(lambda: told(tmp_path, 1) >= 8)
            for name in actors():
                ray.kill(ray.get_actor(name, "porter"))
            wait_for(lambda: told(tmp_path, 1) >= 20)
            cluster.remove_node(cluster.list_all_nodes()[-1], allow_graceful=False)

    losing = threading.Thread(target=lose)
    losing.start()
    search(tmp_path / "0", on, 0, WORK)
    losing.join()
    lines = without_clock(tmp_path / "0")
    assert lines == without_clock(tmp_path / "without" / "0")
    assert sum(line["event"] == "told" for line in lines) == WORK.evaluations
    assert on.lost
    assert len(cluster.list_all_nodes()) == 1


@pytest.mark.usefixtures("cluster")
def test_devices_that_nobody_asks_are_given_back():
    evaluator()
    assert actors()
    wait_for(lambda: not actors())


def test_where_there_is_no_cluster_that_is_said():
    ray.shutdown()
    with pytest.raises(MachineError, match="no Ray cluster"):
        RayCluster("ray://127.0.0.1:9", cache_folder).connect()
