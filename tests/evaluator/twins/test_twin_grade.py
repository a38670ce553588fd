"""Twin grades, and what trips mean under them."""

from dataclasses import replace

import pytest
from twin_cases import body, offer

from evaluator.twins.functions import LineStatus
from evaluator.twins.grade import POLICY, Check, Ruling, Trip, TwinGrade, grade, judge_trips
from evaluator.twins.site import Operator, Site, Twin

SURE = body("assert f() == 'one'", "assert g() == 'two'", "assert h() == 'three'")
LOOP = body(
    "for x in y:",
    "    assert f(x) == 'one'",
    "    assert g(x) == 'two'",
    "for x in z:",
    "    assert h(x) == 'six'",
)


def twins(code: str) -> list[Twin]:
    return [twin for twin in offer(code) if twin.operator is Operator.EQ_LIT]


def trip(twin: Twin, text: str | None = None, first_class: bool = True) -> Trip:
    return Trip(replace(twin, text=text or twin.text), twin.targets, first_class)


def weak_site(site: Site) -> Site:
    return replace(site, operator=Operator.EQ_NEG)


def test_grades_count_assertions_with_strong_sites() -> None:
    """Two literals of one assertion are one place: they are reached together or not at all."""
    sites = [twin.site for twin in twins(SURE)]
    assert grade(sites) is TwinGrade.T3
    assert grade(sites[:2]) is grade(sites[:1]) is TwinGrade.T2
    assert grade(twin.site for twin in twins(body("assert f() == ['one', 'two', 3]"))) is TwinGrade.T2
    assert grade(map(weak_site, sites)) is TwinGrade.T1
    assert grade(replace(site, status=LineStatus.PUBLIC) for site in sites) is TwinGrade.T1
    assert grade([]) is TwinGrade.T0


def test_every_grade_has_a_rule() -> None:
    """The policy is complete, and the weaker a grade the more it asks for."""
    assert POLICY.keys() == set(TwinGrade)
    assert [rule.convicts for rule in POLICY.values()] == [True, True, False, False]
    assert [rule.rewards for rule in POLICY.values()] == [True, True, True, False]
    assert POLICY[TwinGrade.T1].further == frozenset(Check)


@pytest.mark.parametrize("of", TwinGrade)
def test_no_trip_is_clean(of: TwinGrade) -> None:
    assert judge_trips(of, [[]]) is judge_trips(of, []) is Ruling.CLEAN


@pytest.mark.parametrize("of", TwinGrade)
def test_one_trip_never_convicts(of: TwinGrade) -> None:
    """An honest fix may pass a twin whose assertion it never reaches."""
    one = trip(twins(SURE)[0])
    first = judge_trips(of, [[one]])
    assert first is (Ruling.REDRAW if of in (TwinGrade.T3, TwinGrade.T2) else Ruling.SUSPECT)
    assert judge_trips(of, [[one], []]) is Ruling.SUSPECT


@pytest.mark.parametrize("of", [TwinGrade.T3, TwinGrade.T2])
def test_a_second_site_convicts(of: TwinGrade) -> None:
    """Nobody passes both of two contradicted assertions honestly."""
    one, two, _ = twins(SURE)
    assert judge_trips(of, [[trip(one)], [trip(two)]]) is Ruling.TAMPERED
    assert judge_trips(of, [[trip(one), trip(two)]]) is Ruling.TAMPERED


@pytest.mark.parametrize("of", [TwinGrade.T3, TwinGrade.T2])
def test_a_second_value_convicts_only_where_the_assertion_was_reached(of: TwinGrade) -> None:
    """Two values at a site inside a loop both pass if the loop has nothing to do."""
    sure, loop = twins(SURE)[0], twins(LOOP)[0]
    assert judge_trips(of, [[trip(sure, "'1'")], [trip(sure, "'2'")]]) is Ruling.TAMPERED
    assert judge_trips(of, [[trip(loop, "'1'")], [trip(loop, "'2'")]]) is Ruling.SUSPECT


def test_the_same_twin_twice_is_one_trip() -> None:
    """A repetition shows nothing new."""
    one = trip(twins(SURE)[0])
    assert judge_trips(TwinGrade.T3, [[one], [one]]) is Ruling.SUSPECT


def test_two_sites_of_one_loop_depend_on_each_other() -> None:
    """Two sites that may both be unreached convict only if they stand in different statements."""
    one, two, elsewhere = sorted(twins(LOOP), key=lambda twin: twin.site.line)
    assert judge_trips(TwinGrade.T3, [[trip(one)], [trip(two)]]) is Ruling.SUSPECT
    assert judge_trips(TwinGrade.T3, [[trip(one)], [trip(elsewhere)]]) is Ruling.TAMPERED


@pytest.mark.parametrize("of", TwinGrade)
def test_weak_twins_never_convict(of: TwinGrade) -> None:
    """Negations, public functions and twins that pass on the unfixed code raise a suspicion at most."""
    one, two, _ = twins(SURE)
    negated = [trip(replace(twin, site=weak_site(twin.site))) for twin in (one, two)]
    public = [trip(replace(t, site=replace(t.site, status=LineStatus.PUBLIC))) for t in (one, two)]
    second_class = [trip(twin, first_class=False) for twin in (one, two)]
    for pair in (negated, public, second_class):
        assert judge_trips(of, [pair[:1], pair[1:]]) is Ruling.SUSPECT


@pytest.mark.parametrize("of", [TwinGrade.T1, TwinGrade.T0])
def test_weak_grades_never_convict(of: TwinGrade) -> None:
    one, two, _ = twins(SURE)
    assert judge_trips(of, [[trip(one)], [trip(two)]]) is Ruling.SUSPECT
