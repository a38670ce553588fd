"""What runs have to show before a twin is proven."""

import pytest
from twin_cases import PATH, body, offer

from evaluator.evidence import Report, Session
from evaluator.twins.proof import Proof, Way, prove
from evaluator.twins.site import Operator

ID, OTHER = f"{PATH}::test_it", f"{PATH}::test_other"
FALSE = f"E  assert 1 == 2\n{PATH}:4: AssertionError"
NOT_RAISED = f"E  Failed: DID NOT RAISE <class 'ValueError'>\n{PATH}:4: Failed"
KEY = f"E  KeyError: 'a'\n{PATH}:4: KeyError"
LITERAL, EXCEPTION = (
    next(twin for twin in offer(body(*lines, imports="import pytest")) if twin.operator is operator)
    for operator, lines in (
        (Operator.EQ_LIT, ["assert f() == 1"]),
        (Operator.RAISES_EXC, ["with pytest.raises(ValueError):", "    f()"]),
    )
)


def session(
    excerpt: str = "", other: str = "", when: str = "call", ids: tuple[str, ...] = (ID, OTHER)
) -> Session:
    """Two tests, the first of which failed with `excerpt`, the second with `other`."""
    reports = []
    for test_id, text in zip(ids, (excerpt, other), strict=False):
        for phase in ("setup", "call", "teardown"):
            failed = text and phase == when
            reports.append(
                Report(test_id, phase, "failed" if failed else "passed", excerpt=text if failed else "")
            )
    return Session(collected=tuple((test_id, ()) for test_id in ids), reports=tuple(reports), status=1)


def verdict(fixed: Session, unfixed: Session | None = None, twin: object = LITERAL) -> Proof | str:
    return prove(
        twin,  # type: ignore[arg-type]
        (ID, OTHER),
        "nodeid",
        original=session(),
        fixed=fixed,
        unfixed=unfixed or session(FALSE),
    )


def test_a_twin_that_fails_by_its_assertion_is_proven() -> None:
    """With the fix and without it exactly the target fails."""
    proof = verdict(session(FALSE))
    assert isinstance(proof, Proof)
    assert proof.ways == {Way.ASSERTION}
    assert proof.convicts


def test_other_canaries_are_no_other_tests() -> None:
    """Every run brings two tests of its own."""
    assert isinstance(
        verdict(Session((), (), (*session().collected, ("tests/test_9.py::c", ())), session(FALSE).reports)),
        Proof,
    )


def test_a_twin_that_passes_on_the_unfixed_code_does_not_convict() -> None:
    """It agrees with the bug, as an honest but flaky fix may once."""
    proof = verdict(session(FALSE), session())
    assert isinstance(proof, Proof)
    assert not proof.fails_unfixed
    assert not proof.convicts


@pytest.mark.parametrize(
    ("fixed", "why"),
    [
        (session(), "still passes"),
        (session(FALSE, FALSE), "changes another test"),
        (session(KEY), "fails in another way"),
        (session(FALSE, when="setup"), "fails in another way"),
        (session(FALSE, ids=(ID,)), "other tests are collected"),
        (session(FALSE, ids=(f"{ID}[new]", OTHER)), "fails in another way"),
    ],
)
def test_a_twin_that_does_anything_else_is_refused(fixed: Session, why: str) -> None:
    """Each with its reason, for the person who looks at the bank."""
    refusal = verdict(fixed)
    assert isinstance(refusal, str)
    assert refusal.startswith(why)


STYLES = {
    "short": f"{PATH}:4: in test_it\n    assert f()\nE   AssertionError: assert 1 == 2\nE    +  where 1 = f",
    "short, unnamed": f"{PATH}:4: in test_it\n    assert f() == 1\nE   assert 1 == 2",
    "native": f'  File "{PATH}", line 4, in test_it\n    assert f()\nAssertionError: assert 1 == 2\n  more',
    "cause first": f"{PATH}:2: in f\nE   KeyError: 1\n\nThe above ...\nE   AssertionError: no\nE     more",
}


@pytest.mark.parametrize("excerpt", STYLES.values(), ids=STYLES)
def test_every_style_of_traceback_is_read(excerpt: str) -> None:
    """Projects choose how pytest prints failures."""
    proof = verdict(session(excerpt))
    assert isinstance(proof, Proof)
    for assertion in ("AssertionError: no", "AssertionError", "assert 1 == 2"):
        excerpt = excerpt.replace(assertion, "builtins.KeyError: 'a'")
    assert isinstance(verdict(session(excerpt)), str)


@pytest.mark.parametrize(("excerpt", "way"), [(KEY, Way.EXCEPTION), (NOT_RAISED, Way.ASSERTION)])
def test_another_exception_is_how_an_exchanged_one_fails(excerpt: str, way: Way) -> None:
    """The exception that the code raises is no longer the expected one."""
    proof = verdict(session(excerpt), twin=EXCEPTION)
    assert isinstance(proof, Proof)
    assert proof.ways == {way}
