"""Logs of pytest: the summary that `-rA` prints, and lines of `-v`."""

import re
from collections.abc import Iterator

from evaluator.official.parsers.lines import lines
from evaluator.official.parsers.status import FAILED, PASSED, SKIPPED, STATUSES

_COUNT = re.compile(r"\[\d+\]")
_COLOUR = re.compile(r"\[\d+m")
_CONTROL = dict.fromkeys(range(1, 32))


def pytest(log: str) -> dict[str, str]:
    """`parse_log_pytest`: the first word of a line that starts with a status, of the word after it.

    So ids end at their first space, output of the tested program is read like a summary, and a first word
    such as `PASSED:` is a status of its own.
    """
    return dict(_summary(log))


def pytest_options(log: str) -> dict[str, str]:
    """`parse_log_pytest_options`: as `pytest`, but paths among the parameters are their last part only."""
    return {_last_part(name): status for name, status in _summary(log)}


def matplotlib(log: str) -> dict[str, str]:
    """`parse_log_matplotlib`: as `pytest`, with mouse buttons as the numbers older versions printed."""
    return pytest(log.replace("MouseButton.LEFT", "1").replace("MouseButton.RIGHT", "3"))


def pytest_v2(log: str) -> dict[str, str]:
    """`parse_log_pytest_v2`: whole ids, spaces and all, without colours and other control characters.

    Also lines of `-v`, which end with the status.
    """
    statuses = {}
    for raw in lines(log):
        line = _COLOUR.sub("", raw).translate(_CONTROL)
        if line.startswith(STATUSES):
            if line.startswith(FAILED):
                line = line.partition(" - ")[0]
            status, *name = line.split()
            if name and not _counts_skips(status, name[0]):
                statuses[" ".join(name)] = status
        elif line.endswith(STATUSES):
            *name, status = line.split()
            if name:
                statuses[" ".join(name)] = status
    return statuses


def seaborn(log: str) -> dict[str, str]:
    """`parse_log_seaborn`: passes and failures only, of the summary and of lines `id PASSED …`."""
    statuses = {}
    for line in lines(log):
        match line.split(maxsplit=2):
            case [_, name, *_] if line.startswith(FAILED):
                statuses[name] = FAILED
            case [name, status, *_] if f" {PASSED} " in line:
                if status == PASSED:
                    statuses[name] = PASSED
            case [_, name, *_] if line.startswith(PASSED):
                statuses[name] = PASSED
    return statuses


def _summary(log: str) -> Iterator[tuple[str, str]]:
    for line in lines(log):
        if not line.startswith(STATUSES):
            continue
        match (line.replace(" - ", " ") if line.startswith(FAILED) else line).split(maxsplit=2):
            case [status, name, *_] if not _counts_skips(status, name):
                yield name, status


def _counts_skips(status: str, name: str) -> bool:
    """`SKIPPED [2] tests/test_it.py:7: reason` names no test; `PASSED [100%]` is taken for one."""
    return status == SKIPPED and _COUNT.fullmatch(name) is not None


def _last_part(name: str) -> str:
    """`t[/a/b/c]` is `t[/c]`, unless it starts with `//` or holds a `*`. What follows `]` is lost."""
    start, end = name.find("["), name.rfind("]")
    if not 0 <= start < end:
        return name
    option = name[start + 1 : end]
    if option.startswith("/") and not option.startswith("//") and "*" not in option:
        option = "/" + option.rpartition("/")[2]
    return f"{name[:start]}[{option}]"
