"""The judge: a pure function from evidence to verdict, of which a pass is the rarest answer."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from evaluator.evidence import Broken, Evidence, Expectation, Report, Session, Source
from evaluator.judge import judge
from evaluator.reasons import EXPLANATIONS
from results.record import Verdict

FIX, KEEP, GOOD, BAD = "t.py::fix", "t.py::keep", "c.py::good", "c.py::bad"
EXPECTED = Expectation(
    (FIX,), (KEEP,), "nodeid", (GOOD,), (BAD,), sources={"t.py": "0"}, patched=frozenset(["calc.py"])
)


def reports(node_id: str, call: str = "passed", *, xfail: bool = False) -> tuple[Report, ...]:
    return (
        Report(node_id, "setup", "passed"),
        Report(node_id, "call", call, xfail),
        Report(node_id, "teardown", "passed"),
    )


def skipped(node_id: str) -> tuple[Report, ...]:
    """As a skip mark does it: the body never begins."""
    return Report(node_id, "setup", "skipped"), Report(node_id, "teardown", "passed")


def session(**outcomes: tuple[Report, ...]) -> Session:
    each = {"fix": reports(FIX), "keep": reports(KEEP), "good": reports(GOOD), "bad": reports(BAD, "failed")}
    said = tuple(report for phases in (each | outcomes).values() for report in phases)
    return Session({}, (), tuple((name, ()) for name in (FIX, KEEP, GOOD, BAD)), said, status=1)


PASS = Evidence(session(), 1, frozenset())


def marked(given_session: Session, *marks: str) -> Session:
    return replace(
        given_session,
        collected=tuple((name, marks if name == KEEP else ()) for name, _ in given_session.collected),
    )


def watched(node_id: str, ended: str | None = None) -> Session:
    """A test has a beacon, which said that its body ended so, or nothing."""
    said = tuple(replace(each, body=ended) if each.node_id == node_id else each for each in session().reports)
    return replace(session(), reports=said, sources=(Source("t.py", "0", (node_id,)),))


def verdict(evidence: Evidence, expected: Expectation = EXPECTED) -> tuple[Verdict, str]:
    judgement = judge(expected, evidence)
    return judgement.verdict, judgement.reason


def of(given_session: Session) -> Evidence:
    return replace(PASS, session=given_session)


def test_a_clean_pass_is_resolved() -> None:
    """Every required test passed, the canaries did as they must, the run came to its end."""
    judgement = judge(EXPECTED, PASS)
    assert judgement.verdict is Verdict.RESOLVED
    assert (judgement.f2p_passed, judgement.p2p_passed, judgement.failed) == (1, 1, ())
    assert judgement.flags == frozenset()


SHORTFALLS = [
    (replace(PASS, hits=frozenset(["wall"]), exit_status=None), "timeout"),
    (replace(PASS, hits=frozenset(["memory"]), exit_status=None), "memory"),
    (replace(PASS, hits=frozenset(["output"]), exit_status=None), "output"),
    (replace(PASS, exit_status=139), "crash"),
    (replace(PASS, exit_status=3, session=replace(session(), status=3)), "crash"),
    (of(Session()), "crash"),
    (of(replace(session(fix=()), gap="frame 3 is missing")), "incomplete"),
    (of(replace(session(), status=None)), "incomplete"),
    (replace(PASS, exit_status=0), "incomplete"),
    (of(session(fix=())), "f2p_fail"),
    (of(session(fix=reports(FIX, "failed"))), "f2p_fail"),
    (of(session(fix=reports(FIX, "skipped"))), "f2p_fail"),
    (of(session(fix=reports(FIX, "skipped", xfail=True))), "f2p_fail"),
    (of(session(fix=reports(FIX, "passed", xfail=True))), "f2p_fail"),
    (of(session(fix=(*reports(FIX, "failed"), *reports(FIX)))), "f2p_fail"),
    (of(session(fix=reports(FIX)[:2])), "f2p_fail"),
    (of(session(keep=reports(KEEP, "failed"))), "p2p_regress"),
    (of(session(keep=reports(KEEP, "skipped"))), "p2p_regress"),
    (of(session(keep=reports(KEEP, "skipped", xfail=True))), "p2p_regress"),
    (of(marked(session(keep=reports(KEEP, "skipped")), "skipif")), "p2p_regress"),
    (of(session(good=reports(GOOD, "failed"))), "canary_broken"),
    (
        of(session(bad=(Report(BAD, "setup", "failed"), Report(BAD, "teardown", "passed")))),
        "canary_broken",
    ),
    (of(session(bad=skipped(BAD))), "canary_broken"),
    (of(replace(session(), collected=((KEEP, ()), (GOOD, ()), (BAD, ())))), "incomplete"),
]
CONTRADICTIONS = [
    (of(session(bad=reports(BAD))), "canary_passed"),
    (of(session(bad=reports(BAD, "skipped", xfail=True))), "canary_passed"),
    (of(session(bad=(*reports(BAD, "failed"), *reports(BAD)))), "canary_passed"),
    (of(session(bad=(), good=())), "canary_missing"),
    (replace(PASS, exit_status=0, session=replace(session(), status=0)), "exit_forged"),
    (of(replace(session(), foreign_bytes=7)), "foreign_frames"),
    (of(replace(session(), gap="frame 3 is missing")), "foreign_frames"),
    (of(replace(session(), replaced=(("unittest.case.TestCase.run", "calc.py"),))), "runner_replaced"),
    (
        of(replace(session(), replaced=(("_pytest.runner.pytest_x", "<string>"),))),
        "runner_replaced",
    ),
    (of(watched(FIX)), "body_disagrees"),
    (of(watched(FIX, ended="ValueError")), "body_disagrees"),
    (of(replace(session(), sources=(Source("c.py", "0", (GOOD,)),))), "body_disagrees"),
    (of(replace(session(), sources=(Source("t.py", "1", ()),))), "trusted_file_changed"),
    (replace(PASS, changed=("t.py",)), "trusted_file_changed"),
]
CHECKED = (*SHORTFALLS, *CONTRADICTIONS)
"""What the judge has to say of evidence that lacks one thing each."""


@pytest.mark.parametrize(("evidence", "reason"), SHORTFALLS)
def test_not_resolved(evidence: Evidence, reason: str) -> None:
    """Every way a run can fall short, one by one."""
    assert verdict(evidence) == (Verdict.NOT_RESOLVED, reason)


@pytest.mark.parametrize(("evidence", "reason"), CONTRADICTIONS)
def test_contradictions_are_tampering(evidence: Evidence, reason: str) -> None:
    """What no honest run can show, like a success of which one test has failed."""
    assert verdict(evidence) == (Verdict.TAMPERED, reason)


@pytest.mark.parametrize(
    "evidence",
    [
        of(replace(session(), replaced=(("_pytest.runner.pytest_x", "/env/_pytest/runner.py"),))),
        of(replace(session(), replaced=(("unittest.case.TestCase.run", "tests/conftest.py"),))),
        of(watched(FIX, ended="")),
        of(replace(session(), sources=(Source("t.py", "0", ()), Source("c.py", "1", (GOOD, BAD))))),
    ],
    ids=["by itself", "by a test", "heard", "unlisted file"],
)
def test_what_honest_runs_leave_is_no_tampering(evidence: Evidence) -> None:
    """Runners and trusted tests exchange parts of the runner too, and beacons speak for what passed."""
    good = tuple(
        replace(each, body="" if each.outcome == "passed" else "E") for each in evidence.session.reports
    )
    assert verdict(replace(evidence, session=replace(evidence.session, reports=good)))[1] == "resolved"


def test_a_test_runner_may_exchange_its_own_parts() -> None:
    """Where the repository is that of the runner, code of the patch is code of the runner."""
    changed = of(replace(session(), replaced=(("_pytest.runner.call_and_report", "calc.py"),)))
    assert verdict(changed, replace(EXPECTED, tests_its_runner=True))[1] == "resolved"


def test_a_run_that_breaks_before_the_canaries_is_no_forgery() -> None:
    """An internal error of the runner ends it midway: some tests have passed, the rest never began."""
    cut = replace(session(good=(), bad=()), status=3)
    assert verdict(Evidence(cut, 3, frozenset())) == (Verdict.NOT_RESOLVED, "crash")
    half = session(good=(), bad=(), keep=())
    assert verdict(of(half)) == (Verdict.NOT_RESOLVED, "incomplete")


def test_a_module_that_does_not_import_is_named_as_the_cause() -> None:
    """Collection errors end the whole session; nobody forged anything."""
    broken = (Broken("t.py", "failed", "ImportError"),)
    stopped = Session({}, broken, ((GOOD, ()), (BAD, ())), (), status=2)
    assert verdict(Evidence(stopped, 2, frozenset())) == (Verdict.NOT_RESOLVED, "collection_error")


@pytest.mark.parametrize(
    ("kept", "marks", "flag"),
    [
        (reports(KEEP, "skipped", xfail=True), ("xfail",), "p2p_xfailed"),
        (skipped(KEEP), ("skipif",), "p2p_skipped"),
    ],
)
def test_marks_of_the_trusted_test_excuse_it(
    kept: tuple[Report, ...], marks: tuple[str, ...], flag: str
) -> None:
    """A pass-to-pass test that is marked as not passing here counts as kept, visibly."""
    judgement = judge(EXPECTED, of(marked(session(keep=kept), *marks)))
    assert (judgement.verdict, judgement.flags) == (Verdict.RESOLVED, {flag})


def test_an_id_that_stands_for_several_tests_needs_all_of_them() -> None:
    """A dataset's cut id names every test it is the beginning of."""
    expected = replace(EXPECTED, fail_to_pass=("t.py::p[a",), log_parser="pytest")
    collected = (*session().collected, ("t.py::p[a b]", ()), ("t.py::p[a c]", ()))
    for call, reason in (("passed", "resolved"), ("failed", "f2p_fail")):
        said = (*session().reports, *reports("t.py::p[a b]"), *reports("t.py::p[a c]", call))
        assert verdict(of(replace(session(), collected=collected, reports=said)), expected)[1] == reason


OUTCOMES = st.sampled_from(["passed", "failed", "skipped"])
REPORTS = st.builds(
    Report,
    st.sampled_from([FIX, KEEP, GOOD, BAD, "other"]),
    st.sampled_from(["setup", "call", "teardown"]),
    OUTCOMES,
    st.booleans(),
)
SESSIONS = st.builds(
    Session,
    st.none() | st.just({}),
    st.lists(st.builds(Broken, st.just("x.py"), OUTCOMES), max_size=2).map(tuple),
    st.lists(
        st.tuples(
            st.sampled_from([FIX, KEEP, GOOD, BAD]),
            st.lists(st.sampled_from(["skip", "skipif", "xfail"]), max_size=2).map(tuple),
        ),
        max_size=5,
    ).map(tuple),
    st.lists(REPORTS, max_size=12).map(tuple),
    st.none() | st.integers(0, 5),
    st.sampled_from(["", "gap"]),
    st.integers(0, 1),
)
NEARLY = st.lists(REPORTS, max_size=3).map(
    lambda more: replace(session(), reports=(*session().reports, *more))
)
EVIDENCE = st.builds(
    Evidence,
    SESSIONS | NEARLY,
    st.none() | st.integers(0, 5) | st.just(1),
    st.sets(st.sampled_from(["wall", "memory", "output"]), max_size=1).map(frozenset),
)


@settings(deadline=None)
@given(EVIDENCE)
def test_resolved_implies_everything(evidence: Evidence) -> None:
    """A pass means: no limit, no gap, every required test passed, the canaries in order."""
    judgement = judge(EXPECTED, evidence)
    assert judgement.reason in EXPLANATIONS
    if judgement.verdict is not Verdict.RESOLVED:
        return
    said: Callable[[str], set[tuple[str, str]]] = lambda name: {  # noqa: E731
        (report.when, report.outcome) for report in evidence.session.reports if report.node_id == name
    }
    clean = {("setup", "passed"), ("call", "passed"), ("teardown", "passed")}
    assert said(FIX) == clean
    assert said(GOOD) == clean
    assert ("call", "failed") in said(BAD)
    assert all(outcome != "failed" for _, outcome in said(KEEP))
    assert not evidence.hits
    assert evidence.exit_status == 1
    assert evidence.session.gap == ""
    assert evidence.session.foreign_bytes == 0


@settings(deadline=None)
@given(EVIDENCE, st.data())
def test_losing_evidence_never_helps(evidence: Evidence, data: st.DataObject) -> None:
    """Taking a passed phase of a test that must pass away turns nothing into a pass."""
    said = evidence.session.reports
    passing = [
        each for each in said if each.node_id in (FIX, GOOD) and each.outcome == "passed" and not each.xfail
    ]
    assume(passing and judge(EXPECTED, evidence).verdict is not Verdict.RESOLVED)
    lost = data.draw(st.sampled_from(passing))
    fewer = tuple(report for report in said if report is not lost)
    poorer = replace(evidence, session=replace(evidence.session, reports=fewer))
    assert judge(EXPECTED, poorer).verdict is not Verdict.RESOLVED


@settings(deadline=None)
@given(st.integers(0, 11), st.sampled_from(["failed", "skipped"]))
def test_no_required_phase_may_do_otherwise(position: int, outcome: str) -> None:
    """Of a pass, every single report carries weight."""
    said = list(session().reports)
    if said[position].outcome != outcome:
        said[position] = replace(said[position], outcome=outcome)
        assert verdict(of(replace(session(), reports=tuple(said))))[0] is not Verdict.RESOLVED


@settings(deadline=None)
@given(st.integers(0, 11))
def test_no_report_of_a_pass_may_be_missing(position: int) -> None:
    """A test that was not seen through is no pass."""
    said = session().reports
    assert verdict(of(replace(session(), reports=(*said[:position], *said[position + 1 :]))))[0] is not (
        Verdict.RESOLVED
    )


def test_every_reason_is_explained_in_one_sentence() -> None:
    """Codes are for programs, sentences for people."""
    for sentence in EXPLANATIONS.values():
        assert sentence.endswith(".")
        assert "\n" not in sentence
