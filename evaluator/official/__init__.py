"""The verdict the SWE-bench harness would give on the same log, release 5.0.2, quirks included.

    log ─ log.py: slice, parser, rejections ─> statuses ─ grading.py: expected ids ─> OfficialVerdict

It makes a number comparable with public ones, and it believes whatever the tested code prints: no reward may
depend on it. Every rule stands in one place, beside the part of the harness's package it matches; paths such
as `harness/grading.py` are relative to that package. `transcript` makes of one of our own runs the log that
an official evaluation of it would have left.
"""

from evaluator.official.grading import EvalType, OfficialVerdict, official_verdict
from evaluator.official.labels import Labels, relabel
from evaluator.official.transcript import exit_status_without, transcript

HARNESS = "swebench 5.0.2"
"""The release whose rules these are."""

__all__ = [
    "HARNESS",
    "EvalType",
    "Labels",
    "OfficialVerdict",
    "exit_status_without",
    "official_verdict",
    "relabel",
    "transcript",
]
