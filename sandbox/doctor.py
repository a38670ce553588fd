"""What works on this machine, found out by trying it, and the exact remedy for what does not."""

import os
import shutil
import subprocess
import sysconfig
import tempfile
from dataclasses import dataclass
from pathlib import Path

from sandbox.bubblewrap import Bubblewrap
from sandbox.bwrap import check_reachable
from sandbox.docker import Docker
from sandbox.engine import FAULTS
from sandbox.interpreter import describe, parse, programs
from sandbox.job import Limits, Sandbox
from tasks.cache import cache_root
from tasks.errors import SandboxUnavailable

DISK_GB = 10
"""Room for the environments of a few repositories."""
VERSIONS = tuple(f"3.{minor}" for minor in range(6, 14))
"""Pythons that tasks ask for."""


@dataclass(frozen=True)
class Check:
    name: str
    ok: bool
    detail: str
    remedy: str = ""
    """What to do; empty if it is ok."""


def examine(cache: Path | None = None) -> tuple[Check, ...]:
    """One check for each thing Assay needs. Leaves nothing behind but the small tools it tried."""
    cache = cache or cache_root()
    return (
        check_git(),
        check_uv(),
        check_interpreters(),
        check_cache(cache),
        check_disk("disk", _existing(cache), "Free some, or set ASSAY_CACHE to a directory on another disk."),
        check_memory(),
        check_sandbox(Bubblewrap(cache)),
        check_sandbox(Docker(cache)),
        *check_disk_of_docker(cache),
    )


def check_git() -> Check:
    return check_program("git", "Install git (apt-get install git, brew install git).", shutil.which("git"))


def check_uv() -> Check:
    uv = Path(sysconfig.get_path("scripts"), "uv")
    return check_program("uv", "Install Assay again: uv comes with it.", str(uv) if uv.exists() else None)


def check_program(name: str, remedy: str, path: str | None) -> Check:
    if path is None:
        return Check(name, False, "not found", remedy)
    answer = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    if answer.returncode:
        return Check(name, False, f"{path} does not run: {answer.stderr.strip()}", remedy)
    return Check(name, True, f"{answer.stdout.strip()} at {path}")


def check_interpreters() -> Check:
    found = [version for version in VERSIONS if any(map(describe, programs(parse(version), explicit=())))]
    absent = [version for version in VERSIONS if version not in found]
    detail = f"found {', '.join(found) or 'none'}" + (f"; not found {', '.join(absent)}" if absent else "")
    if found:
        return Check("interpreters", True, detail)
    return Check(
        "interpreters", False, detail, f"uv python install {VERSIONS[3]}, or install them with pyenv."
    )


def check_cache(cache: Path) -> Check:
    remedy = "Set ASSAY_CACHE to a directory you can write to, on a local disk."
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=cache):
            check_reachable(cache)
    except SandboxUnavailable as error:
        return Check("cache", False, error.message, error.remedy)
    except OSError as error:
        return Check("cache", False, f"{cache}: {error.strerror}", remedy)
    return Check("cache", True, str(cache))


def check_disk(name: str, directory: Path, remedy: str) -> Check:
    free = shutil.disk_usage(directory).free >> 30
    return Check(name, free >= DISK_GB, f"{free} GB free at {directory}", remedy if free < DISK_GB else "")


def check_memory() -> Check:
    needed = Limits().memory_mb >> 10
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 30
    if total >= needed:
        return Check("memory", True, f"{total} GB")
    remedy = "Use a larger machine: test suites that need more are ended."
    return Check("memory", False, f"{total} GB, while one execution may use {needed}", remedy)


def check_sandbox(sandbox: Sandbox) -> Check:
    try:
        sandbox.probe()
    except SandboxUnavailable as error:
        return Check(sandbox.name, False, error.message, error.remedy)
    return Check(sandbox.name, True, "runs programs in isolation")


def check_disk_of_docker(cache: Path) -> tuple[Check, ...]:
    """Nothing to say of an engine that does not answer, or that keeps its images on another machine."""
    try:
        root = Path(str(Docker(cache).engine.client.info()["DockerRootDir"]))
    except (SandboxUnavailable, *FAULTS):
        return ()
    if not root.is_dir():
        return ()
    return (check_disk("disk of docker", root, "Free some: docker system prune, assay cache."),)


def _existing(path: Path) -> Path:
    return next(place for place in (path, *path.parents) if place.exists())
