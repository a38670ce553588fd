"""Runs sympy's own `bin/test`, any from 0.7.2 on; see `channel.py`, which comes before this text.

Started in the root of the repository. The program makes a `PyTestReporter`, for which a subclass stands in.
The printed log stays as it is. An id is `path::function`.

What the tests of a file are is known only when it runs, so that frames are sent when all have run.
"""

import importlib
import os
import runpy
import sys
import time
import traceback

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from evaluator.runner.channel import Channel, begin, end, excerpt

PROGRAM = "bin/test"
RUNNER_MODULES = ("sympy.testing.runtests", "sympy.utilities.runtests")
"""By age, the youngest first."""


class Story:
    """What is to be told of the run."""

    def __init__(self) -> None:
        self.broken = []  # type: list[dict[str, str]]
        self.tests = []  # type: list[tuple[str, float, dict[str, Any]]]
        self.file = PROGRAM
        self.test = ""
        self.began = 0.0

    def enter(self, function: "Any") -> None:
        self.test = self.file + "::" + str(function.__name__)
        self.began = time.monotonic()

    def note(self, outcome: str, explanation: object = "", **facts: "Any") -> None:
        """The end of the present test, or of a file outside any."""
        facts = dict(facts, outcome=outcome, excerpt=excerpt(explanation))
        if self.test:
            self.tests.append((self.test, round(time.monotonic() - self.began, 4), facts))
        else:
            self.broken.append(dict(facts, id=self.file))
        self.test = ""

    def tell(self, channel: "Channel") -> None:
        for facts in self.broken:
            channel.send("broken", **facts)
        channel.send("collected", tests=[[name, []] for name, _, _ in self.tests])
        for name, seconds, facts in self.tests:
            channel.send("test", id=name, when="setup", outcome="passed", seconds=0.0)
            channel.send("test", id=name, when="call", seconds=seconds, **facts)
            channel.send("test", id=name, when="teardown", outcome="passed", seconds=0.0)


def reporter(base: "Any", story: Story) -> "Any":
    """A class like sympy's own that also tells `story`."""

    class Reporter(base):  # type: ignore[misc]
        def entering_filename(self, filename: str, n: int) -> None:
            story.file = os.path.relpath(filename)
            super().entering_filename(filename, n)

        def leaving_filename(self) -> None:
            super().leaving_filename()
            story.file = PROGRAM

        def entering_test(self, f: "Any") -> None:
            super().entering_test(f)
            story.enter(f)

        def test_pass(self, *args: "Any") -> None:
            super().test_pass(*args)
            story.note("passed")

        def test_fail(self, exc_info: "Any") -> None:
            super().test_fail(exc_info)
            story.note("failed", trace(exc_info))

        def test_exception(self, exc_info: "Any") -> None:
            super().test_exception(exc_info)
            story.note("failed", trace(exc_info))

        def test_skip(self, v: object = None) -> None:
            super().test_skip(v)
            story.note("skipped", v)

        def test_xfail(self) -> None:
            super().test_xfail()
            story.note("skipped", xfail=True)

        def test_xpass(self, v: object) -> None:
            super().test_xpass(v)
            story.note("passed", v, xfail=True)

        def import_error(self, filename: str, exc_info: "Any") -> None:
            super().import_error(filename, exc_info)
            story.file = os.path.relpath(filename)
            story.note("failed", trace(exc_info))

    return Reporter


def trace(exc_info: "Any") -> str:
    return "".join(traceback.format_exception(*exc_info))


def perform(story: Story) -> int:
    """The program's exit status; 2 where it broke."""
    try:
        module = runner_module()
        module.PyTestReporter = reporter(module.PyTestReporter, story)
        runpy.run_path(PROGRAM, run_name="__main__")
    except SystemExit as left:
        return int(left.code) if isinstance(left.code, int) else int(left.code is not None)
    except BaseException:
        reason = traceback.format_exc()
        sys.stderr.write(reason)
        story.broken.append({"id": PROGRAM, "outcome": "failed", "excerpt": excerpt(reason)})
        return 2
    return 0


def runner_module() -> "Any":
    for name in RUNNER_MODULES:
        try:
            return importlib.import_module(name)
        except ImportError as error:
            failure = error
    raise failure


channel, plan = begin()
arguments = plan["args"]
if "-C" in arguments or "--no-cache" in arguments:
    os.environ["SYMPY_USE_CACHE"] = "no"  # as the program does, which finds sympy imported already
sys.argv = [PROGRAM, *arguments]
sys.path.insert(0, "bin")
channel.send("start", python=sys.version.split()[0], files={}, plugins=[])
story = Story()
status = perform(story)
story.tell(channel)
end(channel, status)
