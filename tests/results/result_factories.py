"""Records of runs that never were."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from results.record import (
    Attempt,
    AttemptRow,
    Cost,
    Ledger,
    Official,
    Price,
    Record,
    RecordRow,
    Request,
    Run,
    RunConfig,
    Session,
    Spent,
    Usage,
    Verdict,
)

OFFICIAL = {
    Verdict.RESOLVED: (Official.RESOLVED, "resolved"),
    Verdict.NOT_RESOLVED: (Official.NOT_RESOLVED, "tests_failed"),
    Verdict.TAMPERED: (Official.NOT_RESOLVED, "tests_failed"),
    Verdict.SUSPECT: (Official.NOT_RESOLVED, "tests_failed"),
    Verdict.INVALID_PATCH: (Official.NOT_GRADED, "apply"),
}
"""What the harness says where the two verdicts agree."""

START = datetime(2026, 11, 30, 15, 42, tzinfo=UTC)


def a_config(tasks: int = 3, **changes: Any) -> RunConfig:
    values: dict[str, Any] = {
        "dataset": "starter",
        "taskset_digest": "0123456789abcdef" * 4,
        "instances": tuple(f"psf__requests-{number}" for number in range(tasks)),
        "solver": "oneshot",
        "solver_options": {"model": "acme/coder-7b"},
        "backend": "bubblewrap",
        "grader_version": "1",
        "assay_version": "0.1.0",
    }
    return RunConfig(**(values | changes))


def a_record(instance: str = "psf__requests-0", sample: int = 0, **changes: Any) -> Record:
    record = Record(
        instance_id=instance,
        sample=sample,
        verdict=Verdict.RESOLVED,
        reason="resolved",
        explanation="Every required test passes.",
        flags=(),
        f2p_passed=1,
        f2p_total=1,
        p2p_passed=2,
        p2p_total=2,
        failed=(),
        tries=1,
        spent=Spent(build=0.0, queue=0.5, sandbox=0.1, tests=2.0),
        task_digest="t",
        environment_digest="e",
        patch_digest="p",
        backend="bubblewrap",
        grader_version="1",
        started_at=START,
        patch="--- a/x\n+++ b/x\n",
        output=b"1 passed\n",
        evidence={"exit_status": 1},
    )
    official, reason = OFFICIAL.get(changes.get("verdict", Verdict.RESOLVED), (Official.NONE, ""))
    return replace(record, **({"official": official, "official_reason": reason} | changes))


def a_row(instance: str, sample: int = 0, verdict: Verdict = Verdict.RESOLVED, **changes: Any) -> RecordRow:
    reason = "resolved" if verdict is Verdict.RESOLVED else verdict.value.lower()
    return a_record(instance, sample, **({"verdict": verdict, "reason": reason} | changes))


def an_attempt(instance: str = "psf__requests-0", sample: int = 0, **changes: Any) -> Attempt:
    return replace(Attempt(instance, sample, patch="--- a/x\n+++ b/x\n", seconds=1.5), **changes)


def a_request(instance: str = "psf__requests-0", sample: int = 0, **changes: Any) -> Request:
    request = Request(
        instance_id=instance,
        sample=sample,
        model="acme/coder-7b",
        started_at=START,
        seconds=4.0,
        outcome="ok",
        usage=Usage(input=1000, cached=200, output=300, reasoning=100),
        price=Price(Decimal("1"), Decimal("0.1"), Decimal("4"), "given on the command line"),
        cost=Decimal("0.00222"),
    )
    return replace(request, **changes)


def a_ledger(
    config: RunConfig | None = None,
    records: tuple[RecordRow, ...] = (),
    requests: tuple[Request, ...] = (),
    costs: tuple[Cost, ...] = (),
    attempts: tuple[AttemptRow, ...] | None = None,
) -> Ledger:
    if attempts is None:
        attempts = tuple(AttemptRow(record.instance_id, record.sample, "", 1.0) for record in records)
    return Ledger(
        run=Run("20261130-1542-oneshot-ab12", "oneshot", START, config or a_config()),
        sessions=(Session("host", 1, START, START + timedelta(seconds=90)),),
        requests=requests,
        costs=costs,
        attempts=attempts,
        records=records,
    )
