"""Assertion helpers of test frameworks: which of their arguments say what is expected.

A helper that is not listed is not understood, and nothing of it is edited. Negative helpers are left out on
purpose: a wrong literal makes them easier to satisfy.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from evaluator.twins.literals import Style


@dataclass(frozen=True)
class Helper:
    """Expected arguments by position and by keyword."""

    at: tuple[int, ...] = ()
    keywords: tuple[str, ...] = ()
    every: bool = False
    """Every argument is expected, whatever it is called."""
    style: Style = Style.EXACT
    constructors: tuple[str, ...] = ()
    """Names of the framework's own records, whose arguments are as expected as the helper's."""
    numeric: bool = False
    """Whether it compares what a number can be added to: arrays, frames."""
    local: bool = False
    """Whether test files define the helper themselves."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _helpers(names: str, **facts: object) -> dict[str, Helper]:
    helper = Helper(**facts)  # type: ignore[arg-type]
    return dict.fromkeys(names.split(), helper)


EQUALITIES = _words(
    """
    assertEqual assertEquals failUnlessEqual assertListEqual assertTupleEqual assertDictEqual assertSetEqual
    assertSequenceEqual assertCountEqual assertItemsEqual assertMultiLineEqual assert_equal assert_equals eq_
    """
)
"""Fail unless their first two arguments are equal, whatever these are."""

UNITTEST: Mapping[str, Helper] = {
    **_helpers(" ".join(EQUALITIES), at=(0, 1)),
    **_helpers("assert_equal", at=(0, 1), numeric=True),
    **_helpers("assertAlmostEqual assertAlmostEquals", at=(0, 1), style=Style.TOLERANT),
    **_helpers("assertIn assertInHTML assert_in", at=(0,)),
    **_helpers("assertRegex assertRegexpMatches assert_regex", at=(1,), style=Style.PATTERN),
    # Django
    **_helpers("assertContains", at=(1,), keywords=("text", "count", "status_code")),
    **_helpers("assertNumQueries", at=(0,)),
    **_helpers("assertQuerysetEqual assertQuerySetEqual", at=(1,), keywords=("values",)),
    **_helpers("assertRedirects", at=(1,), keywords=("status_code", "target_status_code")),
    **_helpers("assertHTMLEqual assertXMLEqual assertJSONEqual", at=(1,)),
    **_helpers("assertTemplateUsed", at=(1,), keywords=("template_name", "count")),
    **_helpers("assertFormError", at=(3,), keywords=("errors",)),
    **_helpers("assertURLEqual", at=(1,)),
    **_helpers("assertNumberMigrations", at=(2,), local=True),
    **_helpers("assertOperationTypes", at=(3,), local=True),
    **_helpers("assertOperationAttributes", keywords=("*",), local=True),
    **_helpers("assertSerializedResultEqual", at=(1,), local=True),
    **_helpers("assertFormErrors", at=(0,), local=True),
}
"""Methods of test cases, and functions that go by the same rules."""

FRAMEWORKS: Mapping[str, Helper] = {
    # pytest
    **_helpers("assert_outcomes assertoutcome", every=True),
    **_helpers(
        "fnmatch_lines fnmatch_lines_random re_match_lines re_match_lines_random",
        at=(0,),
        style=Style.PATTERN,
    ),
    # unittest.mock
    **_helpers("assert_called_with assert_called_once_with assert_any_call", every=True),
    # numpy
    **_helpers("assert_array_equal", at=(1,), numeric=True),
    **_helpers(
        "assert_almost_equal assert_array_almost_equal assert_allclose assert_approx_equal"
        " assert_array_almost_equal_nulp assert_array_max_ulp",
        at=(1,),
        style=Style.TOLERANT,
        numeric=True,
    ),
    **_helpers("assert_string_equal assert_array_equiv", at=(1,)),
    # pandas, xarray
    **_helpers(
        "assert_frame_equal assert_series_equal assert_index_equal assert_identical"
        " assert_duckarray_equal assert_extension_array_equal",
        at=(1,),
        numeric=True,
    ),
    # sphinx
    **_helpers("assert_node", at=(1,), keywords=("*",)),
    **_helpers("assert_startswith", at=(1,)),
    **_helpers("assert_re_search", at=(0,), style=Style.PATTERN),
    # pylint
    **_helpers(
        "assertAddsMessages",
        at=tuple(range(9)),
        constructors=(
            "Message",
            "MessageTest",
            "testutils.Message",
            "testutils.MessageTest",
            "pylint.testutils.Message",
            "pylint.testutils.MessageTest",
        ),
    ),
    **_helpers("_runtest", keywords=("code",), local=True),
    **_helpers("_test_output _test_output_file", keywords=("expected_output",), local=True),
}
"""Helpers that belong to one framework."""

PREDICATES: Mapping[str, Helper] = {
    **_helpers("allclose isclose", at=(1,), style=Style.TOLERANT),
    **_helpers("array_equal array_equiv", at=(1,)),
    **_helpers("startswith endswith", at=(0,)),
}
"""Functions that a test asserts to be true."""

SWAPS: Mapping[str, str] = {
    one: other
    for pair in (
        "assertTrue assertFalse",
        "assertEqual assertNotEqual",
        "assertIn assertNotIn",
        "assertIs assertIsNot",
        "assertIsNone assertIsNotNone",
        "assertIsInstance assertNotIsInstance",
        "assertAlmostEqual assertNotAlmostEqual",
        "assertGreater assertLessEqual",
        "assertLess assertGreaterEqual",
        "assertContains assertNotContains",
        "assertTemplateUsed assertTemplateNotUsed",
        "assertHTMLEqual assertHTMLNotEqual",
        "assertXMLEqual assertXMLNotEqual",
        "assertJSONEqual assertJSONNotEqual",
        "assertRegex assertNotRegex",
        "assert_equal assert_not_equal",
        "assert_true assert_false",
    )
    for one, other in (pair.split(), pair.split()[::-1])
}
"""Opposites among the methods of test cases, both ways."""

TRANSPARENT = _words(
    """
    assertNumQueries assertTemplateUsed assertTemplateNotUsed settings modify_settings override_settings
    subTest captureOnCommitCallbacks isolate_apps
    catch_warnings simplefilter open patch context as_cwd chdir app_context request_context test_client
    test_request_context session_transaction isolated_filesystem set_options localcontext errstate
    """
)
"""Context managers under which a block runs to its end, once, or the test fails."""

EXPECTED = re.compile(
    r"(?i)(?:.*_)?(?:exp|expect|expects|expected|expectation|want|wanted|desired|correct|should_be"
    r"|msg|message|messages|errmsg)\d*(?:_.*)?"
)
"""Names of variables that say what is expected."""
