"""A project small enough to know by heart: one bug, a test that shows it, two that pass before and after."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tasks.environment import Environment
from tasks.task import Task

FILES = {
    "calc/__init__.py": ("from calc.core import add, mul\n\n__all__ = ['add', 'mul']\n"),
    "calc/core.py": ("def add(a, b):\n    return a - b\n\n\ndef mul(a, b):\n    return a * b\n"),
    "tests/__init__.py": "",
    "tests/helper.py": "EXPECTED = 6\n",
    "tests/test_calc.py": (
        "from calc import mul\nfrom tests.helper import EXPECTED\n\n\n"
        "def test_mul():\n    assert mul(2, 3) == EXPECTED\n\n\n"
        "def test_zero():\n    assert mul(0, 3) == 0\n"
    ),
    "setup.py": "from setuptools import setup\n\nsetup(name='calc', version='1', packages=['calc'])\n",
    "setup.cfg": "[metadata]\nauthor = somebody\n\n[tool:pytest]\naddopts = -q\n",
    "README.md": "calc\n",
}
TEST_PATCH = """\
diff --git a/tests/test_add.py b/tests/test_add.py
new file mode 100644
--- /dev/null
+++ b/tests/test_add.py
@@ -0,0 +1,3 @@
+from calc import add
+def test_add():
+    assert add(2, 3) == 5
diff --git a/tests/test_calc.py b/tests/test_calc.py
--- a/tests/test_calc.py
+++ b/tests/test_calc.py
@@ -9,2 +9,2 @@
-def test_zero():
+def test_zero():  # of either side
     assert mul(0, 3) == 0
"""
GOLD = """\
diff --git a/calc/core.py b/calc/core.py
--- a/calc/core.py
+++ b/calc/core.py
@@ -1,5 +1,5 @@
 def add(a, b):
-    return a - b
+    return a + b
{0}
{0}
 def mul(a, b):
""".format(" ")
ENVIRONMENT = Environment(
    python="3.11",
    packages=("pytest==8.3.5", "pluggy==1.5.0", "iniconfig==2.0.0", "packaging==24.2"),
    log_parser="nodeid",
)


def task(**changes: object) -> Task:
    fields: dict[str, object] = {
        "instance_id": "toy__calc-1",
        "repo": "toy/calc",
        "base_commit": "0" * 40,
        "problem_statement": "add() subtracts",
        "patch": GOLD,
        "test_patch": TEST_PATCH,
        "FAIL_TO_PASS": ["tests/test_add.py::test_add"],
        "PASS_TO_PASS": ["tests/test_calc.py::test_mul", "tests/test_calc.py::test_zero"],
        "environment": ENVIRONMENT,
    }
    return Task.model_validate(fields | changes)


TASK = task()


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
        (folder / name).write_text(content)
    return Folder(folder)


def commit_of(files: Mapping[str, str]) -> str:
    """A commit of its own for each content, as prepared repositories are named by it."""
    return hashlib.sha1(repr(sorted(files.items())).encode()).hexdigest()


def new_file(path: str, content: str, mode: str = "100644") -> str:
    """A patch that creates `path`."""
    lines = content.splitlines()
    head = f"diff --git a/{path} b/{path}\nnew file mode {mode}\n--- /dev/null\n+++ b/{path}\n"
    return head + f"@@ -0,0 +1,{len(lines)} @@\n" + "".join(f"+{line}\n" for line in lines)


def rewritten(path: str, content: str) -> str:
    """A patch that replaces the whole of `path`."""
    old, new = FILES[path].splitlines(), content.splitlines()
    head = f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1,{len(old)} +1,{len(new)} @@\n"
    return head + "".join(f"-{line}\n" for line in old) + "".join(f"+{line}\n" for line in new)


def core(before: str = "", body: str = "    return a - b", after: str = "") -> str:
    """A patch of the buggy module: lines before, the body of `add`, lines after."""
    return rewritten(
        "calc/core.py", f"{before}\ndef add(a, b):\n{body}\n\n\ndef mul(a, b):\n    return a * b\n{after}\n"
    )
