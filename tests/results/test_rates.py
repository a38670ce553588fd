import pytest
from hypothesis import given
from hypothesis import strategies as st

from results.rates import resolve_rate, wilson


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [
        (200, 500, 35.8, 44.4),
        (325, 500, 60.7, 69.1),
        (375, 500, 71.0, 78.6),
        # Newcombe 1998, Statistics in Medicine 17, table I, method 3
        (81, 263, 25.53, 36.62),
        (15, 148, 6.24, 16.05),
        (0, 20, 0.0, 16.11),
        (1, 29, 0.61, 17.18),
    ],
)
def test_wilson_agrees_with_published_intervals(successes, trials, low, high):
    """Intervals are those published for the same counts."""
    digits = 1 if trials == 500 else 2
    assert [round(100 * bound, digits) for bound in wilson(successes, trials)] == [low, high]


def test_one_attempt_a_task_is_a_plain_proportion():
    """With one sample the rate is resolved over scored and the interval Wilson's."""
    rate = resolve_rate((f"t{number}", number < 200) for number in range(500))
    assert (rate.resolved, rate.scored, rate.tasks, rate.value, rate.method) == (200, 500, 500, 0.4, "Wilson")
    assert (rate.low, rate.high) == wilson(200, 500)
    assert str(rate) == "40.0% (35.8% to 44.4%)"


def test_samples_of_one_task_are_one_unit():
    """Repeating every attempt narrows nothing: 10 tasks sampled 50 times alike are 10 tasks."""
    few = resolve_rate((f"t{task}", task < 5) for task in range(10) for _ in range(2))
    many = resolve_rate((f"t{task}", task < 5) for task in range(10) for _ in range(50))
    assert (few.low, few.high) == (many.low, many.high)
    assert few.method == "Student's t over tasks"
    # mean 0.5, standard deviation of five ones and five zeros 0.527, t(0.975, 9) = 2.262
    assert few.low == pytest.approx(0.5 - 2.262 * 0.527 / 10**0.5, abs=1e-3)


def test_tasks_weigh_the_same_however_often_sampled():
    """A task with more scored samples does not outweigh the others."""
    rate = resolve_rate([("a", True)] * 8 + [("b", False)] * 2)
    assert rate.value == 0.5


@pytest.mark.parametrize("fixed", [True, False])
def test_agreement_is_not_certainty(fixed):
    """When every task has the same rate the interval still has the width of so few tasks."""
    rate = resolve_rate((f"t{task}", fixed) for task in range(5) for _ in range(4))
    assert (rate.low, rate.high) == wilson(5 if fixed else 0, 5)


def test_nothing_scored_is_unknown():
    """Without a scored attempt there is no rate, not a rate of zero."""
    rate = resolve_rate([])
    assert (rate.value, rate.low, rate.high, str(rate)) == (None, None, None, "unknown")


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.booleans()), min_size=1))
def test_an_interval_holds_its_rate(outcomes):
    """Whatever the outcomes, 0 ≤ low ≤ rate ≤ high ≤ 1, and the interval is never a point."""
    rate = resolve_rate(outcomes)
    assert 0 <= rate.low <= rate.value + 1e-12
    assert rate.value <= rate.high + 1e-12 <= 1 + 1e-12
    assert rate.low < rate.high
