"""What all tests share: how golden files are compared and rewritten."""

import pytest


def pytest_addoption(parser):
    parser.addoption("--accept", action="store_true", help="rewrite golden files with what was produced")


@pytest.fixture
def golden(request):
    """`golden(path, text)`: `path` holds `text`; with --accept it is made to."""

    def compare(path, text):
        if request.config.getoption("--accept"):
            path.write_text(text, "utf-8")
        held = path.read_text("utf-8") if path.exists() else ""
        assert held == text, f"{path} is not current; `pytest --accept {request.path}` rewrites it"

    return compare
