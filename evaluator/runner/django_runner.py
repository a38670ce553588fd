"""Runs Django's own `tests/runtests.py`, any from 1.7 on; see `channel.py`, which comes before this text.

Started in the root of the repository. Whatever runs the suite makes a `unittest.TextTestRunner`, for which
ours stands in. The printed log stays as it is.

An id has two lines: `module.Class.method`, and what the log calls the test, which is the first line of its
docstring or else `method (module.Class)`. A test's body is all that unittest runs between start and stop.
"""

import runpy
import sys
import time
import traceback
import unittest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from evaluator.runner.channel import Channel, begin, end, excerpt

    Tests = unittest.TestSuite | unittest.TestCase

PROGRAM = "tests/runtests.py"
FAILED_TO_LOAD = "unittest.loader._FailedTest"


class Result(unittest.TextTestResult):
    """What the runner prints, and frames: one group for each test, when it has stopped."""

    channel = None  # type: Any

    def __init__(self, *args: "Any", **options: "Any") -> None:
        super().__init__(*args, **options)
        self.running = False
        self.outcomes = []  # type: list[dict[str, Any]]
        self.began = 0.0

    def name(self, test: "Any") -> str:
        return str(test.id()) + "\n" + self.getDescription(test).rpartition("\n")[2]

    def startTest(self, test: "Any") -> None:  # noqa: N802
        self.running = True
        self.outcomes = []
        self.began = time.monotonic()
        super().startTest(test)

    def stopTest(self, test: "Any") -> None:  # noqa: N802
        super().stopTest(test)
        self.running = False
        seconds = round(time.monotonic() - self.began, 4)
        name, skipped = self.name(test), "skip" in marks(test)
        self.report(name, "setup", outcome="skipped" if skipped else "passed")
        for outcome in () if skipped else self.outcomes:
            self.report(name, "call", seconds, **outcome)
        self.report(name, "teardown", outcome="passed")

    def report(self, name: str, when: str, seconds: float = 0.0, **facts: "Any") -> None:
        self.channel.send("test", id=name, when=when, seconds=seconds, **facts)

    def note(self, test: "Any", outcome: str, explanation: object, **facts: "Any") -> None:
        facts = dict(facts, outcome=outcome, excerpt=excerpt(explanation))
        if self.running:
            self.outcomes.append(facts)
        else:  # around a test, as Django's own set-up is, or around a class or module of them
            self.report(self.name(test), "setup", **facts)

    def addSuccess(self, test: "Any") -> None:  # noqa: N802
        super().addSuccess(test)
        self.outcomes.append({"outcome": "passed"})

    def addError(self, test: "Any", err: "Any") -> None:  # noqa: N802
        super().addError(test, err)
        self.note(test, "failed", trace(err))

    def addFailure(self, test: "Any", err: "Any") -> None:  # noqa: N802
        super().addFailure(test, err)
        self.note(test, "failed", trace(err))

    def addSubTest(self, test: "Any", subtest: "Any", err: "Any") -> None:  # noqa: N802
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.note(test, "failed", trace(err))

    def addSkip(self, test: "Any", reason: str) -> None:  # noqa: N802
        super().addSkip(test, reason)
        self.note(test, "skipped", reason)

    def addExpectedFailure(self, test: "Any", err: "Any") -> None:  # noqa: N802
        super().addExpectedFailure(test, err)
        self.note(test, "skipped", trace(err), xfail=True)

    def addUnexpectedSuccess(self, test: "Any") -> None:  # noqa: N802
        super().addUnexpectedSuccess(test)
        self.note(test, "failed", "unexpected success")


class Runner(unittest.TextTestRunner):
    """Announces the tests, then runs them. A runner that a test makes does neither."""

    resultclass = Result
    announced = False

    def run(self, test: "Tests") -> "Any":
        if Runner.announced:
            self.resultclass = unittest.TextTestResult  # type: ignore[assignment]
            return super().run(test)
        Runner.announced = True
        named = Result(self.stream, bool(self.descriptions), self.verbosity)
        tests = []  # type: list[list[object]]
        for case in cases(test):
            if case.id().startswith(FAILED_TO_LOAD):
                reason = getattr(case, "_exception", "")
                named.channel.send("broken", id=case.id(), outcome="failed", excerpt=excerpt(reason))
            else:
                tests.append([named.name(case), marks(case)])
        named.channel.send("collected", tests=tests)
        return super().run(test)


def cases(test: "Tests") -> "Iterator[unittest.TestCase]":
    if isinstance(test, unittest.TestSuite):
        for member in test:
            yield from cases(member)
    else:
        yield test


def marks(test: "Any") -> "list[str]":
    """Those that excuse the test from passing."""
    method = getattr(test, getattr(test, "_testMethodName", ""), None)
    found = []
    if getattr(type(test), "__unittest_skip__", False) or getattr(method, "__unittest_skip__", False):
        found.append("skip")
    if any(getattr(where, "__unittest_expecting_failure__", False) for where in (test, method)):
        found.append("xfail")
    return found


def trace(err: "Any") -> str:
    return "".join(traceback.format_exception(*err))


def perform(channel: "Channel") -> int:
    """The program's exit status; 2 where it broke."""
    try:
        runpy.run_path(PROGRAM, run_name="__main__")
    except SystemExit as left:
        return int(left.code) if isinstance(left.code, int) else int(left.code is not None)
    except BaseException:
        reason = traceback.format_exc()
        sys.stderr.write(reason)
        channel.send("broken", id=PROGRAM, outcome="failed", excerpt=excerpt(reason))
        return 2
    return 0


Result.channel, plan = begin()
unittest.TextTestRunner = unittest.runner.TextTestRunner = Runner  # type: ignore[misc]
sys.argv = [PROGRAM, *plan["args"]]
sys.path.insert(0, "tests")
Result.channel.send("start", python=sys.version.split()[0], files={"unittest": unittest.__file__}, plugins=[])
end(Result.channel, perform(Result.channel))
