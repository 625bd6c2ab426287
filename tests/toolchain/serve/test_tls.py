"""A server with a certificate of its own: who trusts it is answered, and who does not says nothing to it."""

import shutil
import subprocess

import pytest

from porter.agent.secret import Secret
from porter.errors import MachineError
from porter.serve.client import Server
from tests.toolchain.serve.server_process import SECRET, ServerProcess


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl, which makes the certificate, is not there")
def test_a_certificate_keeps_the_connection_and_strangers_out(tmp_path, monkeypatch):
    pytest.importorskip("fastapi")
    certificate, key = tmp_path / "server.pem", tmp_path / "server.key"
    words = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=127.0.0.1"]
    names = ["-addext", "subjectAltName=IP:127.0.0.1", "-days", "2", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(["openssl", "req", "-x509", *words, *names], check=True, capture_output=True)
    server = ServerProcess.begin(tmp_path / "state", "--tls-cert", str(certificate), "--tls-key", str(key))
    try:
        assert server.url.startswith("https://")
        with pytest.raises(MachineError, match=r"no connection by TLS: .*CERTIFICATE_VERIFY_FAILED"):
            server.client.check()
        with pytest.raises(MachineError, match="cannot be reached"):
            Server(server.url.replace("https", "http"), Secret(SECRET), patience_s=0.0).check()
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert server.client.report().devices
        with pytest.raises(MachineError, match="token"):
            Server(server.url, Secret(SECRET[::-1])).check()
    finally:
        server.kill()
