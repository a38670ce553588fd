"""The twins of a task: which there may be, a fresh one of those that were proven, several in one file.

What is offered here is found in the text alone. Each twin has to be proven by running: with the reference fix
exactly its targets fail, by assertion, and without it they fail as well.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from random import Random, SystemRandom

from evaluator.twins import always, contrary, loops, raises, rows, values
from evaluator.twins.expected import operands
from evaluator.twins.functions import LineStatus, TestFile, TestFunction, locate
from evaluator.twins.reader import Reader
from evaluator.twins.site import Operator, OperatorClass, Site, Twin
from evaluator.twins.source import Edit, apply_edits, syntax

PER_FUNCTION = 60
"""Sites offered of one function: the first in order, more than anybody proves."""
LARGEST_FUNCTION = 200_000
"""Bytes. What is larger is data, not a test."""
_STATUSES = (LineStatus.ADDED, LineStatus.TOUCHED, LineStatus.PUBLIC)


def candidates(
    files: Mapping[str, TestFile],
    fail_to_pass: Iterable[str],
    pass_to_pass: Iterable[str] = (),
    random: Random | None = None,
) -> tuple[Twin, ...]:
    """One twin for each place where a fail-to-pass test can be contradicted, the better ones first.

    Args:
        files: test files by path from the repository root, before and after the test patch.
        pass_to_pass: further ids that may run the same functions and would fail with them.
        random: source of fresh values; the operating system's by default.
    """
    random = random or SystemRandom()
    found = [
        twin
        for function in locate(files, fail_to_pass, pass_to_pass)
        for site in sites(function)
        if _holds(function, twin := site.draw(random))
    ]
    return tuple(sorted(found, key=lambda twin: _order(twin.site)))


def sites(function: TestFunction) -> tuple[Site, ...]:
    """The sites of one function in the order in which to try them."""
    if len(function.source.text(function.node)) > LARGEST_FUNCTION:
        return ()
    required = frozenset(function.required)
    found = {
        (site.operator, site.start, site.end, site.templates): site
        for site in _all_sites(function)
        if not required.isdisjoint(site.targets)
    }
    return tuple(sorted(found.values(), key=_order)[:PER_FUNCTION])


def _all_sites(function: TestFunction) -> Iterator[Site]:
    reader = Reader(function)
    expected = operands(reader)
    yield from values.sites(reader, expected)
    yield from loops.sites(reader, expected)
    yield from rows.sites(reader, expected)
    yield from raises.sites(reader)
    yield from contrary.sites(reader)
    yield from always.sites(reader)


def _order(site: Site) -> tuple[bool, int, int, bool, int]:
    status = _STATUSES.index(site.status)
    return (
        site.status is LineStatus.PUBLIC,
        site.operator.rank,
        status,
        not site.unconditional,
        site.start,
    )


def _holds(function: TestFunction, twin: Twin) -> bool:
    """Whether the edited function is Python."""
    source = function.source
    start = source.line_start(function.first_line)
    end = source.end(function.node)
    if any(edit.start < start or edit.end > end for edit in twin.edits):
        return False
    edited = apply_edits(source.content[:end], twin.edits)[start:]
    return syntax(b"if 1:\n" + edited if edited[:1] in b" \t" else edited) is not None


def draw(proven: Collection[Site], random: Random | None = None, used: Collection[Twin] = ()) -> Twin:
    """A twin at one of the proven sites: a fresh value where any value fails, at a site not used yet.

    Strong sites come before weak ones, those not used before those used, those surely reached before others.
    The value of a site that is not `free` has to be proven before it counts.

    Raises:
        ValueError: there is no site.
    """
    random = random or SystemRandom()
    if not proven:
        raise ValueError("no proven site to draw from")
    statements = {(twin.path, twin.site.statement) for twin in used}

    def merit(site: Site) -> tuple[bool, bool, bool, bool]:
        return site.strong, (site.path, site.statement) not in statements, site.unconditional, site.same_shape

    best = max(map(merit, proven))
    site = random.choice([site for site in proven if merit(site) == best])
    return site.draw(random, [twin.text for twin in used if twin.site == site])


def draw_round(
    proven: Collection[Site], random: Random | None = None, used: Collection[Twin] = ()
) -> tuple[Twin, ...]:
    """One twin in every function that has a proven site, for one run."""
    by_function: dict[tuple[str, str], list[Site]] = {}
    for site in proven:
        by_function.setdefault((site.path, site.function), []).append(site)
    return tuple(draw(group, random, used) for group in by_function.values())


def combine(
    files: Mapping[str, bytes], twins: Iterable[Twin], proven: Iterable[Site] = ()
) -> dict[str, bytes]:
    """The changed files with all these twins in them. Of several twins of one function the edits add up.

    Args:
        files: after the test patch.
        proven: sites whose pins have to be there as well; with no twins, the files of the real run.

    Raises:
        ValueError: edits overlap, or what comes out is not Python.
    """
    edits: dict[str, set[Edit]] = {}
    for site in proven:
        if site.pins:
            edits.setdefault(site.path, set()).update(site.pins)
    for twin in twins:
        edits.setdefault(twin.path, set()).update(twin.edits)
    changed = {path: apply_edits(files[path], of_file) for path, of_file in edits.items()}
    for path, content in changed.items():
        if syntax(content.removeprefix(b"\xef\xbb\xbf")) is None:
            raise ValueError(f"{path} is not Python with these twins")
    return changed


__all__ = [
    "LineStatus",
    "Operator",
    "OperatorClass",
    "Site",
    "TestFile",
    "Twin",
    "candidates",
    "combine",
    "draw",
    "draw_round",
    "sites",
]
