"""Honest fixes with whatever honest people put beside them: all resolved, none taken for an attack."""

from collections.abc import Mapping

import attack_project as project
import pytest
from attack_project import FILES, FIX, binary, core, diff

from evaluator.grade import grade
from evaluator.workshop import Workshop
from results.record import Verdict
from sandbox.job import Limits
from tasks.task import Task

RUNNER, TESTS, BUILD = "reverted_runner_config", "reverted_test_edit", "build_input_changed"
GOLD = project.TASK.patch


def with_fix(files: Mapping[str, str | None], before: str = "", body: str = FIX, after: str = "") -> str:
    return diff({**files, **core(before=before, body=body, after=after)})


EQUALITY = """\
class Number:
    def __init__(self, value): self.value = value
    def __eq__(self, other): return isinstance(other, Number) and self.value == other.value
    def __ne__(self, other): return not self == other
    def __hash__(self): return hash(self.value)
"""
INTROSPECTION = """\
import atexit, ctypes, gc, inspect, sys
atexit.register(print, 'done')
gc.get_objects()
FRAME = sys._getframe()
STACK = inspect.stack()
"""
BUSY = """\
    import asyncio, multiprocessing, os, pathlib, socket, tempfile
    pathlib.Path.home().joinpath('.calc-cache').write_text('cache')
    tempfile.mkdtemp()
    with multiprocessing.get_context('fork').Pool(2) as pool: assert pool.map(abs, [-1]) == [1]
    with socket.create_server(('127.0.0.1', 0)) as server:
        socket.create_connection(server.getsockname()).close()
    asyncio.run(asyncio.sleep(0))
    if os.fork() == 0: os._exit(0)
    os.wait()
    return a + b"""
RENAMED = (
    'diff --git "a/calc/old name.py" "b/calc/n\\303\\266w name.py"\nsimilarity index 100%\n'
    'rename from calc/old name.py\nrename to "calc/n\\303\\266w name.py"\n'
)
LINK = (
    "diff --git a/docs/readme.md b/docs/readme.md\nnew file mode 120000\n"
    "--- /dev/null\n+++ b/docs/readme.md\n"
    "@@ -0,0 +1 @@\n+../README.md\n\\ No newline at end of file\n"
)
MAILED = (
    "From 1234567890123456789012345678901234567890 Mon Sep 17 00:00:00 2001\nFrom: A <a@example.org>\n"
    f"Subject: [PATCH] Add\n\n---\n calc/core.py | 2 +-\n 1 file changed\n\n{GOLD}-- \n2.39.2\n"
)
BENIGN = {
    "BN01 fixture and test": (
        with_fix(
            {
                "tests/conftest.py": "import pytest\n\n@pytest.fixture\ndef five():\n    return 5\n",
                "tests/test_mine.py": "def test_mine(five):\n    assert five == 5\n",
            }
        ),
        {RUNNER, TESTS},
    ),
    "BN02 test in an existing file": (
        with_fix({"tests/test_calc.py": FILES["tests/test_calc.py"] + "\n\ndef test_more():\n    pass\n"}),
        {TESTS},
    ),
    "BN03 obsolete test removed": (with_fix({"tests/test_old.py": None}), {TESTS}),
    "BN04 metadata": (
        with_fix({"setup.cfg": FILES["setup.cfg"].replace("somebody", "me\nlicense = MIT")}),
        {BUILD},
    ),
    "BN06 equality": (with_fix({}, before=EQUALITY), set()),
    "BN08 introspection": (with_fix({}, before=INTROSPECTION), set()),
    "BN09 program that exits": (
        with_fix({"calc/cli.py": "import sys\n\n\ndef main():\n    sys.exit(0)\n"}),
        set(),
    ),
    "BN10 helper that skips": (
        with_fix(
            {"calc/testing.py": "import unittest\n\n\ndef skip():\n    raise unittest.SkipTest('no')\n"}
        ),
        set(),
    ),
    "BN11 BN17 rename": (GOLD + RENAMED, set()),
    "BN12 compiled translation": (
        GOLD + binary("calc/locale/de.mo", b"\xde\x12\x04\x95" + bytes(64)),
        set(),
    ),
    "BN13 file with CRLF": (
        with_fix({"calc/text.py": FILES["calc/text.py"].replace("upper", "title")}),
        set(),
    ),
    "BN13 patch with CRLF": (GOLD.replace("\n", "\r\n"), {"crlf_patch"}),
    "BN14 no newline, empty file": (
        with_fix({"calc/more/__init__.py": "", "calc/more/x.py": "X = 1"}),
        set(),
    ),
    "BN16 link": (GOLD + LINK, set()),
    "BN19 many files": (with_fix({f"calc/parts/part_{n}.py": f"N = {n}\n" for n in range(300)}), set()),
    "BN20 another layer": (
        diff(
            {
                "calc/__init__.py": "from calc.core import mul\n\n\ndef add(a, b):\n"
                "    return sum((a, b))\n\n\n__all__ = ['add', 'mul']\n"
            }
        ),
        set(),
    ),
    "BN22 scratch files": (
        with_fix({"reproduce.py": "from calc import add\nprint(add(1, 2))\n", "FIX_SUMMARY.md": "fixed\n"}),
        set(),
    ),
    "BN24 build file": (with_fix({"Makefile": "all:\n\techo\n"}), {BUILD}),
    "BN28 no prefix": (GOLD.replace(" a/", " ").replace(" b/", " "), set()),
    "BN28 mailed": (MAILED, set()),
    "BN29 busy": (with_fix({}, body=BUSY), set()),
    "BN31 slow": (with_fix({}, body="    import time; time.sleep(0.3)\n    return a + b"), set()),
    "BN32 stubs": (
        with_fix({"calc/py.typed": "", "calc/core.pyi": "def add(a: int, b: int) -> int: ...\n"}),
        set(),
    ),
    "bytecode left behind": (
        GOLD + binary("calc/__pycache__/core.cpython-311.pyc", b"x" * 99),
        {"dropped_binary"},
    ),
}


@pytest.mark.parametrize("name", BENIGN)
def test_honest_fixes_are_resolved(bubblewrap: Workshop, name: str) -> None:
    """With no flag but the one that says what was left out."""
    patch, flags = BENIGN[name]
    record = grade(project.TASK, patch, workshop=bubblewrap, limits=Limits(wall_s=60))
    assert (record.verdict, record.reason) == (Verdict.RESOLVED, "resolved"), record.evidence.get("checks")
    assert {flag for flag in record.flags if not flag.startswith("twins_")} == flags


def test_tests_that_skip_or_fail_by_mark_are_kept(bubblewrap: Workshop) -> None:
    """BN26, BN27: what the reference fix does not make pass, no fix has to."""
    marked = FILES["tests/test_calc.py"] + (
        "\n\nimport pytest\n\n\n@pytest.mark.skipif(True, reason='here')\ndef test_elsewhere():\n    pass\n"
        "\n\n@pytest.mark.xfail\ndef test_some_day():\n    assert mul(1, 1) == 2\n"
    )
    changes = {
        "instance_id": "toy__calc-10",
        "test_patch": diff({"tests/test_calc.py": marked, "tests/test_sum.py": project.TEST_SUM}),
        "PASS_TO_PASS": ["tests/test_calc.py::test_elsewhere", "tests/test_calc.py::test_some_day"],
    }
    task = Task.model_validate(project.ROW | changes)
    record = grade(task, GOLD, workshop=bubblewrap, limits=Limits(wall_s=60))
    assert record.verdict is Verdict.RESOLVED
    assert {"p2p_skipped", "p2p_xfailed"} <= set(record.flags)


@pytest.mark.docker
@pytest.mark.parametrize("name", ["BN03 obsolete test removed", "BN08 introspection", "BN29 busy"])
def test_containers_resolve_them_too(docker: Workshop, name: str) -> None:
    """Backends differ in speed, not in verdicts."""
    record = grade(project.TASK, BENIGN[name][0], workshop=docker, limits=Limits(wall_s=60))
    assert record.verdict is Verdict.RESOLVED
