"""A run as SWE-bench's own harness reports one (release 5, schema version 2).

    ours                                        theirs
    no attempt                                  incomplete
    attempt with an empty patch                 submitted, empty patch
    RESOLVED                                    submitted, completed, resolved
    NOT_RESOLVED, TAMPERED                      submitted, completed, unresolved
    SUSPECT                                     submitted, completed, unresolved + ambiguous failure
    INVALID_PATCH                               submitted, error
    INFRA_ERROR                                 submitted, error + infra failure
    TASK_QUARANTINED, no verdict yet            submitted, error + ambiguous failure

As there, total = submitted + incomplete, submitted = completed + empty patch + error, and the last two kinds
of failure only annotate ids that are counted as unresolved or error.
"""

from collections import defaultdict
from collections.abc import Container
from typing import Any

from results.record import Ledger, Record, RecordRow, Verdict

_PLACES: dict[Verdict | None, tuple[str, ...]] = {
    Verdict.RESOLVED: ("completed", "resolved"),
    Verdict.NOT_RESOLVED: ("completed", "unresolved"),
    Verdict.TAMPERED: ("completed", "unresolved"),
    Verdict.SUSPECT: ("completed", "unresolved", "ambiguous_failure"),
    Verdict.INVALID_PATCH: ("error",),
    Verdict.INFRA_ERROR: ("error", "infra_failure"),
    Verdict.TASK_QUARANTINED: ("error", "ambiguous_failure"),
    None: ("error", "ambiguous_failure"),
}
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


def report(ledger: Ledger, empty: Container[str], sample: int = 0) -> dict[str, Any]:
    """The run summary of one sample per task.

    Args:
        ledger: of the run.
        empty: instances whose patch is empty.
        sample: which one.
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
        places = ("empty_patch",) if instance in empty else _PLACES[record.verdict if record else None]
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


def completed(record: RecordRow) -> bool:
    """Whether the harness would have left a `report.json` for it."""
    return "completed" in _PLACES[record.verdict]


def instance_report(record: Record) -> dict[str, Any]:
    """What the harness keeps in an instance's `report.json`; `tests_status` where the evidence has it."""
    status = record.evidence.get("tests_status")
    return {
        "patch_is_None": False,
        "patch_exists": bool(record.patch),
        "patch_successfully_applied": True,
        "resolved": record.verdict is Verdict.RESOLVED,
        "infra_failure": False,
        **({"tests_status": status} if status is not None else {}),
    }
