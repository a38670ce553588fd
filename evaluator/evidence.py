"""What one run of the tests showed: everything the judge may look at, and nothing else."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sandbox.job import Hit


@dataclass(frozen=True)
class Expectation:
    """What was asked of the run. `must_pass` and `must_fail` are the node ids of the canaries."""

    fail_to_pass: tuple[str, ...]
    pass_to_pass: tuple[str, ...]
    log_parser: str
    must_pass: tuple[str, ...]
    must_fail: tuple[str, ...]
    ignored: tuple[str, ...] = ()
    """Ids among the dataset's pass-to-pass ids that name no test, left out of `pass_to_pass`."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """SHA-256 of the trusted files that the run may not change, by path."""
    patched: frozenset[str] = frozenset()
    """Files that are the patch's."""
    tests_its_runner: bool = False
    """The repository is that of the test runner, which may exchange parts of itself."""


@dataclass(frozen=True)
class Report:
    """One phase of one test, as the runner reported it."""

    node_id: str
    when: str
    """`setup`, `call` or `teardown`."""
    outcome: str
    """`passed`, `failed` or `skipped`."""
    xfail: bool = False
    seconds: float = 0.0
    excerpt: str = ""
    body: str | None = None
    """What the beacon said of the test's body before this report: the exception that ended it, or `""` for
    none. None where it was not heard."""


@dataclass(frozen=True)
class Broken:
    """A module that could not be collected (`failed`) or left itself out (`skipped`)."""

    node_id: str
    outcome: str
    excerpt: str = ""


@dataclass(frozen=True)
class Source:
    """A test module as the runner compiled it."""

    file: str
    sha256: str
    tests: tuple[str, ...]
    """Those that carry a beacon, as node ids without parameters."""


@dataclass(frozen=True)
class Session:
    """What the runner said on its own channel, as far as its frames are genuine and in sequence."""

    start: dict[str, Any] | None = None
    """Versions, files and plugins of the runner; None if it never began."""
    broken: tuple[Broken, ...] = ()
    collected: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Node ids in order, each with those of its marks that excuse a test (`skip`, `skipif`, `xfail`)."""
    reports: tuple[Report, ...] = ()
    status: int | None = None
    """What the runner returned; None if it never came to its end."""
    gap: str = ""
    """Why the rest of the frames was not read: one is missing, repeated or malformed. Else empty."""
    foreign_bytes: int = 0
    """Bytes on the channel that are no frames: something else wrote to it."""
    sources: tuple[Source, ...] = ()
    replaced: tuple[tuple[str, str], ...] = ()
    """Parts of the runner that were exchanged while it ran, each with the file of its new code."""


@dataclass(frozen=True)
class Evidence:
    """A session, with what the host observed of the process it ran in."""

    session: Session
    exit_status: int | None
    hits: frozenset[Hit]
    changed: tuple[str, ...] = ()
    """Trusted files that the host found changed after the run."""

    def to_json(self) -> dict[str, Any]:
        """JSON-serialisable. Tests that simply passed are one map from id to seconds."""
        session = self.session
        plain = self._plainly_passed()
        return {
            "exit_status": self.exit_status,
            "hits": sorted(self.hits),
            "start": session.start,
            "status": session.status,
            "gap": session.gap,
            "foreign_bytes": session.foreign_bytes,
            "replaced": [list(part) for part in session.replaced],
            "changed": list(self.changed),
            "beacons": sum(len(source.tests) for source in session.sources),
            "broken": [[broken.node_id, broken.outcome, broken.excerpt] for broken in session.broken],
            "collected": [node_id for node_id, _ in session.collected],
            "marks": {node_id: list(marks) for node_id, marks in session.collected if marks},
            "passed": plain,
            "reports": [
                [report.node_id, report.when, report.outcome, report.xfail, report.seconds, report.excerpt]
                for report in session.reports
                if report.node_id not in plain
            ],
        }

    def _plainly_passed(self) -> dict[str, float]:
        phases: dict[str, list[Report]] = {}
        for report in self.session.reports:
            phases.setdefault(report.node_id, []).append(report)
        return {
            node_id: round(sum(report.seconds for report in reports), 4)
            for node_id, reports in phases.items()
            if [report.when for report in reports] == ["setup", "call", "teardown"]
            and all(report.outcome == "passed" and not report.xfail for report in reports)
        }


def without_parameters(node_id: str) -> str:
    """The test function of a node id."""
    return node_id.partition("[")[0]
