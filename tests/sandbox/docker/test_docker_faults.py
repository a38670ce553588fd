"""Whose fault it is when a container does not end by itself, and what is left of a run that died."""

import hashlib
import json
import os
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from docker.errors import APIError

from sandbox.docker import Docker
from sandbox.engine import engine_address
from sandbox.job import Job, Limits, Prepared
from tasks.errors import InfraError, SandboxUnavailable


def found(box: Docker, mark: str) -> list[str]:
    """Ids of running containers one of whose processes has `mark` among its arguments."""
    api = box.engine.client.api
    running = api.containers(filters={"label": "assay.run"})
    return [entry["Id"] for entry in running if mark in _processes(box, entry["Id"])]


def _processes(box: Docker, container: str) -> str:
    try:
        return str(box.engine.client.api.top(container))
    except APIError:  # ended meanwhile
        return ""


def eventually(ask: Callable[[], list[str]]) -> list[str]:
    """The first answer that is not empty, within half a minute."""
    for _ in range(300):
        if answer := ask():
            return answer
        time.sleep(0.1)
    raise AssertionError("never happened")


@pytest.fixture
def mark() -> str:
    """An argument of `sleep` that no other process has."""
    return f"{uuid.uuid4().int % 10**9}.5"


@pytest.fixture
def caller(box: Docker, prepared: Prepared, mark: str) -> Iterator[subprocess.Popen[bytes]]:
    """Another process that runs a job in a container."""
    program = f"""
from pathlib import Path
from sandbox.docker import Docker
from sandbox.engine import engine_address
from sandbox.job import Job, Prepared
prepared = Prepared({prepared.digest!r}, Path({str(prepared.tree)!r}), 0.0, {prepared.handle!r})
Docker(Path({str(box.engine.cache)!r})).run(prepared, Job(("sleep", "{mark}")))
"""
    with subprocess.Popen([sys.executable, "-c", program]) as process:
        eventually(lambda: found(box, mark))
        yield process
        process.kill()
    box.engine.sweep()


def test_containers_of_a_killed_run_are_swept(
    box: Docker, caller: subprocess.Popen[bytes], mark: str
) -> None:
    """kill -9 of Assay leaves a container that the next start removes."""
    (left,) = found(box, mark)
    caller.kill()
    caller.wait()
    box.probe()
    assert found(box, mark) == []
    assert left not in [entry["Id"] for entry in box.engine.client.api.containers(all=True)]


def test_containers_of_a_living_run_are_left_alone(
    box: Docker, caller: subprocess.Popen[bytes], mark: str
) -> None:
    """A start beside a running Assay removes nothing of its."""
    running = found(box, mark)
    assert running[0] not in box.engine.sweep()
    assert found(box, mark) == running


def test_containers_of_others_are_left_alone(box: Docker) -> None:
    """A container without our label is none of our business."""
    api = box.engine.client.api
    other = api.create_container("assay/smallest:amd64", ["/exit"])["Id"]
    try:
        assert other not in box.engine.sweep()
    finally:
        api.remove_container(other)


@contextmanager
def running(
    backend: Docker, prepared: Prepared, mark: str, watched_by: Docker
) -> Iterator[tuple[str, list[InfraError]]]:
    """A container that sleeps, and how `run` ends, known afterwards."""
    ends: list[InfraError] = []

    def run() -> None:
        try:
            backend.run(prepared, Job(("sleep", mark), limits=Limits(wall_s=60)))
        except InfraError as error:
            ends.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    (container,) = eventually(lambda: found(watched_by, mark))
    yield container, ends
    thread.join()


@pytest.mark.parametrize("ending", ["kill", "remove", "stop"])
def test_an_end_from_outside_is_a_host_fault(box: Docker, prepared: Prepared, mark: str, ending: str) -> None:
    """Whatever else on the host ends a container, the run says nothing about the patch."""
    api = box.engine.client.api
    with running(box, prepared, mark, watched_by=box) as (container, ends):
        match ending:
            case "kill":
                api.kill(container)
            case "remove":
                api.remove_container(container, force=True)
            case "stop":
                api.stop(container, timeout=0)
    assert len(ends) == 1


def test_an_image_that_is_gone_is_a_host_fault(box: Docker, prepared: Prepared) -> None:
    """An image somebody removed since it was prepared says nothing about the patch."""
    gone = Prepared("gone", prepared.tree, 0.0, "assay/repository:gone")
    with pytest.raises(InfraError, match="No such image"):
        box.run(gone, Job(("true",)))


def test_an_absent_engine_is_named_with_its_remedy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where no engine answers, the message says where one was looked for and what to do."""
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/docker.sock")
    with pytest.raises(SandboxUnavailable, match=str(tmp_path)) as caught:
        Docker(tmp_path).probe()
    assert "DOCKER_HOST" in caught.value.remedy


class Relay:
    """Passes everything between a socket of its own and the engine's, until it is cut."""

    def __init__(self, address: Path, engine: str) -> None:
        self._engine = engine
        self._ends: list[socket.socket] = []
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(address))
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        for end in (self._listener, *self._ends):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.socket(socket.AF_UNIX)
                far.connect(self._engine)
                self._ends += (near, far)
                for source, target in ((near, far), (far, near)):
                    threading.Thread(target=self._pass, args=(source, target), daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while part := source.recv(1 << 16):
                target.sendall(part)
            target.shutdown(socket.SHUT_WR)


def test_an_engine_that_hangs_up_is_a_host_fault(
    box: Docker, prepared: Prepared, mark: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An engine that goes away while a job runs loses the job, not the patch."""
    host = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")
    if not host.startswith("unix://"):
        pytest.skip("the engine is not at a local socket")
    relay = Relay(tmp_path / "relay.sock", host.removeprefix("unix://"))
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/relay.sock")
    with running(Docker(box.engine.cache), prepared, mark, watched_by=box) as (container, ends):
        relay.cut()
    box.engine.remove(container)
    assert len(ends) == 1


def test_the_engine_of_the_current_context_is_meant(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without DOCKER_HOST the engine is the one that the docker command line would talk to."""
    meta = tmp_path / "contexts" / "meta" / hashlib.sha256(b"far").hexdigest() / "meta.json"
    meta.parent.mkdir(parents=True)
    endpoint = {"Host": "unix:///far/docker.sock", "SkipTLSVerify": False}
    meta.write_text(json.dumps({"Name": "far", "Metadata": {}, "Endpoints": {"docker": endpoint}}))
    (tmp_path / "config.json").write_text('{"currentContext": "far"}')
    monkeypatch.delenv("DOCKER_HOST", raising=False)
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    assert engine_address() == "unix:///far/docker.sock"
