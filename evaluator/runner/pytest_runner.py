"""Runs pytest inside a sandbox and reports what happens on a descriptor of its own.

Started as `python -c <this text> <descriptor>` by any CPython 3.6 to 3.13, with any pytest from 3.0 on; needs
nothing else. Its plan is one JSON object on standard input:

    args   pytest's command line
    key    hexadecimal key of the frames

A frame is a mark (the first 16 bytes of the key's HMAC of nothing), the payload's length (4 bytes, big
endian), the payload's HMAC (32 bytes, SHA-256), and the payload: the JSON list `[number, kind, facts]`,
numbered from 0 without gaps. Kinds, in this order:

    start      python, pytest, files (of the runner's modules), rootdir, inifile, plugins
    broken     id, outcome, excerpt: a module that could not be collected, or skipped itself
    collected  tests: list of [id, marks], in the order they will run
    test       id, when, outcome, seconds; xfail and excerpt where they say something
    end        status: what pytest returned

Only the process that started the session writes frames; no program a test starts inherits the descriptor.
"""

import sys

# `-c` puts the current directory first, where a repository's `json.py` would be taken for the real one. The
# `pytest` program does not have it there either.
sys.path[:] = [place for place in sys.path if place not in ("", ".")]

import hashlib  # noqa: E402
import hmac  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402

EXCERPT = 2000
MARKS = ("skip", "skipif", "xfail")


class Channel:
    """Writes frames. What it calls is bound before any code of the repository runs."""

    def __init__(self, descriptor: int, key: bytes) -> None:
        self.descriptor = descriptor
        self.key = key
        self.mark = hmac.new(key, b"", hashlib.sha256).digest()[:16]
        self.number = 0
        self.owner = os.getpid()
        self.write = os.write
        self.getpid = os.getpid
        self.mac = hmac.new
        self.hash = hashlib.sha256
        self.encode = json.JSONEncoder(ensure_ascii=True).encode

    def send(self, kind: str, **facts: object) -> None:
        if self.getpid() != self.owner:
            return
        payload = self.encode([self.number, kind, facts]).encode("ascii")
        self.number += 1
        mac = self.mac(self.key, payload, self.hash).digest()
        frame = self.mark + len(payload).to_bytes(4, "big") + mac + payload
        while frame:
            frame = frame[self.write(self.descriptor, frame) :]


class Reporter:
    """A pytest plugin: tells the channel what pytest tells its terminal reporter."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel

    def pytest_sessionstart(self, session: "pytest.Session") -> None:
        config = self.config = session.config
        files = {name: str(getattr(sys.modules.get(name), "__file__", None)) for name in RUNNER_MODULES}
        plugins = [
            [str(name), str(getattr(plugin, "__file__", None) or type(plugin).__module__)]
            for name, plugin in config.pluginmanager.list_name_plugin()
            if plugin is not None
        ]
        self.channel.send(
            "start",
            python=sys.version.split()[0],
            pytest=pytest.__version__,
            files=files,
            rootdir=str(getattr(config, "rootdir", "")),
            inifile=str(getattr(config, "inipath", None) or getattr(config, "inifile", None) or ""),
            plugins=plugins,
        )

    def pytest_collectreport(self, report: "pytest.CollectReport") -> None:
        if report.outcome != "passed":
            self.channel.send(
                "broken",
                id=self.name(report.nodeid),
                outcome=report.outcome,
                excerpt=excerpt(report.longrepr),
            )

    def pytest_collection_finish(self, session: "pytest.Session") -> None:
        tests = [[self.name(item.nodeid), marks(item)] for item in session.items]
        self.channel.send("collected", tests=tests)

    def pytest_runtest_logreport(self, report: "pytest.TestReport") -> None:
        facts = {"seconds": round(float(getattr(report, "duration", 0.0)), 4)}  # type: dict[str, object]
        if hasattr(report, "wasxfail"):
            facts["xfail"] = True
        if report.outcome != "passed":
            facts["excerpt"] = excerpt(report.longrepr)
        name = self.name(report.nodeid)
        self.channel.send("test", id=name, when=str(report.when), outcome=str(report.outcome), **facts)

    def name(self, node_id: str) -> str:
        """The id as pytest prints it: relative to where it was started, not to its root directory."""
        return str(self.config.cwd_relative_nodeid(node_id))  # type: ignore[arg-type]


RUNNER_MODULES = ("pytest", "_pytest", "_pytest.main", "_pytest.runner", "_pytest.reports", "pluggy")


def marks(item: "pytest.Item") -> "list[str]":
    """Those that excuse the test from passing."""
    found = [mark for mark in MARKS if mark in item.keywords]
    if getattr(getattr(item, "obj", None), "__unittest_expecting_failure__", False):
        found.append("xfail")
    return found


def excerpt(explanation: object) -> str:
    """The end of a failure's text, where the reason is."""
    try:
        text = str(explanation)
    except Exception as error:
        text = "no text: " + type(error).__name__
    return text[-EXCERPT:].encode("utf-8", "replace").decode("utf-8")


descriptor = int(sys.argv[1])
os.set_inheritable(descriptor, False)
with open(0, "rb", closefd=False) as told:
    plan = json.loads(told.read().decode("utf-8"))
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
channel = Channel(descriptor, bytes.fromhex(plan["key"]))
sys.argv = ["pytest"] + plan["args"]
import pytest  # noqa: E402

status = pytest.main(plan["args"], plugins=[Reporter(channel)])
channel.send("end", status=int(status))
for stream in (sys.stdout, sys.stderr):
    try:
        stream.flush()
    except Exception:
        status = status or 1
os._exit(int(status))  # what the repository left for the interpreter's exit has no say any more
