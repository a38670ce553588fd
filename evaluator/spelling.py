"""Test ids as datasets spell them, and the test runner's node ids they stand for.

Datasets took their ids from the log parsers of the SWE-bench harness (5.0.2,
`swebench/harness/log_parsers/python.py`), which cut and rewrite what the runner prints. A required id
therefore names every collected test whose node id is spelled so, and all of them have to pass. Most name one.
"""

import re
from collections.abc import Iterable, Mapping

NODE_IDS = "nodeid"
"""Not a parser of the harness: ids are node ids, unchanged."""

_WHOLE = frozenset(("pytest_v2", "astropy", "scikit", "sphinx"))
_SHORT_OPTIONS = frozenset(("pytest_options", "requests", "pylint", "pydicom"))
_PATH_OPTION = re.compile(r"(?s)(.*?)\[(/(?!/)[^*]*)\]")


def spell(node_id: str, log_parser: str) -> str:
    """The dataset's spelling of a node id.

    Args:
        log_parser: `nodeid`, or a harness parser's name without `parse_log_`.
    """
    if log_parser == NODE_IDS:
        return node_id
    if log_parser == "django":
        return node_id.rpartition("\n")[2].partition(" ... ")[0].strip()
    if log_parser == "sympy":
        return node_id.rpartition("::")[2]
    if log_parser in _WHOLE:
        return re.sub(r"[\x00-\x1f\x7f]", "", node_id).strip()
    if log_parser == "matplotlib":
        node_id = node_id.replace("MouseButton.LEFT", "1").replace("MouseButton.RIGHT", "3")
    word = (node_id.split(maxsplit=1) or [""])[0]
    if log_parser in _SHORT_OPTIONS and (match := _PATH_OPTION.match(word)):
        return f"{match[1]}[/{match[2].rsplit('/', 1)[-1]}]"
    return word


def match_ids(
    required: Iterable[str], node_ids: Iterable[str], log_parser: str
) -> Mapping[str, tuple[str, ...]]:
    """The node ids each required id stands for; an empty tuple where there is none.

    An id with more `[` than `]` was cut at a space inside its parameters: it stands for every id it begins,
    unless one is spelled exactly so.
    """
    by_spelling: dict[str, list[str]] = {}
    for node_id in dict.fromkeys(node_ids):
        by_spelling.setdefault(spell(node_id, log_parser), []).append(node_id)
    matches: dict[str, tuple[str, ...]] = {}
    for test_id in required:
        found = by_spelling.get(test_id, [])
        if not found and log_parser != NODE_IDS and test_id.count("[") > test_id.count("]"):
            found = [
                node_id
                for spelling, named in by_spelling.items()
                if spelling.startswith(test_id)
                for node_id in named
            ]
        matches[test_id] = tuple(found)
    return matches
