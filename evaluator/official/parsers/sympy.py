"""Logs of sympy's `bin/test --verbose`."""

from collections.abc import Iterator

from evaluator.official.parsers.lines import lines
from evaluator.official.parsers.status import ERROR, FAILED, PASSED

_ENDINGS = {" E": ERROR, " F": FAILED, " ok": PASSED}


def sympy(log: str) -> dict[str, str]:
    """`parse_log_sympy`: `test_x ok`, `F` or `E` under the bare name, failures also under `path.py:test_x`.

    Functions of one name in two files are one id, whose last line counts.
    """
    return dict.fromkeys(_headers(log), FAILED) | dict(_results(log))


def _headers(log: str) -> Iterator[str]:
    """From a failure's header, `____ sympy/core/tests/test_it.py:test_x ____`: what its outer spaces enclose.

    The harness finds them by `(_*) (.*)\\.py:(.*) (_*)`, which asks for no underscore at all.
    """
    for line in lines(log):
        first, last = line.find(" ") + 1, line.rfind(" ")
        if first and line.rfind(".py:", first, last) >= 0:
            yield line[first:last]


def _results(log: str) -> Iterator[tuple[str, str]]:
    for line in map(str.strip, lines(log)):
        if line.startswith("test_"):
            for ending, status in _ENDINGS.items():
                if line.endswith(ending):
                    yield line.split(maxsplit=1)[0], status
