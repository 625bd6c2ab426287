"""Candidates evaluated by a real server: each once, in order, within limits, and again after the server was killed."""

import http.client
import json
import re
from dataclasses import replace
from urllib.parse import urlsplit

import pytest

from porter.errors import InputError, MachineError
from porter.evaluate.model.outcome import NotVerified, Verified, Wrong
from porter.evolve.candidate import File
from porter.evolve.scoring.evaluation import Problem, content_of, digest_of
from porter.launch_plan.wire import decode
from porter.serve.ledger import JobState
from porter.serve.protocol import Reply
from tests.toolchain.serve.server_process import (
    PORT,
    PROBLEM,
    SECRET,
    ServerProcess,
    program,
    request,
)

WRONG = PORT.replace("2.0 * x", "3.0 * x")
JSON = {"Authorization": f"Bearer {SECRET}", "Content-Type": "application/json"}


def call(server, method, path, body=b"", headers=JSON):
    """Returns the status, the headers and the body of one answer."""
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=120)
    connection.request(method, path, body, headers)
    response = connection.getresponse()
    answer = response.status, response.headers, response.read()
    connection.close()
    return answer


def asked(server, candidate, **changed):
    """Returns the status and the reply of a request about a program with that text, without waiting."""
    server.client.keep(content_of(program(candidate)))
    status, headers, body = call(server, "POST", "/v1/evaluations", content_of(request(candidate, **changed)))
    return (status, decode(Reply, body)) if status < 300 else (status, headers)


def over(server, name):
    """Returns the reply once a request is over."""
    return decode(Reply, call(server, "GET", f"/v1/evaluations/{name}?wait_s=60")[2])


def evaluated(server):
    """Returns how many evaluations the server has made."""
    text = call(server, "GET", "/metrics")[2].decode()
    return sum(map(int, re.findall(r"^porter_evaluations_total\{.*\} (\d+)$", text, re.MULTILINE)))


def test_a_candidate_is_judged_as_here_and_a_request_sent_twice_is_evaluated_once(server):
    client = server.client
    problem = client.keep(content_of(PROBLEM))
    opened = client.open(problem, 7)
    assert (opened.problem, opened.fidelity.value, opened.device) == (problem, "emulated", "")
    right = client.evaluate(request(PORT), (content_of(PROBLEM), content_of(program(PORT))))
    assert isinstance(right.outcome, Verified)
    assert right.score is not None
    assert (right.score.factor, right.costs != ()) == (1.0, True)
    assert right.environment["torch"]
    wrong = client.evaluate(request(WRONG), (content_of(PROBLEM), content_of(program(WRONG))))
    assert isinstance(wrong.outcome, Wrong)
    assert wrong.outcome.checked[-1].max_abs_error > 0
    before = evaluated(server)
    assert client.evaluate(request(PORT), (content_of(PROBLEM), content_of(program(PORT)))) == right
    assert evaluated(server) == before
    afresh = client.evaluate(request(PORT, repetition=1), (content_of(PROBLEM), content_of(program(PORT))))
    assert (afresh.outcome.label, evaluated(server)) == ("verified", before + 1)


def test_what_was_never_sent_is_named(server):
    server.client.keep(content_of(PROBLEM))
    status, _, body = call(server, "POST", "/v1/evaluations", content_of(request("never sent")))
    assert status == 409
    assert digest_of(content_of(program("never sent"))) in json.loads(body)["error"]
    with pytest.raises(InputError, match="never sent"):
        server.client.open("0" * 64, 7)


def test_an_unsound_problem_is_refused_with_its_reason(server):
    files = (File("scale.cu", PROBLEM.files[0].text.replace("2.0f * x[i]", "unknown(x[i])")),)
    problem = Problem(**{**{name: getattr(PROBLEM, name) for name in Problem.__slots__}, "files": files})
    with pytest.raises(InputError, match="unknown"):
        server.client.open(server.client.keep(content_of(problem)), 7)


def test_a_server_that_is_full_says_when_to_ask_again_and_one_that_was_killed_goes_on(tmp_path):
    pytest.importorskip("fastapi")
    server = ServerProcess.begin(tmp_path / "state", "--jobs", "1", "--queue", "3")
    try:
        server.client.keep(content_of(PROBLEM))
        names = [asked(server, f"{PORT}# {number}\n")[1].id for number in range(2)]  # one is evaluated, one waits
        late = asked(server, f"{PORT}# late\n", deadline_s=0.01)[1].id
        outcome = over(server, late).evaluation.outcome
        assert isinstance(outcome, NotVerified)
        assert "not evaluated within 0.01 s" in outcome.because
        waiting = [asked(server, f"{PORT}# waits {number}\n")[1].id for number in range(2)]
        status, headers = asked(server, f"{PORT}# too many\n")
        assert (status, int(headers["Retry-After"]) >= 1) == (429, True)
        cancelled = decode(Reply, call(server, "DELETE", f"/v1/evaluations/{waiting[0]}")[2])
        assert cancelled.state is JobState.CANCELLED
        status, again = asked(server, f"{PORT}# waits 0\n")  # what was cancelled may be asked for again
        assert (status, again.id, again.state) == (202, waiting[0], JobState.QUEUED)
        server.kill()
        server = ServerProcess.begin(tmp_path / "state", "--jobs", "2")
        replies = [over(server, name) for name in (*names, *waiting)]
        assert [reply.evaluation.outcome.label for reply in replies] == ["verified"] * 4
        assert over(server, late).evaluation.outcome == outcome
    finally:
        server.kill()


def test_nobody_answers_there():
    gone = ServerProcess(None, "http://127.0.0.1:9").client
    with pytest.raises(MachineError, match="cannot be reached"):
        replace(gone, patience_s=0.0).report()
