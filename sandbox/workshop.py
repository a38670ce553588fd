"""Where environments are built: a sandbox with the network, and nothing else of the host's own."""

import os
import shutil
import ssl
import subprocess
from pathlib import Path

from sandbox.bwrap import VARIABLES, account, build_arguments, give_to_account, install_tools
from sandbox.recipe import ENV, PYTHON
from sandbox.tooling import find_tool
from tasks.cache import publish
from tasks.digest import digest
from tasks.errors import BuildError, SourceError

UV_CACHE = "/opt/uv-cache"
LIMIT_S = 3600

PASSED_ON = (
    *("UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX", "UV_HTTP_TIMEOUT"),
    *("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_DEFAULT_TIMEOUT"),
    *(
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "NO_PROXY",
        "http_proxy",
        "https_proxy",
        "all_proxy",
        "no_proxy",
    ),
)
"""What a build sees of the host's environment: where packages come from."""

CERTIFICATE_FILES = ("SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE")
UNREACHABLE = (
    "Failed to fetch",
    "error sending request",
    "dns error",
    "Could not find a version",
    "in the package reg",
)


class Workshop:
    """Runs build scripts (`sandbox/recipe.py`) as the unprivileged account.

    Raises:
        SandboxUnavailable: bubblewrap is not installed, or the cache is out of the account's reach.
    """

    def __init__(self, cache: Path) -> None:
        self.cache = cache
        self.tools = install_tools(cache)
        self.uv = install_uv(cache)

    def run(
        self,
        script: str,
        *,
        python: Path,
        mounts: list[str],
        log: Path,
        variables: dict[str, str] | None = None,
        network: bool = True,
    ) -> None:
        """Runs `script` with the interpreter `python` and `mounts` in bubblewrap's words; appends to `log`.

        Raises:
            BuildError: it failed.
            SourceError: it failed for want of a package.
        """
        downloads = self.cache / "uv"
        if not downloads.exists():
            downloads.mkdir(exist_ok=True)
            give_to_account(downloads)
        certificates = host_certificates()
        mounts = [
            *("--ro-bind", str(python), PYTHON, "--ro-bind", str(self.uv), "/opt/uv"),
            *("--bind", str(downloads), UV_CACHE),
            *[w for name, path in certificates.items() for w in ("--ro-bind", str(path), inside_path(name))],
            *mounts,
        ]
        trust = {name: inside_path(name) for name in certificates}
        inside = {**building_variables(), **trust, **(variables or {})}
        command = [*build_arguments(self.tools, mounts, inside, network), "/bin/sh", "-c", script]
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as output:
            start = output.tell()
            try:
                status = subprocess.run(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    env={},
                    cwd="/",
                    umask=0o022,
                    start_new_session=True,  # Ctrl-C at a terminal is for Assay to act on
                    timeout=LIMIT_S,
                    check=False,
                    **account(),
                ).returncode
            except subprocess.TimeoutExpired:
                raise BuildError("the environment took more than an hour to build", f"See {log}") from None
        if status:
            raise failure(status, log, start)


def failure(status: int, log: Path, start: int) -> BuildError | SourceError:
    with log.open("rb") as stream:
        stream.seek(start)
        text = stream.read().decode(errors="replace")
    reason = (text.strip().splitlines() or ["no output"])[-1][:500]
    if any(sign in text for sign in UNREACHABLE):
        remedy = f"See {log}; check the network and the package index."
        return SourceError(f"a package cannot be had: {reason}", remedy)
    return BuildError(f"the environment did not build (status {status}): {reason}", f"See {log}")


def install_uv(cache: Path) -> Path:
    """The directory of a copy of our own `uv`, where the unprivileged account can reach it."""
    source = find_tool("uv")
    state = source.stat()
    target = cache / "tools" / f"uv-{digest([state.st_size, state.st_mtime_ns])[:16]}"
    with publish(target) as draft:
        if draft:
            shutil.copy(source, draft / "uv")
            (draft / "uv").chmod(0o755)
    return target


def building_variables() -> dict[str, str]:
    passed = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    ours = {
        "PATH": f"{ENV}/bin:/opt/uv:/usr/bin:/bin",
        "VIRTUAL_ENV": ENV,
        "UV_CACHE_DIR": UV_CACHE,
        "UV_LINK_MODE": "copy",
        "UV_NO_CONFIG": "1",
        "UV_NO_PROGRESS": "1",
        "UV_PYTHON_DOWNLOADS": "never",
        "PIP_CACHE_DIR": f"{UV_CACHE}/pip",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }
    kept = {name: value for name, value in VARIABLES.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, **passed, **ours}


def host_certificates() -> dict[str, Path]:
    """The bundle the host's clients trust, by the variables that name it."""
    system = ssl.get_default_verify_paths().cafile or ""
    bundles = {name: os.environ.get(name) or system for name in CERTIFICATE_FILES}
    return {name: Path(path).resolve() for name, path in bundles.items() if Path(path).is_file()}


def inside_path(variable: str) -> str:
    """Where a build finds the bundle that `variable` names."""
    return f"/opt/certificates/{variable}"
