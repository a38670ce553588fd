"""The facts of a run: what was asked, what it cost, what came of it. One frozen record per fact.

    Run ──< Session   one process at work on it: a run that was resumed has several
        ──< Request   one call that reached a model provider, billed whether or not it was of use
        ──< Cost      money spent on the run as a whole (GPU hours), not on one request
        ──< Attempt   one patch (or the lack of one) for one task and sample
        ──< Record    the verdict on that attempt, with everything needed to doubt it

`AttemptRow` and `RecordRow` are the same facts as a list shows them, without what lies in artefact files.
"""

from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict


class Verdict(StrEnum):
    """What an attempt is worth. `reason` of the record says why."""

    RESOLVED = "RESOLVED"
    NOT_RESOLVED = "NOT_RESOLVED"
    INVALID_PATCH = "INVALID_PATCH"
    TAMPERED = "TAMPERED"
    SUSPECT = "SUSPECT"
    INFRA_ERROR = "INFRA_ERROR"
    TASK_QUARANTINED = "TASK_QUARANTINED"

    @property
    def scored(self) -> bool:
        """Whether the attempt counts in a resolve rate: faults of ours and broken tasks do not."""
        return self not in (Verdict.INFRA_ERROR, Verdict.TASK_QUARANTINED)


class Official(StrEnum):
    """What the SWE-bench harness says of the same run. It believes the tested code: no reward rests on it."""

    RESOLVED = "resolved"
    NOT_RESOLVED = "not_resolved"
    NOT_GRADED = "not_graded"
    """The harness ends without a report; a leaderboard counts that as a failure."""
    NONE = ""
    """Unknown: no run, or a patch that was refused by stricter rules than the harness's."""

    @property
    def known(self) -> bool:
        return self is not Official.NONE


@dataclass(frozen=True)
class Usage:
    """Tokens of one request, in disjoint parts but for `reasoning`, which is contained in `output`."""

    input: int
    """Fresh input: the provider's prompt count without `cached`."""
    cached: int
    output: int
    reasoning: int = 0


@dataclass(frozen=True)
class Price:
    """US dollars per million tokens, and where the figures come from. Stored with each request it priced."""

    input: Decimal
    cached: Decimal
    output: Decimal
    source: str


@dataclass(frozen=True)
class Request:
    """One request to a model provider. `cost` is None when it is unknown, which is never the same as zero."""

    instance_id: str
    sample: int
    model: str
    started_at: datetime
    seconds: float
    outcome: str
    """`ok`, or what went wrong in a few words (`HTTP 429`, `connection reset`, `no usage reported`)."""
    usage: Usage | None
    price: Price | None
    cost: Decimal | None
    billable: bool = True
    """False when the provider can not have charged for it (never reached, or refused before any work)."""


@dataclass(frozen=True)
class Cost:
    """Dollars spent on a run as a whole: `kind` is a stable word (`gpu_held`), `detail` how it came about."""

    kind: str
    amount: Decimal
    detail: str


@dataclass(frozen=True)
class Session:
    """One process at work on a run, from taking the run to the last thing it wrote down."""

    host: str
    pid: int
    started_at: datetime
    last_at: datetime


@dataclass(frozen=True)
class AttemptRow:
    """An attempt as listed."""

    instance_id: str
    sample: int
    note: str
    seconds: float


@dataclass(frozen=True)
class Attempt:
    """What a solver came back with. An empty `patch` is an answer too; `note` says how it came about."""

    instance_id: str
    sample: int
    patch: str
    note: str = ""
    """Empty, or why there is no usable patch (`cut at the token limit`, `no diff in the answer`)."""
    seconds: float = 0.0
    transcript: tuple[dict[str, Any], ...] = ()
    """Messages exchanged, in order: `role`, `content`, and what the provider added."""


class Spent(BaseModel):
    """Where the seconds of one attempt went, as the host measured them."""

    model_config = ConfigDict(frozen=True)

    build: float = 0.0
    queue: float = 0.0
    sandbox: float = 0.0
    """Start and removal of the copy."""
    tests: float = 0.0
    cpu: float | None = None
    memory_peak_mb: float | None = None


@dataclass(frozen=True)
class RecordRow:
    """The verdict on one attempt, as listed. A later one of the same attempt (after a fault) replaces it."""

    instance_id: str
    sample: int
    verdict: Verdict
    reason: str
    """A stable code: `resolved`, `f2p_fail`, `p2p_regress`, `incomplete`, `timeout`, `apply`, `empty`, …"""
    explanation: str
    """One sentence for a person."""
    flags: tuple[str, ...]
    """Observations that change no verdict: `reverted_test_edit`, `fuzzy_apply`, …"""
    f2p_passed: int
    f2p_total: int
    p2p_passed: int
    p2p_total: int
    failed: tuple[str, ...]
    """Required test ids that did not pass, at most 50."""
    tries: int
    spent: Spent
    task_digest: str
    environment_digest: str
    patch_digest: str
    backend: str
    grader_version: str
    started_at: datetime
    official: Official = field(default=Official.NONE, kw_only=True)
    official_reason: str = field(default="", kw_only=True)
    """A stable code (`resolved`, `tests_failed`, `rejected`, `limit`, …); empty with `official`."""

    @property
    def disputed(self) -> bool:
        """Whether the two verdicts disagree on a fix; an unknown one disagrees with none."""
        return self.official.known and (self.official is Official.RESOLVED) != (
            self.verdict is Verdict.RESOLVED
        )


@dataclass(frozen=True)
class Record(RecordRow):
    """The verdict on one attempt with everything needed to doubt it. Append-only."""

    patch: str
    """The patch as submitted."""
    output: bytes
    """Test output, bounded, for people only."""
    evidence: dict[str, Any]
    """All the judge saw, JSON-serialisable."""


class RunConfig(BaseModel):
    """Everything that makes two runs comparable, or not. Resuming requires an equal one."""

    model_config = ConfigDict(frozen=True)

    dataset: str
    split: str = "test"
    taskset_digest: str
    instances: tuple[str, ...]
    samples: int = 1
    solver: str
    """`gold`, `noop`, `replay`, `oneshot`."""
    solver_options: dict[str, Any] = {}
    """What builds the solver again: model, base URL, temperature, context, predictions digest; no secrets."""
    backend: str
    backend_options: dict[str, Any] = {}
    """Base image, registry, namespace: what names an environment on this backend."""
    environments: str = "built"
    """`built` from facts, or `published` images."""
    repo_url: str = ""
    limits: dict[str, float] = {}
    grader_version: str
    assay_version: str


@dataclass(frozen=True)
class Run:
    """`finished_at` is None while attempts are owed."""

    id: str
    name: str
    created_at: datetime
    config: RunConfig
    finished_at: datetime | None = None
    tags: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class Ledger:
    """Everything listed about one run: of each task and sample the last record, of each request the end."""

    run: Run
    sessions: tuple[Session, ...]
    requests: tuple[Request, ...]
    costs: tuple[Cost, ...]
    attempts: tuple[AttemptRow, ...]
    records: tuple[RecordRow, ...]
