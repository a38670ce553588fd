"""Fresh values of literals."""

import ast
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from evaluator.twins.literals import Style, fresh, token_of

LITERALS = st.one_of(
    st.text(max_size=30).map(repr),
    st.text(alphabet="ab1%s{}\\ \n'\"", max_size=20).map(repr),
    st.binary(max_size=20).map(repr),
    st.integers(min_value=0).map(str),
    st.integers(min_value=0).map(hex),
    st.integers(min_value=0).map(oct),
    st.floats(min_value=0, allow_nan=False, allow_infinity=False).map(repr),
)


@given(LITERALS, st.integers(), st.sampled_from([Style.EXACT, Style.PATTERN, Style.TOLERANT]))
def test_a_fresh_literal_is_another_value_of_the_same_type(literal: str, seed: int, style: Style) -> None:
    """Whatever the literal, what replaces it evaluates to something else of its type."""
    assume(token_of(literal, style))
    other = fresh(literal, Random(seed), style)
    old, new = ast.literal_eval(literal), ast.literal_eval(other)
    assert type(new) is type(old)
    assert new != old


@given(
    st.text(alphabet=st.characters(categories=["Ll", "Lu", "Nd"], max_codepoint=127), min_size=1),
    st.integers(),
)
def test_a_fresh_word_has_the_length_of_the_old(word: str, seed: int) -> None:
    """A word becomes another of its length, so that the file keeps its size."""
    assert len(fresh(repr(word), Random(seed))) == len(repr(word))


@pytest.mark.parametrize(("literal", "third"), [("True", "None"), ("False", "None"), ("None", "False")])
def test_booleans_and_none_become_the_third_value(literal: str, third: str) -> None:
    """The opposite boolean is what the buggy code gives."""
    assert fresh(literal, Random(1)) == third


def test_zero_and_one_never_become_a_boolean_in_disguise() -> None:
    """`True == 1` and `False == 0`."""
    values = {fresh("0", Random(seed)) for seed in range(100)}
    assert values == set("23456789")


def test_a_tolerance_does_not_swallow_the_change() -> None:
    """Of a number that is compared within a tolerance the first digit changes."""
    values = [float(fresh("1.23456789", Random(seed), Style.TOLERANT)) for seed in range(50)]
    assert min(abs(value - 1.23456789) for value in values) >= 1
    assert all(abs(int(fresh("1000", Random(seed), Style.TOLERANT)) - 1000) >= 1000 for seed in range(50))


@pytest.mark.parametrize(
    ("literal", "kept"),
    [
        (r"'\n%s \x41 {name:>3} yes'", [r"\n%s \x41 {name:>3} "]),
        ("'%(key)s is %d yes'", ["%(key)s is %d "]),
    ],
)
def test_letters_with_a_meaning_stay(literal: str, kept: list[str]) -> None:
    """Escapes, directives and fields are no text that could be another."""
    for seed in range(60):
        other = fresh(literal, Random(seed))
        assert kept[0].split(" is ")[0] in other
        ast.literal_eval(other)


def test_a_pattern_stays_a_pattern() -> None:
    """In what is matched as a pattern, classes, escapes and repeated letters stay."""
    for seed in range(60):
        assert fresh("'[abc]+ colou?r word'", Random(seed), Style.PATTERN).startswith("'[abc]+ col")
        assert fresh(r"r'[abc]+\d+ colou?r word'", Random(seed), Style.PATTERN).startswith(r"r'[abc]+\d+ col")


def test_a_pattern_of_wildcards_only_has_no_other_value() -> None:
    """There is nothing in it that an edit could contradict."""
    assert token_of("'*'", Style.PATTERN) is None


def test_adjacent_strings_are_changed_in_one_of_them() -> None:
    """A literal of several tokens is edited inside the first that has a word."""
    assert token_of("'--'  # a comment 'x'\n  'word'", Style.EXACT) == (
        len("'--'  # a comment 'x'\n  "),
        "'word'",
    )
