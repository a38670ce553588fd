"""CPython of the version a task asks for, copied to a neutral prefix that any sandbox can mount."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sandbox.tooling import find_tool
from tasks.cache import publish
from tasks.digest import digest
from tasks.errors import BuildError, SourceError

REVISION = 1
"""Part of the copy's name: raised when the copy holds other files than before."""

LEFT_OUT = ("idlelib", "turtledemo", "site-packages", "dist-packages", "config-*", "*.a")
KEPT_OF_TEST = {"__init__.py", "support"}
"""Of the standard library's own test suite: the helpers that other projects' tests import."""

ESSENTIAL = "import bz2, ctypes, fcntl, hashlib, lzma, resource, socket, sqlite3, ssl, venv, zlib"
"""What test suites and `sandbox/init.py` cannot do without: an interpreter that lacks one is passed over."""

DESCRIBE = """
import json, os, platform, sys, sysconfig
assert platform.python_implementation() == "CPython"
config = sysconfig.get_config_var
base = {"base": sys.base_prefix, "installed_base": sys.base_prefix}
print(json.dumps({
    "version": list(sys.version_info[:3]),
    "program": os.path.realpath(getattr(sys, "_base_executable", sys.executable)),
    "library": sysconfig.get_path("stdlib", vars=base),
    "headers": sysconfig.get_path("include", vars=base),
    "shared": os.path.join(config("LIBDIR"), config("INSTSONAME")) if config("Py_ENABLE_SHARED") else "",
}))
"""


@dataclass(frozen=True)
class Interpreter:
    """A CPython of this machine."""

    version: tuple[int, int, int]
    program: Path
    library: Path
    headers: Path
    shared: Path | None
    """The shared library the program needs beside it; None when it has all in itself."""

    @property
    def name(self) -> str:
        return f"python{self.version[0]}.{self.version[1]}"


def provide(version: str, cache: Path, explicit: Sequence[Path] = ()) -> Path:
    """The prefix of a copy of CPython `version` (`3.9`, `3.9.18`; the closest patch release at hand serves).

    Looks at `explicit` programs, `PATH`, pyenv and what uv manages; lets uv install one if there is none.
    The prefix is meant to be mounted at `/opt/python`; it holds no packages.

    Raises:
        SourceError: none is at hand, and none can be fetched.
        BuildError: those at hand lack modules of the standard library.
    """
    wanted = parse(version)
    found = sorted(
        {
            known.program: known for program in programs(wanted, explicit) if (known := describe(program))
        }.values(),
        key=lambda known: distance(known, wanted),
    )
    fitting = [known for known in found if known.version[:2] == wanted[:2]]
    if not fitting:
        fitting = [fetch(wanted)]
    faults: list[str] = []
    for known in fitting:
        prefix = cache / "pythons" / f"{'.'.join(map(str, known.version))}-{fingerprint(known)}"
        try:
            with publish(prefix) as draft:
                if draft:
                    copy(known, draft)
                    check(draft)
        except (OSError, subprocess.CalledProcessError) as error:
            faults.append(f"{known.program}: {error_text(error)}")
        else:
            return prefix
    raise BuildError(
        f"no usable CPython {version}:\n" + "\n".join(faults),
        f"Install a complete one: uv python install {version}",
    )


def parse(version: str) -> tuple[int, ...]:
    if not re.fullmatch(r"\d+\.\d+(\.\d+)?", version):
        raise SourceError(f"{version!r} is no Python version", "Say 3.9 or 3.9.20.")
    return tuple(int(number) for number in version.split("."))


def distance(known: Interpreter, wanted: tuple[int, ...]) -> tuple[int, int]:
    """Closest patch release first, the later of two; the latest when none is asked for."""
    patch = known.version[2]
    return (abs(patch - wanted[2]) if len(wanted) == 3 else 0, -patch)


def programs(wanted: tuple[int, ...], explicit: Sequence[Path]) -> Iterator[Path]:
    """Where a CPython of the minor version may be; not all of them are one."""
    minor = f"{wanted[0]}.{wanted[1]}"
    yield from explicit
    for directory in os.get_exec_path():
        program = Path(directory, f"python{minor}")
        if os.access(program, os.X_OK):
            yield program
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from sorted(pyenv.glob(f"versions/{minor}.*/bin/python"))
    answer = uv("python", "find", "--no-project", "--no-python-downloads", minor)
    if answer.returncode == 0:
        yield Path(answer.stdout.strip())


def describe(program: Path) -> Interpreter | None:
    """None for what does not run, or is no CPython."""
    command = [str(program), "-I", "-S", "-c", DESCRIBE]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
        facts = json.loads(answer.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    return Interpreter(
        tuple(facts["version"]),
        Path(facts["program"]),
        Path(facts["library"]),
        Path(facts["headers"]),
        Path(facts["shared"]) if facts["shared"] else None,
    )


def fetch(wanted: tuple[int, ...]) -> Interpreter:
    """
    Raises:
        SourceError: uv has none, or cannot reach where it would get it.
    """
    minor = f"{wanted[0]}.{wanted[1]}"
    answer = uv("python", "install", "--no-bin", minor)
    found = uv("python", "find", "--no-project", "--managed-python", "--no-python-downloads", minor)
    known = describe(Path(found.stdout.strip())) if found.returncode == 0 else None
    if known is None:
        raise SourceError(
            f"no CPython {minor} on this machine, and uv cannot install one: {last_line(answer.stderr)}",
            f"Put python{minor} on PATH or install it with pyenv.",
        )
    return known


def copy(known: Interpreter, prefix: Path) -> None:
    """Program, standard library and headers; the program finds its shared library wherever the prefix is."""
    binary = prefix / "bin" / known.name
    binary.parent.mkdir()
    shutil.copy2(known.program, binary)
    for alias in ("python", "python3"):
        (binary.parent / alias).symlink_to(known.name)
    shutil.copytree(known.library, prefix / "lib" / known.name, symlinks=True, ignore=left_out)
    (prefix / "lib" / known.name / "site-packages").mkdir(exist_ok=True)
    if known.headers.is_dir():
        shutil.copytree(known.headers, prefix / "include" / known.headers.name, symlinks=True)
    if known.shared:
        shutil.copy2(known.shared, prefix / "lib" / known.shared.name)
        command = [str(find_tool("patchelf")), "--set-rpath", "$ORIGIN/../lib", str(binary)]
        subprocess.run(command, check=True, capture_output=True, text=True)


def left_out(directory: str, names: list[str]) -> set[str]:
    unwanted = shutil.ignore_patterns(*LEFT_OUT)(directory, names)
    return unwanted | (set(names) - KEPT_OF_TEST if Path(directory).name == "test" else set())


def check(prefix: Path) -> None:
    """That the copy runs by itself and has what is essential; fills its bytecode caches."""
    program, environment = str(prefix / "bin/python"), {"LANG": "C.UTF-8"}
    command = [program, "-I", "-c", ESSENTIAL + "; import sys; print(sys.prefix)"]
    answer = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    if Path(answer.stdout.strip()).resolve() != prefix.resolve():
        raise OSError(f"a copy of it still uses {answer.stdout.strip()}")
    command = [program, "-I", "-m", "compileall", "-q", str(prefix / "lib")]
    subprocess.run(command, env=environment, check=False, capture_output=True)


def fingerprint(known: Interpreter) -> str:
    state = known.program.stat()
    return digest([str(known.program), known.version, state.st_size, state.st_mtime_ns, REVISION])[:12]


def uv(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([find_tool("uv"), *arguments], capture_output=True, text=True, check=False)


def error_text(error: OSError | subprocess.CalledProcessError) -> str:
    return str(error) if isinstance(error, OSError) else last_line(error.stderr)


def last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no word why"])[-1]
