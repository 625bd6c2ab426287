"""A real endpoint on this machine that answers as a test has it, and a small task."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler

from porter.agent.ledger import Budget
from porter.agent.options import ModelOptions, Models
from porter.agent.patience import Backoff
from porter.agent.question import Message, Question, Role, Sampling
from porter.agent.secret import Secret
from porter.agent.task import Task
from porter.evolve.candidate import Candidate, File, Origin
from porter.evolve.proposer import Member, Request
from porter.evolve.scored import Measure, Score, Scored
from porter.search.agents import open_agent
from porter_triton.targets import targets

KEY = Secret("sk-not-for-anyone-to-read")


@dataclass
class Server:
    """`answers` take their turns, the last one again and again; `seen` are the requests, `headers` theirs."""

    url: str
    answers: list[Callable[[BaseHTTPRequestHandler], None]]
    seen: list[dict] = field(default_factory=list)
    headers: list[dict] = field(default_factory=list)


def reply(text, *, finish="stop", usage=(11, 7)):
    document = {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": "tiny",
        "choices": [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text}}],
    }
    if usage:
        document["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
    return status(200, json.dumps(document))


def status(code, body="", **headers):
    def answer(handler):
        raw = body.encode()
        handler.send_response(code)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(raw)))
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(raw)

    return answer


def cut_body(handler):
    """Promises more than it sends."""
    handler.send_response(200)
    handler.send_header("Content-Length", "10000")
    handler.end_headers()
    handler.wfile.write(b'{"choices": [{"mess')
    handler.wfile.flush()
    handler.connection.close()


def options(url="http://127.0.0.1:9/v1", **changed):
    backoff = Backoff(tries=3, first_s=0.001, longest_s=0.01)
    return ModelOptions(**{"model": "tiny", "base_url": url, "timeout_s": 20.0, "backoff": backoff, **changed})


def agent_of(url, told=None, *, budget=None, recording=None, replay=False, attempts=5, **changed):
    models = Models((options(url, **changed),), budget or Budget(), recording, replay, attempts)
    return open_agent(models, lambda _: KEY, (told if told is not None else []).append)


def question(text="What is faster?", seed=1):
    return Question("tiny", (Message(Role.SYSTEM, "You port."), Message(Role.USER, text)), Sampling(), seed)


PORT = """\
import triton


def launch(x):
    block = 128
    return block
"""
CUDA = "__global__ void scale(float* x, int n) { /* times two */ }\n"


def task(**changed):
    original = File("scale.cu", changed.pop("cuda", CUDA))
    words = {"brief": "Warps of 32.", "operator": "`scale(x, n)` is called", "scored": "- bench: n = 4096"}
    values = {**words, "headers": (), "findings": (), **changed}
    return Task(targets()[0], original=original, **values)


def member(
    text=PORT,
    *,
    outcome="verified",
    factor=1.0,
    because="",
    feedback="",
    note="",
    parents=(),
    cell=(0, 0),
    names=("port.py",),
):
    files = tuple(File(name, text) for name in names)
    candidate = Candidate(files, Origin("seed", tuple(parent.candidate.digest for parent in parents), note))
    score = Score(Measure.NATIVE, factor, factor * 0.98, factor * 1.02) if outcome == "verified" else None
    return Member(candidate, Scored(candidate.digest, outcome, because, score, tuple(cell), feedback))


def request(parents=None, failures=(), *, count=1, seed=5, told=(), history=(), seen=(), memory=""):
    parents = (member(),) if parents is None else tuple(parents)
    known = {"told": tuple(told), "history": tuple(history), "seen": frozenset(seen), "memory": memory}
    return Request(count, 1, 0, seed, parents, tuple(failures), **known)


EDIT = """\
IDEA: larger blocks read more at once
FILE: port.py
<<<<<<< SEARCH
    block = 128
=======
    block = 256
>>>>>>> REPLACE
"""
