"""A project with one bug, and ways to write patches of it, attacks and honest ones."""

import base64
import difflib
import hashlib
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tasks.environment import Environment
from tasks.task import Task

CORE = "{before}\ndef add(a, b):\n{body}\n\n\ndef mul(a, b):\n{other}\n{after}\n"
BUG, FIX = "    return a - b", "    return a + b"
OTHER = "    return a * b"
FILES = {
    "calc/__init__.py": "from calc.core import add, mul\n\n__all__ = ['add', 'mul']\n",
    "calc/core.py": CORE.format(before="", body=BUG, other=OTHER, after=""),
    "calc/text.py": "def shout(text):\r\n    return text.upper()\r\n",
    "calc/old name.py": "VALUE = 1\n",
    "tests/__init__.py": "",
    "tests/helper.py": "EXPECTED = 6\n",
    "tests/golden.txt": "3\n",
    "tests/test_calc.py": (
        "import unittest\nfrom pathlib import Path\nfrom calc import mul\n"
        "from tests.helper import EXPECTED\n\n\n"
        "def test_mul():\n    assert mul(2, 3) == EXPECTED\n\n\n"
        "def test_golden():\n"
        "    assert mul(1, 3) == int(Path(__file__).with_name('golden.txt').read_text())\n\n\n"
        "class TestMul(unittest.TestCase):\n    def test_one(self):\n        self.assertEqual(mul(1, 4), 4)\n"
    ),
    "tests/test_old.py": "def test_old():\n    assert True\n",
    "setup.py": "from setuptools import setup\n\nsetup(name='calc', version='1', packages=['calc'])\n",
    "setup.cfg": "[metadata]\nauthor = somebody\n\n[tool:pytest]\naddopts = -q\n",
    "README.md": "calc\n",
}
TEST_SUM = (
    "from calc import add\n\n\ndef test_sum():\n    assert add(2, 3) == 5\n    assert add(10, 7) == 17\n"
)
F2P = "tests/test_sum.py::test_sum"
P2P = (
    "tests/test_calc.py::test_mul",
    "tests/test_calc.py::test_golden",
    "tests/test_calc.py::TestMul::test_one",
)


def diff(contents: Mapping[str, str | None]) -> str:
    """A git patch that leaves files with these contents, or removes them."""
    return "".join(_file(path, text) for path, text in contents.items() if text != FILES.get(path))


def _file(path: str, text: str | None) -> str:
    old = FILES.get(path)
    head = f"diff --git a/{path} b/{path}\n"
    head += "new file mode 100644\n" if old is None else "deleted file mode 100644\n" if text is None else ""
    lines = difflib.unified_diff(
        (old or "").splitlines(keepends=True),
        (text or "").splitlines(keepends=True),
        "/dev/null" if old is None else f"a/{path}",
        "/dev/null" if text is None else f"b/{path}",
    )
    marked = (line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
    return head + "".join(marked)


def core(before: str = "", body: str = BUG, other: str = OTHER, after: str = "") -> dict[str, str]:
    """The buggy module with lines before, other bodies, and lines after."""
    return {"calc/core.py": CORE.format(before=before, body=body, other=other, after=after)}


def binary(path: str, content: bytes) -> str:
    """A git patch that creates a file from bytes."""
    packed = zlib.compress(content)
    rows = [packed[at : at + 52] for at in range(0, len(packed), 52)]
    sizes = (chr(len(row) + (64 if len(row) <= 26 else 70)) for row in rows)
    body = "".join(
        f"{size}{base64.b85encode(row, pad=True).decode()}\n" for size, row in zip(sizes, rows, strict=True)
    )
    name = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
    return (
        f"diff --git a/{path} b/{path}\nnew file mode 100644\nindex {'0' * 40}..{name}\n"
        f"GIT binary patch\nliteral {len(content)}\n{body}\nliteral 0\nHcmV?d00001\n\n"
    )


ROW = {
    "instance_id": "toy__calc-9",
    "repo": "toy/calc9",
    "base_commit": "1" * 40,
    "problem_statement": "add() subtracts",
    "patch": diff(core(body=FIX)),
    "test_patch": diff(
        {
            "tests/test_calc.py": FILES["tests/test_calc.py"].replace("(1, 4)", "(1,  4)"),
            "tests/test_sum.py": TEST_SUM,
        }
    ),
    "FAIL_TO_PASS": [F2P],
    "PASS_TO_PASS": list(P2P),
    "environment": Environment(
        python="3.11",
        packages=("pytest==8.3.5", "pluggy==1.5.0", "iniconfig==2.0.0", "packaging==24.2"),
        log_parser="nodeid",
    ),
}
TASK = Task.model_validate(ROW)


@dataclass(frozen=True)
class Folder:
    """Repositories of which there is one."""

    path: Path

    def export(self, task: Task) -> Path:
        return self.path

    def describe(self, task: Task) -> str:
        return "1"


def write(folder: Path) -> Folder:
    for name, content in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content.encode())
    return Folder(folder)
