"""What came of a run, as one record. Pure: the same ledger always gives the same summary."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import datetime
from statistics import median
from typing import Self

from pydantic import BaseModel, ConfigDict

from results.money import Amount, Bill, gpu_cost
from results.owed import keys, owed
from results.rates import Rate, resolve_rate
from results.record import Cost, Ledger, Official, RecordRow, Request, Usage, Verdict


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class Tokens(_Part):
    """Sums over all requests, wasted ones included. `reasoning` is contained in `output`."""

    input: int
    cached: int
    output: int
    reasoning: int
    unreported: int
    """Requests the provider reported no usage of."""

    @classmethod
    def of(cls, requests: Iterable[Request]) -> Self:
        usages = [request.usage for request in requests]
        known = [usage or Usage(0, 0, 0) for usage in usages]
        return cls(
            input=sum(usage.input for usage in known),
            cached=sum(usage.cached for usage in known),
            output=sum(usage.output for usage in known),
            reasoning=sum(usage.reasoning for usage in known),
            unreported=usages.count(None),
        )


class Stage(_Part):
    """Seconds of one stage, all attempts together and of the middle one."""

    name: str
    total_s: float
    median_s: float

    @classmethod
    def of(cls, name: str, seconds: list[float]) -> Self:
        return cls(name=name, total_s=sum(seconds), median_s=median(seconds) if seconds else 0.0)


class Named(_Part):
    """An attempt that counts in no rate, and why."""

    instance_id: str
    sample: int
    reason: str
    explanation: str


class Dispute(_Part):
    """An attempt on which the two verdicts disagree, with the reason of each."""

    instance_id: str
    sample: int
    verdict: Verdict
    reason: str
    official: Official
    official_reason: str


class Reason(_Part):
    verdict: Verdict
    reason: str
    count: int


class Repository(_Part):
    """One project's share of a run, `name` as the instance ids have it."""

    name: str
    done: int
    rate: Rate
    official_rate: Rate
    cost: Bill


class Summary(_Part):
    """Every number said of a run. Money and rates carry what is not known about them."""

    run_id: str
    name: str
    created_at: datetime
    finished_at: datetime | None
    dataset: str
    split: str
    taskset_digest: str
    tasks: int
    samples: int
    solver: str
    model: str
    """Empty where the solver asks none."""
    oracle: bool
    """The model was shown the files that the reference fix changes."""
    backend: str
    grader_version: str
    assay_version: str
    total: int
    """Attempts the run consists of."""
    done: int
    """Of those, with a lasting verdict."""
    to_solve: int
    to_grade: int
    verdicts: dict[Verdict, int]
    rate: Rate
    """Of the trusted verdict."""
    official: dict[Official, int]
    """Attempts by official-compatible verdict."""
    official_rate: Rate
    """As the SWE-bench harness would have it, over the same attempts. What is not known to be resolved is a
    failure; where nothing is known there is no rate."""
    disputes: tuple[Dispute, ...]
    bill: Bill
    cost: Amount
    cost_per_resolved: Amount
    cost_per_attempt: Amount
    costs: tuple[Cost, ...]
    """Of the run as a whole; contained in `bill`."""
    tokens: Tokens
    requests: dict[str, int]
    """How many requests ended which way, the commonest first."""
    stages: tuple[Stage, ...]
    """`model`, `build`, `queue`, `sandbox`, `tests`."""
    wall_s: float
    """Of all sessions together, each to the last thing it recorded."""
    sessions: int
    reasons: tuple[Reason, ...]
    flags: dict[str, int]
    quarantined: tuple[Named, ...]
    infra: tuple[Named, ...]
    repositories: tuple[Repository, ...]

    @property
    def resolved(self) -> int:
        return self.rate.resolved


def summarise(ledger: Ledger) -> Summary:
    """The summary of a run, finished or not."""
    config, requests = ledger.run.config, ledger.requests
    wanted = set(keys(config))
    records = [record for record in ledger.records if (record.instance_id, record.sample) in wanted]
    due = owed(config, ledger.attempts, records)
    held = gpu_cost(config, ledger.sessions, requests)
    costs = (*ledger.costs, held) if held else ledger.costs
    bill = Bill.of(requests, costs)
    rate = _rate(records)
    counts = Counter(record.verdict for record in records)
    official = Counter(record.official for record in records)
    reasons = Counter((record.verdict, record.reason) for record in records)
    return Summary(
        run_id=ledger.run.id,
        name=ledger.run.name,
        created_at=ledger.run.created_at,
        finished_at=None if due else ledger.run.finished_at,
        dataset=config.dataset,
        split=config.split,
        taskset_digest=config.taskset_digest,
        tasks=len(config.instances),
        samples=config.samples,
        solver=config.solver,
        model=str(config.solver_options.get("model") or ""),
        oracle=config.solver_options.get("context") == "oracle",
        backend=config.backend,
        grader_version=config.grader_version,
        assay_version=config.assay_version,
        total=len(wanted),
        done=len(wanted) - len(due),
        to_solve=len(due.solve),
        to_grade=len(due.grade),
        verdicts={verdict: counts[verdict] for verdict in Verdict},
        rate=rate,
        official={verdict: official[verdict] for verdict in Official},
        official_rate=_official_rate(records, _known(records)),
        disputes=_disputes(records),
        bill=bill,
        cost=bill.total,
        cost_per_resolved=bill.per(rate.resolved),
        cost_per_attempt=bill.per(len(ledger.attempts)),
        costs=costs,
        tokens=Tokens.of(requests),
        requests=dict(Counter(request.outcome for request in requests).most_common()),
        stages=_stages(records, requests),
        wall_s=sum((session.last_at - session.started_at).total_seconds() for session in ledger.sessions),
        sessions=len(ledger.sessions),
        reasons=tuple(
            Reason(verdict=verdict, reason=reason, count=count)
            for (verdict, reason), count in reasons.most_common()
        ),
        flags=dict(Counter(flag for record in records for flag in record.flags).most_common()),
        quarantined=_named(records, Verdict.TASK_QUARANTINED),
        infra=_named(records, Verdict.INFRA_ERROR),
        repositories=_repositories(records, requests),
    )


def _rate(records: Iterable[RecordRow]) -> Rate:
    return resolve_rate(
        (record.instance_id, record.verdict is Verdict.RESOLVED)
        for record in records
        if record.verdict.scored
    )


def _official_rate(records: Iterable[RecordRow], known: bool) -> Rate:
    return resolve_rate(
        (record.instance_id, record.official is Official.RESOLVED)
        for record in records
        if known and record.verdict.scored
    )


def _known(records: Iterable[RecordRow]) -> bool:
    """Whether the run was graded by a version that gives the second verdict."""
    return any(record.official.known for record in records)


def _disputes(records: Iterable[RecordRow]) -> tuple[Dispute, ...]:
    return tuple(
        Dispute(**{name: getattr(record, name) for name in Dispute.model_fields})
        for record in _in_order(records)
        if record.disputed
    )


def _in_order(records: Iterable[RecordRow]) -> list[RecordRow]:
    return sorted(records, key=lambda record: (record.instance_id, record.sample))


def _stages(records: list[RecordRow], requests: Iterable[Request]) -> tuple[Stage, ...]:
    return (
        Stage.of("model", [request.seconds for request in requests]),
        Stage.of("build", [record.spent.build for record in records]),
        Stage.of("queue", [record.spent.queue for record in records]),
        Stage.of("sandbox", [record.spent.sandbox for record in records]),
        Stage.of("tests", [record.spent.tests for record in records]),
    )


def _named(records: Iterable[RecordRow], verdict: Verdict) -> tuple[Named, ...]:
    return tuple(
        Named(
            instance_id=record.instance_id,
            sample=record.sample,
            reason=record.reason,
            explanation=record.explanation,
        )
        for record in _in_order(records)
        if record.verdict is verdict
    )


def _repositories(records: list[RecordRow], requests: Iterable[Request]) -> tuple[Repository, ...]:
    known = _known(records)
    by_name: dict[str, tuple[list[RecordRow], list[Request]]] = defaultdict(lambda: ([], []))
    for record in records:
        by_name[repository(record.instance_id)][0].append(record)
    for request in requests:
        by_name[repository(request.instance_id)][1].append(request)
    parts = (
        Repository(
            name=name,
            done=sum(record.verdict is not Verdict.INFRA_ERROR for record in judged),
            rate=_rate(judged),
            official_rate=_official_rate(judged, known),
            cost=Bill.of(asked),
        )
        for name, (judged, asked) in by_name.items()
    )
    return tuple(sorted(parts, key=lambda part: (-part.done, part.name)))


def repository(instance_id: str) -> str:
    """`psf/requests` of `psf__requests-6028`; an id spelled otherwise, up to its last hyphen."""
    return (instance_id.rpartition("-")[0] or instance_id).replace("__", "/")
