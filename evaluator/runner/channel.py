"""The part that all runners share: what they are told, and the frames they report in.

A runner is this text and its own, one after the other, started as `python -c <text> <descriptor>` by any
CPython 3.6 to 3.13; it needs nothing but the standard library and the project's own test framework. Its plan
is one JSON object on standard input:

    args   the command line of the program whose place the runner takes, without its name
    files  the test modules that makes it run, as far as the runner wants to know
    key    hexadecimal key of the frames

A frame is a mark (the first 16 bytes of the key's HMAC of nothing), the payload's length (4 bytes, big
endian), the payload's HMAC (32 bytes, SHA-256), and the payload: the JSON list `[number, kind, facts]`,
numbered from 0 without gaps. Kinds, in this order:

    start      python, files (of the runner's modules), plugins; other texts, as the runner sees fit
    broken     id, outcome, excerpt: a module that could not be collected, or skipped itself
    source     file, sha256 of what was compiled, tests: those in it that have a beacon (at any time)
    collected  tests: list of [id, marks], in the order they will run
    body       id, ended: how the body of a test with a beacon ended just now, "" or the name of an exception
    test       id, when, outcome, seconds; xfail and excerpt where they say something
    end        status: what the program would have returned; replaced: list of [part of the runner, file of
               its new code], where the runner looks for that

Only the process that started the session writes frames; no program a test starts inherits the descriptor.
"""

import sys

# `-c` puts the current directory first, where a repository's `json.py` would be taken for the real one. The
# `pytest` program does not have it there either.
sys.path[:] = [place for place in sys.path if place not in ("", ".")]

import _thread  # noqa: E402
import hashlib  # noqa: E402
import hmac  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402

EXCERPT = 2000


class Channel:
    """Writes frames. What it calls is bound before any code of the repository runs."""

    def __init__(self, descriptor: int, key: bytes) -> None:
        self.descriptor = descriptor
        self.key = key
        self.mark = hmac.new(key, b"", hashlib.sha256).digest()[:16]
        self.number = 0
        self.owner = os.getpid()
        self.lock = _thread.allocate_lock()
        self.write = os.write
        self.leave = os._exit
        self.getpid = os.getpid
        self.mac = hmac.new
        self.hash = hashlib.sha256
        self.encode = json.JSONEncoder(ensure_ascii=True).encode

    def send(self, kind: str, **facts: object) -> None:
        if self.getpid() != self.owner:
            return
        with self.lock:
            payload = self.encode([self.number, kind, facts]).encode("ascii")
            self.number += 1
            mac = self.mac(self.key, payload, self.hash).digest()
            frame = self.mark + len(payload).to_bytes(4, "big") + mac + payload
            while frame:
                frame = frame[self.write(self.descriptor, frame) :]


def excerpt(explanation: object) -> str:
    """The end of a failure's text, where the reason is."""
    try:
        text = str(explanation)
    except Exception as error:
        text = "no text: " + type(error).__name__
    return text[-EXCERPT:].encode("utf-8", "replace").decode("utf-8")


def begin() -> "tuple[Channel, dict[str, list[str]]]":
    """The channel and the plan. Uses up standard input, where both came from."""
    descriptor = int(sys.argv[1])
    os.set_inheritable(descriptor, False)
    with open(0, "rb", closefd=False) as told:
        plan = json.loads(told.read().decode("utf-8"))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    return Channel(descriptor, bytes.fromhex(plan.pop("key"))), plan


def end(channel: Channel, status: int, **facts: object) -> None:
    """Ends the process: what the repository left for the interpreter's exit has no say any more."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            status = status or 1
    channel.send("end", status=status, **facts)
    channel.leave(status)
