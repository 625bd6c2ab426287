"""What a server refuses: strangers, bodies that are none, names that lead elsewhere, and candidates that spy."""

import os
from contextlib import suppress
from dataclasses import replace

import pytest

from porter.cache_folder import cache_folder
from porter.contract.model.toml import dumps
from porter.evaluate.model.migration import MigrateOptions
from porter.evaluate.problem.standards import opened as standard_at
from porter.evolve.candidate import File
from porter.evolve.scoring.evaluation import Problem, Program, content_of, digest_of
from porter.evolve.scoring.subject import StandardKind
from porter.launch_plan.wire import decode, encode_portable
from porter.report.machine import _landlock_abi
from porter.serve.access import MOST_BYTES
from porter.serve.protocol import Failure
from tests.toolchain.serve.server_process import PORT, PROBLEM, SECRET, SOURCE, program, request
from tests.toolchain.serve.test_evaluations import JSON, call

NOBODY = {"Content-Type": "application/json"}
DIGEST = "a" * 64
HOST = "def scale(x, y, n):\n"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/metrics"), ("GET", "/v1/server"), ("PUT", f"/v1/contents/{DIGEST}"), ("GET", "/openapi.json"),
        ("POST", f"/v1/problems/{DIGEST}?seed=1"), ("POST", "/v1/evaluations"), ("GET", f"/v1/evaluations/{DIGEST}"),
        ("DELETE", f"/v1/evaluations/{DIGEST}"), ("GET", "/docs"), ("GET", "/healthz/../metrics"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("token", ["", "Bearer ", f"Bearer {SECRET}x", SECRET, "Bearer \xe9"])
def test_without_the_token_only_health_answers(server, method, path, token):
    headers = {**NOBODY, "Authorization": token} if token else NOBODY
    status, answered, body = call(server, method, path, b"{}", headers)
    assert (status, answered["WWW-Authenticate"], b"token" in body) == (401, "Bearer", True)


def test_health_answers_anybody(server):
    assert call(server, "GET", "/healthz", headers=NOBODY)[::2] == (200, b'{"status":"ok"}')


@pytest.mark.parametrize(
    "digest", ["..%2f..%2f..%2fetc%2fpasswd", "../../../etc/passwd", DIGEST.upper(), f"{DIGEST}/../x", "a", "%00"]
)
def test_what_is_no_digest_leads_nowhere(server, digest):
    for method, path in (("PUT", "/v1/contents/"), ("GET", "/v1/evaluations/"), ("POST", "/v1/problems/")):
        status, _, body = call(server, method, f"{path}{digest}", b"x")
        assert status in (404, 405, 422)
        assert b"root:" not in body


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"is":"Evaluation"}'])
def test_a_malformed_body_is_said_to_be_none(server, body):
    status, _, said = call(server, "POST", "/v1/evaluations", body)
    assert status == 422
    assert "no request" in decode(Failure, said).error


def test_a_content_that_is_not_its_digest_is_not_kept(server):
    assert call(server, "PUT", f"/v1/contents/{DIGEST}", b"another")[0] == 400


def test_a_large_body_is_refused_before_it_is_read(server):
    headers = {**JSON, "Content-Length": str(MOST_BYTES + 1)}
    assert call(server, "PUT", f"/v1/contents/{DIGEST}", b"", headers)[0] == 413
    status = 413
    with suppress(OSError):  # the server may close the connection while the client still sends
        status = call(server, "PUT", f"/v1/contents/{DIGEST}", iter([b"x" * (1 << 20)] * 64))[0]
    assert status == 413
    assert call(server, "GET", "/healthz")[0] == 200


@pytest.mark.parametrize("name", ["../evil.py", "/tmp/evil.py", ".hidden.py", "a/../../evil.py", "a\x00.py"])
def test_names_that_lead_out_of_a_folder_are_refused(server, name):
    spy = Program((File("scale_triton.py", PORT), File(name, "x = 1")))
    digest = server.client.keep(content_of(spy))
    server.client.keep(content_of(PROBLEM))
    asked = replace(request(PORT), candidate=digest)
    assert call(server, "POST", "/v1/evaluations", content_of(asked))[0] == 422
    fields = {field: getattr(PROBLEM, field) for field in Problem.__slots__}
    problem = server.client.keep(content_of(Problem(**{**fields, "files": (*PROBLEM.files, File(name, "int x;"))})))
    status, _, body = call(server, "POST", f"/v1/problems/{problem}?seed=1")
    assert (status, "below one folder" in decode(Failure, body).error) == (422, True)


def spying(server, how):
    """A right port that first tells what `how` reads of the ledger, in which others' programs and results lie."""
    ledger = server.state / "ledger.sqlite3"
    return PORT.replace(HOST, f"{HOST}    raise ValueError({how.format(path=str(ledger))!s})\n")


@pytest.mark.parametrize(
    "how",
    [
        "open({path!r}, 'rb').read()",
        "__import__('pathlib').Path({path!r}).read_bytes()",
        "torch.UntypedStorage.from_file({path!r}, False, 4096).tolist()",
        "__import__('os').environ",
        "__import__('os').listdir('/proc/' + str(__import__('os').getppid()) + '/fd')",
    ],
)
def test_a_candidate_reads_neither_the_ledger_nor_the_token(server, how):
    others = f"{PORT}# the secret of somebody else\n"
    server.client.keep(content_of(program(others)))
    server.client.keep(content_of(PROBLEM))
    spy = spying(server, how)
    evaluation = server.client.evaluate(request(spy), (content_of(PROBLEM), content_of(program(spy))))
    said = encode_portable(evaluation)
    assert evaluation.outcome.label in ("refused", "crashed", "not_built")
    assert not any(word in said for word in (SECRET, "SQLite format", "somebody else"))


@pytest.mark.skipif(not _landlock_abi(), reason="the system has no Landlock")
@pytest.mark.parametrize("file", ["{state}/told.h", "/proc/{process}/environ", "{home}/told.h"])
def test_an_original_that_includes_a_file_of_the_server_does_not_show_it(server, tmp_path, file):
    told = file.format(state=server.state, process=server.process.pid, home=tmp_path)
    for folder in (server.state, tmp_path):
        (folder / "told.h").write_text("the_secret_of_the_server\n")
    fields = {field: getattr(PROBLEM, field) for field in Problem.__slots__}
    files = (File("scale.cu", f'#include "{told}"\n{PROBLEM.files[0].text}'),)
    problem = content_of(Problem(**{**fields, "files": files}))
    server.client.keep(problem)
    status, _, body = call(server, "POST", f"/v1/problems/{digest_of(problem)}?seed=7")
    assert status in (200, 422)
    assert not any(word in body for word in (b"the_secret", SECRET.encode()))


@pytest.mark.skipif(not _landlock_abi(), reason="the system has no Landlock")
def test_an_original_finds_neither_the_folders_nor_the_sources_of_other_problems(server):
    """It looks for folders of problems where they lie, when it is compiled and when it runs."""
    fields = {field: getattr(PROBLEM, field) for field in Problem.__slots__}
    _, kept = opened(server, Problem(**{**fields, "files": (File("scale.cu", f"{SOURCE}// kept\n"),)}))
    assert kept == 200
    for told in (
        f'asm(".incbin \\"/proc/{server.process.pid}/cmdline\\"");',
        f'#define OTHERS "/proc/{server.process.pid}/status"\n#include OTHERS',
    ):
        body, status = opened(server, Problem(**{**fields, "files": (File("scale.cu", f"{told}\n{SOURCE}"),)}))
        assert (status, b"VmPeak" in body) == (422, False)
    looking = SOURCE.replace("scale_kernel<<<", f"{LOOKING} if (!seen) scale_kernel<<<")
    looking = f"#include <dirent.h>\n#include <cstring>\n#include <string>\n{looking}"
    assert opened(server, Problem(**{**fields, "files": (File("scale.cu", looking),)}))[1] == 200


LOOKING = """
    bool seen = false;
    for (std::string at = "."; at.size() < 20 && !seen; at += "/..") {
        DIR* folder = opendir(at.c_str());
        for (dirent* one; folder && (one = readdir(folder)) && !seen;) seen = strstr(one->d_name, "porter-problem-");
    }
"""


def opened(server, problem):
    """Returns what the server says of a problem, and with which status."""
    server.client.keep(content_of(problem))
    status, _, body = call(server, "POST", f"/v1/problems/{digest_of(content_of(problem))}?seed=7")
    return body, status


@pytest.mark.skipif(not _landlock_abi(), reason="the system has no Landlock")
def test_a_python_reference_does_not_find_the_sources_of_other_problems(server, tmp_path):
    (reference := tmp_path / "reference.py").write_text(REFERENCE)
    with standard_at(reference, MigrateOptions("", cache_folder(), environment=dict(os.environ))) as standard:
        contracts = dumps(standard.contracts())
    assert opened(server, PROBLEM)[1] == 200
    port = Program((File("doubled.py", f"{PORT}\n{FORWARD}"),))
    fields = {field: getattr(PROBLEM, field) for field in Problem.__slots__}
    held = {"source": "reference.py", "standard_kind": StandardKind.PYTHON, "contracts": contracts, "seed": port}
    files = (File("reference.py", REFERENCE),)
    assert opened(server, Problem(**{**fields, **held, "files": files}))[1] == 200
    spying = REFERENCE.replace("[]", "list(pathlib.Path(__file__).parents[2].glob('porter-problem-*'))")
    files = (File("reference.py", spying),)
    assert opened(server, Problem(**{**fields, **held, "files": files}))[1] == 200


FORWARD = """
def forward(x):
    y = torch.empty_like(x)
    scale(x, y, x.numel())
    return y
"""
REFERENCE = """
import pathlib
import torch


def get_inputs():
    return [torch.rand(40, 7)]


def reference(x):
    seen = []
    if seen:
        raise ValueError(seen)
    return 2.0 * x
"""
