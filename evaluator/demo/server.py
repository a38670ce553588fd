"""The demo model behind a small OpenAI-compatible server on the loopback interface."""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from evaluator.demo.answers import MODELS, answer, find
from evaluator.demo.wire import NOTICE, completion, error, read
from tasks.errors import InputError
from tasks.task import Task

_LARGEST_REQUEST = 16 * 2**20


@dataclass(frozen=True)
class Demo:
    """A running demo model."""

    base_url: str
    models: tuple[str, ...] = tuple(MODELS)
    notice: str = NOTICE


@contextmanager
def serve(tasks: Sequence[Task], *, port: int = 0, seed: int = 0) -> Iterator[Demo]:
    """Serves the demo model on 127.0.0.1 while the context lasts.

    Args:
        tasks: the bugs it knows; it finds the one asked about by its problem statement.
        port: 0 takes a free one.
        seed: which answers fail. Equal seed, model, task and request seed give equal answers.

    Raises:
        InputError: the port is taken.
    """
    handler = type("DemoHandler", (_Handler,), {"tasks": tuple(tasks), "seed": seed})
    try:
        server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    except (OSError, OverflowError) as fault:
        raise InputError(
            f"Port {port} cannot be used: {fault}", "Choose another --port, or 0 for a free one."
        ) from None
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), name="demo-model", daemon=True)
    thread.start()
    try:
        yield Demo(f"http://127.0.0.1:{server.server_address[1]}/v1")
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    tasks: tuple[Task, ...]
    seed: int
    protocol_version = "HTTP/1.1"
    timeout = 60
    disable_nagle_algorithm = True

    def version_string(self) -> str:
        return NOTICE

    def log_message(self, *_: Any) -> None:
        """Nothing: the terminal belongs to the run."""

    def do_GET(self) -> None:
        if self.path.rstrip("/") != "/v1/models":
            self._reply(404, error("There is only /v1/models and /v1/chat/completions.", "not_found"))
            return
        cards = [{"id": name, "object": "model", "created": 0, "owned_by": NOTICE} for name in MODELS]
        self._reply(200, {"object": "list", "data": cards})

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()) or int(length[:12]) > _LARGEST_REQUEST:
            self.close_connection = True  # the body is not read, so nothing after it can be
            self._reply(413, error("A request has a Content-Length of at most 16 MiB.", "too_large"))
            return
        body = self.rfile.read(int(length))
        if self.path.rstrip("/") != "/v1/chat/completions":
            self._reply(404, error("There is only /v1/models and /v1/chat/completions.", "not_found"))
            return
        asked = read(body)
        if asked is None:
            self._reply(400, error("This is no chat completion request.", "invalid_request"))
        elif asked.model not in MODELS:
            self._reply(404, error(f"There are only the models {', '.join(MODELS)}.", "model_not_found"))
        else:
            found = find(self.tasks, "\n".join(asked.messages))
            self._reply(200, completion(asked, answer(found, asked.model, self.seed, asked.seed)))

    def _reply(self, status: int, content: dict[str, Any]) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
