"""A real endpoint on this machine that answers as a test has it."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.pure.agent.world import Server


@pytest.fixture
def serve():
    running = []

    def start(*answers):
        server = Server("", list(answers))

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                server.headers.append({name.lower(): value for name, value in self.headers.items()})
                server.seen.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                answer = server.answers.pop(0) if len(server.answers) > 1 else server.answers[0]
                answer(self)

            def log_message(self, *args):
                pass

            def handle(self):
                try:
                    super().handle()
                except (ConnectionError, ValueError):  # the client went away, as clients do that wait no longer
                    self.close_connection = True

            def finish(self):
                try:
                    super().finish()
                except (ConnectionError, ValueError):
                    self.close_connection = True

        http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        http.daemon_threads = True
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        running.append((http, thread))
        server.url = f"http://127.0.0.1:{http.server_port}/v1"
        return server

    yield start
    for http, thread in running:
        http.shutdown()
        http.server_close()
        thread.join()
