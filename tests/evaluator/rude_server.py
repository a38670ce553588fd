"""A real HTTP server on loopback that answers as badly as it is told to."""

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = Callable[[Any], None]
"""Given the handler of the request, whose body it finds under `asked`."""

USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}


def chat(
    content: Any = "hello", *, finish: str = "stop", usage: Any = USAGE, **message: Any
) -> dict[str, Any]:
    """The body of a chat completion."""
    choice = {
        "index": 0,
        "finish_reason": finish,
        "message": {"role": "assistant", "content": content} | message,
    }
    body = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    return body if usage is None else body | {"usage": usage}


def reply(body: Any, status: int = 200, kind: str = "application/json", **headers: str) -> Reply:
    """Sends `body` (JSON unless it is bytes) in one piece; `_` in a header's name stands for `-`."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()

    def send(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(len(data)))
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(data)

    return send


def reset_in_body(handler: BaseHTTPRequestHandler) -> None:
    """Promises a long body, sends a little of it and resets the connection."""
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", "100000")
    handler.end_headers()
    handler.wfile.write(b'{"id": "1", ')
    handler.wfile.flush()
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()
    handler.close_connection = True


@dataclass
class Rude:
    """The running server: what it was asked, and what it will say. The last reply repeats."""

    replies: list[Reply]
    base_url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    under_way: int = 0
    most_under_way: int = 0
    closing: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def hang(self, _: BaseHTTPRequestHandler) -> None:
        """Says nothing until the test is over."""
        self.closing.wait(30)

    def trickle(self, handler: BaseHTTPRequestHandler) -> None:
        """Sends blanks without end, one at a time."""
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", "100000")
        handler.end_headers()
        while not self.closing.wait(0.05):
            handler.wfile.write(b" ")
            handler.wfile.flush()


@contextmanager
def rude_server(*replies: Reply | str) -> Iterator[Rude]:
    """Answers request k with reply k; a string names a method of Rude."""
    rude = Rude([])
    rude.replies = [getattr(rude, each) if isinstance(each, str) else each for each in replies]

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            pass

        def do_POST(self) -> None:
            self.asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with rude.lock:
                rude.asked.append(self.asked)
                rude.headers.append({name.lower(): value for name, value in self.headers.items()})
                rude.under_way += 1
                rude.most_under_way = max(rude.most_under_way, rude.under_way)
                answer = rude.replies[min(len(rude.asked), len(rude.replies)) - 1]
            try:
                answer(self)
            except OSError:
                self.close_connection = True
            finally:
                with rude.lock:
                    rude.under_way -= 1

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    rude.base_url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield rude
    finally:
        rude.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()
