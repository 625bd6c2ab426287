import pytest

from tests.toolchain.serve.server_process import ServerProcess


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """A server that all tests share; its state lies in `server.state`."""
    pytest.importorskip("fastapi")
    state = tmp_path_factory.mktemp("server") / "state"
    server = ServerProcess.begin(state, "--jobs", "2")
    yield server
    server.kill()
