"""What all tests share: where they build, how golden files are rewritten, and how properties choose their examples."""

import os
import signal
import sys

import hypothesis
import pytest

from porter.garbage_collection import collect_seldom

# The hundreds of processes that tests start need not compile porter again, each for itself.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
collect_seldom()  # as the command line does

# A property fails for its answer alone: every run tries the same examples, and a loaded machine may take its time.
REPEATABLE = hypothesis.settings(
    derandomize=True, deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow], print_blob=True
)
EXPLORING = hypothesis.settings(REPEATABLE, derandomize=False, max_examples=1000)


def pytest_addoption(parser):
    parser.addoption("--accept", action="store_true", help="rewrite golden files with what was produced")
    parser.addoption("--explore", action="store_true", help="try new random examples of every property")


def pytest_configure(config):
    hypothesis.settings.register_profile("repeatable", REPEATABLE)
    hypothesis.settings.register_profile("exploring", EXPLORING)
    hypothesis.settings.load_profile("exploring" if config.getoption("--explore") else "repeatable")


@pytest.fixture(scope="session")
def build_cache():
    """Where tests build: the user's cache, which the installation has warmed, and in which nothing is built twice."""
    from porter.cache_folder import cache_folder

    return cache_folder()


@pytest.fixture(scope="session")
def cache(tmp_path_factory, build_cache):
    """A cache of this process alone, in which what all programs share is there already."""
    folder = tmp_path_factory.mktemp("cache")
    for shared in ("headers", "objects"):
        (build_cache / shared).mkdir(parents=True, exist_ok=True)
        (folder / shared).symlink_to(build_cache / shared)
    return folder


@pytest.fixture
def interruptible():
    """What is started in the test hears SIGINT: a test run in the background has it ignored, and hands that on."""
    inherited = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, inherited)


@pytest.fixture
def golden(request):
    """`golden(path, text)`: `path` holds `text`; with --accept it is made to."""

    def compare(path, text):
        if request.config.getoption("--accept"):
            path.write_text(text, "utf-8")
        held = path.read_text("utf-8") if path.exists() else ""
        assert held == text, f"{path} is not current; `pytest --accept {request.path}` rewrites it"

    return compare
