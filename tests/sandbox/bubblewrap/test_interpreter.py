"""Finding and copying interpreters."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox import interpreter
from tasks.errors import SourceError


def known(version):
    return interpreter.Interpreter(version, Path("p"), Path("l"), Path("h"), None)


@pytest.mark.parametrize(("wanted", "best"), [("3.9.20", 18), ("3.9.3", 2), ("3.9.9", 10), ("3.9", 18)])
def test_the_closest_patch_release_serves(wanted, best):
    """The nearest patch release is taken, the later of two as near, and the latest when none is named."""
    found = [known((3, 9, patch)) for patch in (2, 8, 10, 18)]
    target = interpreter.parse(wanted)
    assert min(found, key=lambda one: interpreter.distance(one, target)).version[2] == best


def test_a_copy_needs_nothing_of_the_original(box, prepared):
    """The copied interpreter, wherever it is put, uses its own library."""
    prefix = next((box.cache / "pythons").glob("3.*"))
    moved = box.cache / "moved"
    shutil.copytree(prefix, moved, symlinks=True)
    program = "import os, ssl, sqlite3; print(os.__file__)"
    answer = subprocess.run(
        [moved / "bin/python", "-I", "-c", program], capture_output=True, text=True, check=True
    )
    assert Path(answer.stdout.strip()).is_relative_to(moved)


def test_what_is_no_version_is_refused(tmp_path):
    """A version is two or three numbers."""
    with pytest.raises(SourceError, match="no Python version"):
        interpreter.provide("python3", tmp_path)


def test_a_version_nobody_has_is_refused(tmp_path):
    """When no such CPython is here and none can be fetched, the error says what to do."""
    with pytest.raises(SourceError, match=r"no CPython 3\.2") as failure:
        interpreter.provide("3.2", tmp_path, [Path(sys.executable), Path("/bin/true")])
    assert "PATH" in failure.value.remedy
