"""Logs of Django's `runtests.py --verbosity 2`, which tests write into as they run."""

import re
from collections.abc import Iterator

from evaluator.official.parsers.lines import lines
from evaluator.official.parsers.status import ERROR, FAILED, PASSED, SKIPPED, ParserCrash

_PASSED = (" ... ok", " ... OK", " ...  OK")
_FAILED = {FAILED: (" ... FAIL", "FAIL:"), ERROR: (" ... ERROR", "ERROR:")}
_HEADERS = ("FAIL:", "ERROR:")

_VERSIONS = "--version is equivalent to version"
"""Docstring of a test whose output lies between its name and its result."""

_MIGRATION = "Applying sites.0002_alter_domain_unique...test_no_migrations"
"""A message that a test's name was printed after."""

_CHECKED = re.compile(r"\s\.\.\.\sSystem check identified no issues \(0 silenced\)\nok(?:\n|\Z)")
_TESTING = re.compile(r"\s\.\.\.\sTesting against Django installed in ")
_TESTING_END = re.compile(r" silenced\)\.\nok(?:\n|\Z)")
_SERVER_ERROR = re.compile(r"\s\.\.\.\sInternal Server Error: /")
_OK_LINE = re.compile(r"\nok(?:\n|\Z)")


def django(log: str) -> dict[str, str]:
    """`parse_log_django`: an id is all that stands before ` ... `, be it a test's name or its docstring.

    Raises:
        ParserCrash: a line is nothing but `FAIL:` or `ERROR:`.
    """
    statuses = dict(_results(log))
    for names in (_passed_after_version(log), _passed_after_server_error(log), _passed_after_check(log)):
        statuses |= dict.fromkeys(names, PASSED)
    return statuses


def _results(log: str) -> Iterator[tuple[str, str]]:
    last = None
    for line in map(str.strip, lines(log)):
        if _VERSIONS in line:
            yield _VERSIONS, PASSED
        name, dots, _ = line.partition(" ... ")
        if dots:
            last = name
        if dots or line.startswith(_HEADERS):
            yield from _result(line)
        if line.startswith("ok") and last is not None:
            yield last, PASSED


def _result(line: str) -> Iterator[tuple[str, str]]:
    """What a line says by itself. It may say several things; the last one counts."""
    for ending in _PASSED:
        if line.endswith(ending):
            if line.startswith(_MIGRATION):
                line = line.partition("...")[2].strip()  # the rules below see it so, too
            yield line.removesuffix(ending), PASSED
            break
    name, skipped, _ = line.partition(" ... skipped")
    if skipped:
        yield name, SKIPPED
    for status, (ending, header) in _FAILED.items():
        if line.endswith(ending):
            yield line.partition(ending)[0], status
        if line.startswith(header):
            words = line.split(maxsplit=2)
            if len(words) < 2:
                raise ParserCrash
            yield words[1], status


# Names of tests whose ` ... ok` a message of several lines has broken in two. The harness finds them by
# regular expressions that start at a line's start, reach from the first ` ... ` with the message behind it to
# the end of an `ok` line, and do not overlap.


def _passed_after_version(log: str) -> Iterator[str]:
    """`name ... Testing against Django installed in … silenced).` and `ok`, with any lines between."""
    position = 0
    while (message := _TESTING.search(log, position)) and (end := _TESTING_END.search(log, message.end())):
        yield _line_before(log, message.start())
        position = end.end()


def _passed_after_server_error(log: str) -> Iterator[str]:
    """`name ... Internal Server Error: /…/` and `ok`."""
    position = line_end = 0
    while message := _SERVER_ERROR.search(log, position):
        position = message.end()
        if line_end < position and (line_end := log.find("\n", position)) < 0:
            return
        if log.endswith("/", position, line_end) and (ok := _OK_LINE.match(log, line_end)):
            yield _line_before(log, message.start())
            position = ok.end()


def _passed_after_check(log: str) -> Iterator[str]:
    """`name ... System check identified no issues (0 silenced)` and `ok`."""
    for message in _CHECKED.finditer(log):
        yield _line_before(log, message.start())


def _line_before(log: str, end: int) -> str:
    return log[log.rfind("\n", 0, end) + 1 : end]
