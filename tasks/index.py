"""Source distributions from the package index, by hash, without running anything of theirs.

`uv` finds the address: it reads metadata only, where `pip download` would build the package to learn it.
"""

import hashlib
import os
import subprocess
import sys
import tomllib
import urllib.error
import urllib.request
from functools import cache
from pathlib import Path
from typing import Any

from filelock import FileLock
from uv import find_uv_bin

from tasks.errors import SourceError

LARGEST_BYTES = 64 << 20
TIMEOUT_S = 60.0
REMEDY = (
    "Run once where a package index can be reached (UV_DEFAULT_INDEX or pip's index-url names another one),"
    " or copy the cache directory of a machine that has done so."
)


def source_distribution(package: str, version: str, sha256: str, kept_in: Path) -> Path:
    """The `.tar.gz` of a release, kept by its hash: a second call needs no network.

    Raises:
        SourceError: the index cannot be reached, does not hold the release, or serves other bytes.
    """
    kept = kept_in / f"{sha256}.tar.gz"
    kept_in.mkdir(parents=True, exist_ok=True)
    with FileLock(kept_in / f".{sha256}.lock"):
        if kept.exists() and _sha256(kept.read_bytes()) == sha256:
            return kept
        content = _download(_listed(package, version)["url"], f"{package} {version}")
        if (found := _sha256(content)) != sha256:
            raise SourceError(
                f"The index serves another {package} {version} than the recorded one:"
                f" SHA-256 {found}, not {sha256}.",
                "Use an index that mirrors the public one unchanged.",
            )
        draft = kept.with_suffix(".part")
        draft.write_bytes(content)
        draft.replace(kept)
    return kept


def listed_hash(package: str, version: str) -> str:
    """SHA-256 of a release's source distribution, as the index states it.

    Raises:
        SourceError: as `source_distribution`.
    """
    return str(_listed(package, version)["hashes"]["sha256"])


def resolve(requirements: tuple[str, ...], python: str) -> tuple[str, ...]:
    """Pins of everything the requirements lead to under a Python version, sorted by name.

    Raises:
        SourceError: the index cannot be reached, or the requirements contradict each other.
    """
    pins = _compile("\n".join(requirements), "--python-version", python, "--no-annotate")
    return tuple(line for line in pins.splitlines() if "==" in line)


def _listed(package: str, version: str) -> dict[str, Any]:
    text = _compile(f"{package}=={version}", "--no-deps", "--format", "pylock.toml")
    for entry in tomllib.loads(text)["packages"]:
        if "sdist" in entry:
            return dict(entry["sdist"])
    raise SourceError(f"The index has no source distribution of {package} {version}.", REMEDY)


def _compile(requirements: str, *options: str) -> str:
    command = (find_uv_bin(), "pip", "compile", "--quiet", "--no-header", *options, "-")
    done = subprocess.run(
        command,
        input=requirements,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | index_of_pip(),
    )
    if done.returncode:
        wanted = requirements.replace("\n", ", ")
        raise SourceError(f"{wanted} cannot be had from the package index:\n{done.stderr.strip()}", REMEDY)
    return done.stdout


def index_of_pip() -> dict[str, str]:
    """The index pip is configured for, as a variable of uv; empty where uv has its own or pip none."""
    if os.environ.keys() & {"UV_DEFAULT_INDEX", "UV_INDEX_URL"}:
        return {}
    settings = settings_of_pip()
    for key in (":env:.index-url", "install.index-url", "global.index-url"):
        if key in settings:
            return {"UV_DEFAULT_INDEX": settings[key].strip("'\"")}
    return {}


@cache
def settings_of_pip() -> dict[str, str]:
    """As `pip config list` prints them: quoted values by key. Asked once."""
    asked = (sys.executable, "-m", "pip", "config", "list")
    listing = subprocess.run(asked, capture_output=True, text=True, check=False).stdout
    return dict(line.split("=", 1) for line in listing.splitlines() if "=" in line)


def _download(address: str, what: str) -> bytes:
    if not address.startswith(("https://", "http://", "file://")):
        raise SourceError(f"The index gives an unusable address for {what}: {address!r}.", REMEDY)
    try:
        with urllib.request.urlopen(address, timeout=TIMEOUT_S) as answer:  # noqa: S310 - scheme checked above
            content: bytes = answer.read(LARGEST_BYTES + 1)
    except (urllib.error.URLError, TimeoutError, OSError) as error:
        raise SourceError(f"{what} could not be downloaded: {error}", REMEDY) from error
    if len(content) > LARGEST_BYTES:
        raise SourceError(f"{what} is larger than {LARGEST_BYTES >> 20} MB.", REMEDY)
    return content


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
