"""Measure whether a device and a language model are busy at once: a real server, evaluations that take time.

python benchmarks/evolve/busy.py [OUT]

The server answers one question at a time, each in 2 s; an evaluation holds the device for 0.5 s. Of the wall time of 40
rounds on three islands it is told for what share each of the two was at work.
"""

from __future__ import annotations

import itertools
import json
import re
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from porter.agent.options import ModelOptions, Models
from porter.agent.secret import Secret
from porter.agent.task import Task
from porter.evolve.budget import Budget
from porter.evolve.candidate import Candidate, File, Origin
from porter.evolve.features import AXES
from porter.evolve.proposer import Request
from porter.evolve.replay import replayed, searching
from porter.evolve.scored import Measure, Score, Scored
from porter.evolve.settings import Settings
from porter.registry import find_backend
from porter.search.agents import open_agent
from porter.search.loop import evaluate_all

_ANSWER_S, _EVALUATION_S, _ROUNDS = 2.0, 0.5, 40
_TEXT = "block = 128\n"
_NUMBERS = itertools.count(129)


@dataclass
class Used:
    """A thing that one at a time may hold, and for how long it was held in all."""

    seconds: float = 0.0
    turn: threading.Lock = field(default_factory=threading.Lock)

    def hold(self, seconds: float) -> None:
        """Be at work for so long."""
        with self.turn:
            begun = time.monotonic()
            time.sleep(seconds)
            self.seconds += time.monotonic() - begun


class Others:
    """Proposers without a model: always something new, which is no better."""

    name = "others"

    def propose(self, request: Request) -> list[Candidate]:
        """Returns as many candidates as are asked for."""
        texts = (f"{_TEXT}# {request.seed} {index}\n" for index in range(request.count))
        return [Candidate((File("port.py", text),), Origin(self.name)) for text in texts]


def server(model: Used) -> ThreadingHTTPServer:
    """Answers each question with a program that nobody had."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            model.hold(_ANSWER_S)
            said = f"IDEA: another size\n```python\nblock = {next(_NUMBERS)}\n```"
            body = json.dumps({"choices": [{"message": {"content": said}, "finish_reason": "stop"}]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    threading.Thread(target=http.serve_forever, daemon=True).start()
    return http


def main(out: Path) -> None:
    """Searches once, and writes the shares."""
    device, model = Used(), Used()
    target = find_backend("triton").targets()[0]
    about = Task(target, "", File("scale.cu", "__global__ void scale(float* x);\n"), (), "", "", ())
    options = ModelOptions("local", f"http://127.0.0.1:{server(model).server_port}/v1")
    agent = open_agent(Models((options,)), lambda _: Secret(""), print)
    proposers = (Others(), agent.llm(about))

    def evaluate(candidate: Candidate) -> Scored:
        device.hold(_EVALUATION_S)
        factor = int(re.findall(r"block = (\d+)", candidate.files[0].text)[0]) / 128
        return Scored(candidate.digest, "verified", "", Score(Measure.MODELLED, factor, factor, factor), (0, 0, 0))

    settings = Settings(1, AXES, ("others", "llm"), batch=1, slow={"llm": options.at_once})
    with tempfile.TemporaryDirectory() as folder:
        begun = time.monotonic()
        seed = Candidate((File("port.py", _TEXT),), Origin("seed"))
        with searching(Path(folder), settings, Budget(rounds=_ROUNDS), proposers, [seed]) as search:
            evaluate_all(search, lambda _, known: partial(evaluate, known), 1, lambda _: None)
        wall_s = time.monotonic() - begun
        by_proposer = [member.candidate.origin.proposer for member in replayed(Path(folder)).state.members.values()]
    shares = {
        "rounds": _ROUNDS, "answer_s": _ANSWER_S, "evaluation_s": _EVALUATION_S, "wall_s": round(wall_s, 1),
        "device_busy": round(device.seconds / wall_s, 3), "model_busy": round(model.seconds / wall_s, 3),
        "of_the_model": by_proposer.count("llm"), "of_others": by_proposer.count("others"),
    }  # fmt: skip
    out.write_text(json.dumps(shares, indent=1) + "\n", "utf-8")
    print(shares)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "results" / "busy.json")
