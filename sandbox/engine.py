"""The Docker engine: one connection pool, faults told from answers, leftovers of dead runs removed."""

import os
import platform
import socket
import ssl
import subprocess
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import docker
import requests
from docker.context import ContextAPI
from docker.errors import APIError, DockerException, NotFound

from tasks.errors import InfraError, SandboxUnavailable

ANSWER_S = 120
"""Longest silence of the engine while it creates, starts or removes something on a busy machine."""
ABANDONED_S = 24 * 3600.0
FAULTS = (DockerException, requests.exceptions.RequestException, OSError)
"""What docker-py raises when the engine answers with an error, late, or not at all."""


@contextmanager
def engine_faults() -> Iterator[None]:
    """Turns every failure of the engine into an InfraError: it says nothing about the patch."""
    try:
        yield
    except FAULTS as error:
        raise InfraError(f"the Docker engine failed: {explain(error)}") from error


def explain(error: BaseException) -> str:
    """One line: the engine's own words where it has some, else the system's."""
    if isinstance(error, APIError):
        return str(error.explanation or error).strip()
    innermost = error
    while (cause := innermost.__cause__ or innermost.__context__) is not None:
        innermost = cause
    return " ".join((str(innermost) or type(innermost).__name__).split())


class Engine:
    """Connection to the engine at `engine_address()`. Thread-safe, opened when used.

    `cache` is the directory where processes that share it keep locks, logs and copies.
    Containers are labelled with the process that made them, so that a later run can tell which are leftovers.
    """

    def __init__(self, cache: Path, connections: int = 64, answer_s: int = ANSWER_S) -> None:
        self.cache = cache
        self._answer_s = answer_s
        self._connections = connections
        self._opening = threading.Lock()
        self.run_id = uuid.uuid4().hex
        self.sysctls = {"net.ipv6.conf.all.disable_ipv6": "0"}
        """Of every container: Docker turns IPv6 off in those without a network, their loopback included."""

    @cached_property
    def _client(self) -> docker.DockerClient:
        where = {**os.environ, "DOCKER_HOST": engine_address()}
        return docker.from_env(timeout=self._answer_s, max_pool_size=self._connections, environment=where)

    @property
    def client(self) -> docker.DockerClient:
        """
        Raises:
            SandboxUnavailable: no engine answers, with the remedy.
        """
        with self._opening:
            try:
                return self._client
            except FAULTS as error:
                raise SandboxUnavailable(*_unreachable(error)) from error

    @property
    def labels(self) -> dict[str, str]:
        return {
            "assay.run": self.run_id,
            "assay.scope": _scope(),
            "assay.owner": str(os.getpid()),
            "assay.owner.started": _started(os.getpid()) or "",
        }

    def sweep(self) -> tuple[str, ...]:
        """Removes the containers of runs that are gone, never those of a live process; returns their ids.

        A container is a leftover if the process that made it has ended. Where that process cannot be seen
        (another machine, another pid namespace, an earlier boot), if it stands still and is a day old.
        """
        with engine_faults():
            listing = self.client.api.containers(all=True, filters={"label": "assay.run"})
            leftovers = [entry["Id"] for entry in listing if _abandoned(entry)]
            for name in leftovers:
                self.remove(name)
        return tuple(leftovers)

    @contextmanager
    def attached(self, container: str) -> Iterator[socket.socket]:
        """The connection to the three streams of a container that has not started.

        Raises:
            SandboxUnavailable: the engine is reached in a way that cannot say "no more input" (TLS, ssh).
        """
        wanted = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
        stream = self.client.api.attach_socket(container, params=wanted)
        try:
            connection = getattr(stream, "_sock", None)
            if not isinstance(connection, socket.socket) or isinstance(connection, ssl.SSLSocket):
                raise SandboxUnavailable(
                    "this connection to the Docker engine cannot be closed in one direction",
                    "Forward the engine's socket (ssh -L /tmp/docker.sock:/var/run/docker.sock HOST) and set "
                    "DOCKER_HOST=unix:///tmp/docker.sock.",
                )
            yield connection
        finally:
            stream._response.close()  # docker-py keeps it there; without it the connection leaks
            stream.close()

    def remove(self, container: str) -> None:
        """Kills and removes at once; one that is gone, or being removed by someone else, is fine."""
        try:
            self.client.api.remove_container(container, force=True, v=True)
        except NotFound:
            return
        except APIError as error:
            if error.status_code != 409:
                raise


def engine_address() -> str:
    """`DOCKER_HOST`, else what the docker command line's current context says, else the usual socket."""
    context = ContextAPI.get_current_context()
    return os.environ.get("DOCKER_HOST") or (context and context.Host) or "unix:///var/run/docker.sock"


def _unreachable(error: BaseException) -> tuple[str, str]:
    text = explain(error)
    if "Permission denied" in text:
        remedy = "Join the group docker (usermod -aG docker $USER, then log in again), or run as root."
    elif os.environ.get("DOCKER_HOST"):
        remedy = "Start that engine, correct DOCKER_HOST, or unset it to use the local one."
    else:
        remedy = "Start it (systemctl start docker, or Docker Desktop), or use --sandbox bubblewrap on Linux."
    return f"no Docker engine answers at {engine_address()}: {text}", remedy


def _abandoned(entry: dict[str, Any]) -> bool:
    labels = entry["Labels"]
    if labels.get("assay.scope") != _scope():
        return entry["State"] != "running" and time.time() - int(entry["Created"]) > ABANDONED_S
    started = _started(int(labels["assay.owner"]))
    return started is None or started != labels["assay.owner.started"]


def _scope() -> str:
    """Where a process id means something: this boot of this machine, this pid namespace."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}/{Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return platform.node()


def _started(pid: int) -> str | None:
    """When the living process `pid` began, in the system's own unit; ids alone are used again."""
    try:
        # Counted after the parenthesised name, which may itself hold spaces and parentheses.
        state, *fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
        return None if state == "Z" else fields[18]
    except FileNotFoundError:
        if Path("/proc/self/stat").exists():
            return None
    ran = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return ran.stdout.strip() or None
