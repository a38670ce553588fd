"""Datasets by name: from a hub, from its cache, or a clear word about neither."""

import http.server
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow
import pytest
from pyarrow import parquet
from sample_rows import row

REVISION, BLOB = "c" * 40, "d" * 40

LOAD = """
import json, sys, time
from tasks.errors import AssayError
from tasks.load import load

for source, split in json.loads(sys.argv[1]):
    try:
        answer = {"ids": [task.instance_id for task in load(source, split=split)]}
    except AssayError as error:
        answer = {"error": type(error).__name__, "message": error.message, "remedy": error.remedy}
    print(json.dumps(answer))
"""


class Hub(http.server.BaseHTTPRequestHandler):
    """As much of the Hugging Face Hub as serves one dataset, `spoons/all`, with one split, `test`."""

    protocol_version = "HTTP/1.1"
    data = b""

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        file = {"type": "file", "path": "test.parquet", "size": len(self.data), "oid": BLOB}
        if path == "/api/datasets/broken/all":
            self.answer(500)
        elif path.startswith("/api/datasets/spoons/all/tree"):
            self.answer(200, json.dumps([file]).encode())
        elif path.startswith("/api/datasets/spoons/all"):
            facts = {
                "id": "spoons/all",
                "sha": REVISION,
                "siblings": [{"rfilename": "test.parquet"}],
                "tags": [],
            }
            self.answer(200, json.dumps(facts).encode())
        elif path.startswith("/api/datasets/"):
            self.answer(404, **{"X-Error-Code": "RepoNotFound", "X-Error-Message": "Repository not found"})
        elif path.endswith("/test.parquet"):
            self.answer(200, self.data, **{"ETag": f'"{BLOB}"', "X-Repo-Commit": REVISION})
        else:
            self.answer(404, **{"X-Error-Code": "EntryNotFound", "X-Repo-Commit": REVISION})

    do_HEAD = do_GET  # noqa: N815

    def answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Quiet."""


@dataclass(frozen=True)
class Answers:
    """What loading gave, by source and split: with the hub there, and after it went away."""

    online: dict[tuple[str, str], dict[str, Any]]
    offline: dict[tuple[str, str], dict[str, Any]]
    home: Path


def ask(endpoint: str, home: Path, *wanted: tuple[str, str]) -> dict[tuple[str, str], dict[str, Any]]:
    """The library reads its settings once, hence a process of its own for each endpoint."""
    found = subprocess.run(
        [sys.executable, "-c", LOAD, json.dumps(wanted)],
        env=os.environ | {"HF_ENDPOINT": endpoint, "HF_HOME": str(home)},
        capture_output=True,
        check=False,
        text=True,
    )
    assert found.returncode == 0, found.stderr
    return dict(zip(wanted, map(json.loads, found.stdout.splitlines()), strict=True))


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Answers]:
    home = tmp_path_factory.mktemp("hub")
    parquet.write_table(pyarrow.Table.from_pylist([row(2), row(1)]), home / "rows.parquet")
    Hub.data = (home / "rows.parquet").read_bytes()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    endpoint = f"http://127.0.0.1:{server.server_address[1]}"
    wanted = [("spoons/all", "test"), ("spoons/all", "dev"), ("forks/all", "test"), ("broken/all", "test")]
    online = ask(endpoint, home, *wanted)
    server.shutdown()
    server.server_close()
    yield Answers(
        online, ask(endpoint, home, ("spoons/all", "test"), ("spoons/all", "dev"), ("lite", "test")), home
    )


def test_a_dataset_is_loaded_by_its_name(answers: Answers) -> None:
    """Rows come from the hub in its order."""
    assert answers.online["spoons/all", "test"] == {"ids": ["octo__spoon-2", "octo__spoon-1"]}


def test_without_network_the_cached_copy_serves(answers: Answers) -> None:
    """What was loaded once on this machine loads again without a connection."""
    assert answers.offline["spoons/all", "test"] == answers.online["spoons/all", "test"]


@pytest.mark.parametrize("when", ["online", "offline"])
def test_an_unknown_split_is_the_users_mistake_and_names_the_known_ones(when: str, answers: Answers) -> None:
    """With and without network the message is about the split."""
    answer = getattr(answers, when)["spoons/all", "dev"]
    assert answer["error"] == "InputError"
    assert "dev" in answer["message"]
    assert "test" in answer["message"]


def test_a_dataset_that_does_not_exist_is_told_from_no_network(answers: Answers) -> None:
    """A wrong name is corrected, not waited for."""
    answer = answers.online["forks/all", "test"]
    assert answer["error"] == "SourceError"
    assert "has no dataset forks/all" in answer["message"]
    assert "HF_TOKEN" in answer["remedy"]


@pytest.mark.parametrize(("when", "source"), [("offline", "lite"), ("online", "broken/all")])
def test_without_network_and_copy_the_message_says_what_would_serve(
    when: str, source: str, answers: Answers
) -> None:
    """The reader learns which cache was looked into and that a local file does."""
    answer = getattr(answers, when)[source, "test"]
    assert answer["error"] == "SourceError"
    assert "cannot be reached" in answer["message"]
    assert str(answers.home / "datasets") in answer["message"]
    assert "-d file.parquet" in answer["remedy"]


def test_short_names_mean_the_public_sets(answers: Answers) -> None:
    """`lite` is a dataset of the SWE-bench organisation."""
    assert "SWE-bench/SWE-bench_Lite" in answers.offline["lite", "test"]["message"]
