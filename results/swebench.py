"""A run as SWE-bench's own harness reports one (release 5, schema version 2).

By the official-compatible verdict, or by the trusted one:

    official             trusted                  theirs
    no attempt           no attempt               incomplete
    empty patch          empty patch              submitted, empty patch
    resolved             RESOLVED                 submitted, completed, resolved
    not_resolved         NOT_RESOLVED, TAMPERED   submitted, completed, unresolved
    not_graded, a log                             submitted, completed, unresolved
                         SUSPECT                  submitted, completed, unresolved + ambiguous failure
    not_graded, no log   INVALID_PATCH            submitted, error
    unknown, a fault     INFRA_ERROR              submitted, error + infra failure
    unknown otherwise    TASK_QUARANTINED         submitted, error + ambiguous failure
    no verdict yet       no verdict yet           submitted, error + ambiguous failure

As there, total = submitted + incomplete, submitted = completed + empty patch + error, and the last two kinds
of failure only annotate ids that are counted as unresolved or error.
"""

from collections import defaultdict
from collections.abc import Container
from typing import Any, Literal

from results.record import Ledger, Official, Record, RecordRow, Verdict

By = Literal["official", "trusted"]

_DOUBTFUL = ("error", "ambiguous_failure")
_TRUSTED: dict[Verdict, tuple[str, ...]] = {
    Verdict.RESOLVED: ("completed", "resolved"),
    Verdict.NOT_RESOLVED: ("completed", "unresolved"),
    Verdict.TAMPERED: ("completed", "unresolved"),
    Verdict.SUSPECT: ("completed", "unresolved", "ambiguous_failure"),
    Verdict.INVALID_PATCH: ("error",),
    Verdict.INFRA_ERROR: ("error", "infra_failure"),
    Verdict.TASK_QUARANTINED: _DOUBTFUL,
}
_NO_LOG = ("apply", "limit", "long_log", "crash")
"""Official reasons for which the harness, or what stands in for it here, leaves no report of the instance."""
_COUNTED = (
    "submitted",
    "completed",
    "resolved",
    "unresolved",
    "infra_failure",
    "ambiguous_failure",
    "empty_patch",
    "error",
)


def report(ledger: Ledger, empty: Container[str], sample: int = 0, by: By = "official") -> dict[str, Any]:
    """The run summary of one sample per task.

    Args:
        ledger: of the run.
        empty: instances whose patch is empty.
        sample: which one.
        by: which of the two verdicts.
    """
    attempted = {attempt.instance_id for attempt in ledger.attempts if attempt.sample == sample}
    records = {record.instance_id: record for record in ledger.records if record.sample == sample}
    ids: dict[str, list[str]] = defaultdict(list)
    reasons = {}
    for instance in sorted(ledger.run.config.instances):
        if instance not in attempted:
            ids["incomplete"].append(instance)
            continue
        record = records.get(instance)
        places = ("empty_patch",) if instance in empty else _places(record, by) if record else _DOUBTFUL
        for place in ("submitted", *places):
            ids[place].append(instance)
        if places[-1].endswith("_failure"):
            reasons[instance] = record.reason if record else "not graded yet"
    return {
        "total_instances": len(ledger.run.config.instances),
        **{f"{name}_instances": len(ids[name]) for name in _COUNTED},
        **{f"{name}_ids": ids[name] for name in (*_COUNTED, "incomplete")},
        "failure_reasons": reasons,
        "schema_version": 2,
    }


def completed(record: RecordRow, by: By = "official") -> bool:
    """Whether the harness would have left a `report.json` for it."""
    return "completed" in _places(record, by)


def instance_report(record: Record, by: By = "official") -> dict[str, Any]:
    """What the harness keeps in an instance's `report.json`; `tests_status` where the evidence has it."""
    status = record.evidence.get("tests_status")
    return {
        "patch_is_None": False,
        "patch_exists": bool(record.patch),
        "patch_successfully_applied": by == "trusted" or record.official is not Official.NOT_GRADED,
        "resolved": "resolved" in _places(record, by),
        "infra_failure": False,
        **({"tests_status": status} if status is not None else {}),
    }


def _places(record: RecordRow, by: By) -> tuple[str, ...]:
    if by == "trusted":
        return _TRUSTED[record.verdict]
    match record.official:
        case Official.RESOLVED:
            return "completed", "resolved"
        case Official.NOT_RESOLVED:
            return "completed", "unresolved"
        case Official.NOT_GRADED:
            return ("error",) if record.official_reason in _NO_LOG else ("completed", "unresolved")
        case _:
            return _TRUSTED[Verdict.INFRA_ERROR] if record.verdict is Verdict.INFRA_ERROR else _DOUBTFUL
