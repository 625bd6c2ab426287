"""What all tests share: how golden files are compared and rewritten, and how properties choose their examples."""

import signal

import hypothesis
import pytest

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
