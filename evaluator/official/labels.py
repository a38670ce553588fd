"""Revisions of the official labels within 2026.

The rows of August dropped six ids from the PASS_TO_PASS lists of two instances (`data/SWE-bench_Verified` and
`data/SWE-bench` in the harness's repository, before and after). Nothing else changed. The harness 5.0.2 goes
with the lists of August; verdicts published before then were made with those of March.
"""

from collections.abc import Iterable
from typing import Literal

Labels = Literal["2026-08", "2026-03"]

DROPPED_IN_AUGUST = {
    "astropy__astropy-7606": ("astropy/units/tests/test_units.py::test_compose_roundtrip[]",),
    "django__django-10097": (
        "test_add (generic_inline_admin.tests.GenericInlineAdminWithUniqueTogetherTest)",
        "test_basic_add_GET (generic_inline_admin.tests.GenericAdminViewTest)",
        "test_basic_edit_GET (generic_inline_admin.tests.GenericAdminViewTest)",
        "test_delete (generic_inline_admin.tests.GenericInlineAdminWithUniqueTogetherTest)",
        "test_no_param (generic_inline_admin.tests.GenericInlineAdminParametersTest)",
    ),
}


def relabel(instance_id: str, pass_to_pass: Iterable[str], labels: Labels) -> tuple[str, ...]:
    """The PASS_TO_PASS list of an instance in that revision, whichever revision it came from."""
    dropped = DROPPED_IN_AUGUST.get(instance_id, ())
    kept = tuple(test_id for test_id in pass_to_pass if test_id not in dropped)
    return kept if labels == "2026-08" else (*kept, *dropped)
