"""What a path in a patch may be, and what kind of file it names."""

import re
import sys
import unicodedata
from collections.abc import Iterator
from enum import StrEnum
from pathlib import PurePosixPath

MAX_PATH = 4096
MAX_NAME = 255


class PatchError(Exception):
    """Why a patch is refused. `code` is stable; `EXPLANATIONS` of `evaluator/judge.py` explains each."""

    def __init__(self, code: str, detail: str = "") -> None:
        super().__init__(f"{code}: {detail}" if detail else code)
        self.code = code
        self.detail = detail


class PathClass(StrEnum):
    """`TEST`, `RUNNER` and `STARTUP` files decide what a test run means: they are the grader's alone."""

    SOURCE = "source"
    TEST = "test"
    RUNNER = "runner"
    """Configures or extends the test runner."""
    STARTUP = "startup"
    """Executed by the interpreter or the runner before the first test, unasked."""
    BUILD = "build"
    DATA = "data"
    DOC = "doc"
    COMPILED = "compiled"
    """Executable in place of the source beside it."""


# Ignored by HFS+ in a name, so that `.g\u200cit` is `.git` there.
_INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")


def refuse_illegal(path: str) -> None:
    """Checks one path of a patch, relative to the repository root.

    Raises:
        PatchError: `illegal_path`.
    """

    def refuse(why: str) -> PatchError:
        return PatchError("illegal_path", f"{why}: {path[:200]!r}")

    if not path or len(path.encode("utf-8", "replace")) > MAX_PATH:
        raise refuse("empty or over-long path")
    if path.startswith("/") or re.match(r"[A-Za-z]:", path):
        raise refuse("absolute path")
    if "\\" in path or any(unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp") for letter in path):
        raise refuse("control character or backslash in path")
    for name in path.split("/"):
        if name in ("", ".", "..") or len(name.encode()) > MAX_NAME:
            raise refuse("empty, dotted or over-long component")
        if _is_git_directory(name):
            raise refuse("repository metadata")


def _is_git_directory(name: str) -> bool:
    """Whether some file system would take `name` for `.git`: by case, short name, stream or trailing dots."""
    plain = _INVISIBLE.sub("", unicodedata.normalize("NFKC", name)).casefold()
    plain = plain.split(":")[0].rstrip(". ")
    return plain == ".git" or re.fullmatch(r"git~\d+", plain) is not None


def parents(path: str) -> Iterator[str]:
    """The directories above `path`, outermost first, without the root."""
    at = path.find("/")
    while at != -1:
        yield path[:at]
        at = path.find("/", at + 1)


MIXED = frozenset(("pyproject.toml", "setup.cfg", "tox.ini"))
"""Files that configure the runner in some of their sections and the project in others."""

_BY_NAME = {
    "conftest.py": PathClass.RUNNER,
    "pytest.ini": PathClass.RUNNER,
    ".pytest.ini": PathClass.RUNNER,
    "pytest.toml": PathClass.RUNNER,
    ".pytest.toml": PathClass.RUNNER,
    "noxfile.py": PathClass.RUNNER,
    "toxfile.py": PathClass.RUNNER,
    ".coveragerc": PathClass.RUNNER,
    ".coveragerc.toml": PathClass.RUNNER,
    "sitecustomize.py": PathClass.STARTUP,
    "usercustomize.py": PathClass.STARTUP,
    "entry_points.txt": PathClass.STARTUP,
    "pyvenv.cfg": PathClass.STARTUP,
    ".env": PathClass.STARTUP,
    ".envrc": PathClass.STARTUP,
    ".pdbrc": PathClass.STARTUP,
    "setup.py": PathClass.BUILD,
    "manifest.in": PathClass.BUILD,
    "meson.build": PathClass.BUILD,
    "makefile": PathClass.BUILD,
    "environment.yml": PathClass.BUILD,
    "pipfile": PathClass.BUILD,
    **dict.fromkeys(MIXED, PathClass.BUILD),
}
_BY_SUFFIX = {
    **dict.fromkeys((".pyc", ".pyo", ".so", ".pyd", ".dll", ".dylib"), PathClass.COMPILED),
    **dict.fromkeys((".pth", ".egg-link"), PathClass.STARTUP),
    **dict.fromkeys(
        (".pyx", ".pxd", ".pxi", ".c", ".cc", ".cpp", ".h", ".hpp", ".f", ".f90"), PathClass.BUILD
    ),
    **dict.fromkeys((".rst", ".md"), PathClass.DOC),
    **dict.fromkeys((".py", ".pyi"), PathClass.SOURCE),
}
_TEST_MODULE = re.compile(r"(test_.*|.*_test|tests)\.py")


def classify(path: str) -> PathClass:
    """The class of a file, by its name and place alone."""
    *directories, name = path.casefold().split("/")
    kind = _BY_NAME.get(name) or _BY_SUFFIX.get(PurePosixPath(name).suffix) or PathClass.DATA
    if "__pycache__" in directories:
        kind = PathClass.COMPILED
    elif any(part.endswith((".egg-info", ".dist-info")) for part in directories):
        kind = PathClass.STARTUP
    elif kind not in (PathClass.COMPILED, PathClass.RUNNER, PathClass.STARTUP):
        if (
            "tests" in directories
            or directories[:1] in (["test"], ["testing"])
            or _TEST_MODULE.fullmatch(name)
        ):
            kind = PathClass.TEST
        elif directories[:1] in (["doc"], ["docs"]):
            kind = PathClass.DOC
        elif name.startswith("requirements"):
            kind = PathClass.BUILD
    return kind


_RUNNER_MODULES = frozenset(
    ("pytest", "_pytest", "pluggy", "iniconfig", "py", "attr", "attrs", "packaging", "exceptiongroup")
).union(
    ("tomli", "toml", "six", "atomicwrites", "wcwidth", "more_itertools", "importlib_metadata", "zipp"),
    ("pathlib2", "funcsigs", "colorama", "pygments"),
)


def shadowed_module(path: str) -> str | None:
    """The top-level name a file at `path` would take from the standard library or the runner, or None.

    The repository root, `src` and `lib` are where tests find the project, hence ahead of other places. The
    name comes as a path (`src/json`), so that the caller can see whether the project had it all along.
    """
    if not path.endswith(".py"):
        return None
    parts = path.removesuffix(".py").split("/")
    root = 1 if len(parts) > 1 and parts[0] in ("src", "lib") else 0
    module = parts[root]
    if module in _RUNNER_MODULES or module.startswith("pytest_") or module in sys.stdlib_module_names:
        return "/".join(parts[: root + 1])
    return None
