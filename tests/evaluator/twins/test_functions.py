"""From test ids to functions, and what of them was public."""

import pytest
from twin_cases import PATH, body, offer, text

from evaluator.twins.functions import LineStatus, TestFile, locate, possible_files

CODE = """
    import unittest
    from other import Shared

    def test_bare():
        assert 1

    class TestOuter:
        class TestInner:
            def test_deep(self):
                assert 1

    class Base:
        def test_inherited(self):
            assert 1

    class TestChild(Base, Shared):
        pass

    class CaseTests(unittest.TestCase):
        def test_titled(self):
            \"\"\"
            What it is about (#7).

            More.
            \"\"\"

        @decorated
        async def test_later(self):
            assert 1
"""
OTHER = """
    class Shared:
        def test_shared(self):
            assert 1
"""


@pytest.mark.parametrize(
    ("test_id", "name"),
    [
        ("tests/pkg/test_it.py::test_bare", "test_bare"),
        ("tests/pkg/test_it.py::test_bare[a::b-c]", "test_bare"),
        ("tests/pkg/test_it.py::test_bare[cut", "test_bare"),
        ("tests/pkg/test_it.py::TestOuter::TestInner::test_deep", "TestOuter.TestInner.test_deep"),
        ("tests/pkg/test_it.py::TestOuter::TestInner::()::test_deep", "TestOuter.TestInner.test_deep"),
        ("tests/pkg/test_it.py::TestChild::test_inherited", "Base.test_inherited"),
        ("tests/pkg/test_it.py::TestChild::test_shared", "Shared.test_shared"),
        ("tests/pkg/test_it.py::CaseTests::test_later", "CaseTests.test_later"),
        ("test_later (pkg.test_it.CaseTests)", "CaseTests.test_later"),
        ("test_later (pkg.test_it.CaseTests.test_later)", "CaseTests.test_later"),
        ("test_inherited (pkg.test_it.TestChild)", "Base.test_inherited"),
        ("What it is about (#7).", "CaseTests.test_titled"),
        ("test_bare", "test_bare"),
    ],
)
def test_an_id_names_its_function(test_id: str, name: str) -> None:
    """Ids of every runner lead to the function that runs, through classes and their bases."""
    files = {
        "tests/pkg/test_it.py": TestFile(None, text(CODE)),
        "tests/other.py": TestFile(None, text(OTHER)),
    }
    (function,) = locate(files, [test_id])
    assert (function.name, function.ids) == (name, (test_id,))


@pytest.mark.parametrize(
    "test_id",
    [
        "elsewhere.py::test_bare",
        f"{PATH}::test_none",
        f"{PATH}::TestChild",
        "test_bare (pkg.Other)",
        "No such line",
        "",
    ],
)
def test_an_id_of_nothing_is_left_out(test_id: str) -> None:
    """Tests that are made at run time, or in files nobody gave, have no function."""
    assert locate({PATH: TestFile(None, text(CODE))}, [test_id]) == ()


def test_ids_tell_where_to_look() -> None:
    """Required tests are not only in files that the test patch changes."""
    ids = ["tests/test_a.py::test_b[x::y]", "test_x (pkg.test_it.CaseTests)", "A docstring.", "test_bare"]
    assert possible_files(ids) == ("tests/test_a.py", "tests/pkg.py", "tests/pkg/test_it.py")


def test_a_function_knows_all_ids_that_run_it() -> None:
    """Pass-to-pass rows of a fail-to-pass test fail with it, so that they are targets too."""
    code = body("assert f() == 1")
    twin = offer(code, "test_it[new]", others=("test_it[old]", "test_other"))[0]
    assert twin.targets == (f"{PATH}::test_it[new]", f"{PATH}::test_it[old]")


def test_lines_say_whether_a_solver_could_have_seen_them() -> None:
    """Added lines, lines of a changed function, and functions that are public as they are."""
    before = """
        def test_it():
            assert f() == 1

        def test_same():
            assert f() == 2
    """
    after = """
        def test_it():
            assert f() == 1
            assert g() == 3

        def test_same():
            assert f() == 2
    """
    found = {
        (twin.site.function, twin.site.line): twin.line_status
        for twin in offer(after, "test_it", "test_same", before=before)
    }
    assert found == {
        ("test_it", 2): LineStatus.TOUCHED,
        ("test_it", 3): LineStatus.ADDED,
        ("test_same", 6): LineStatus.PUBLIC,
    }


def test_a_function_that_only_begins_like_a_public_one_is_not_public() -> None:
    """`== 1` is no part of `== 10`."""
    twins = offer(body("assert f() == 1"), before=body("assert f() == 10"))
    assert {twin.line_status for twin in twins} == {LineStatus.ADDED}


REACHED = {
    "top level": (["assert f() == 1"], True),
    "after a loop": (["for x in y:", "    g(x)", "assert f() == 1"], True),
    "in a counted block": (["with self.assertNumQueries(2):", "    assert f() == 1"], True),
    "after a function": (["def g():", "    return 1", "assert f() == 1"], True),
    "in a loop": (["for x in y:", "    assert f() == 1"], False),
    "in a branch": (["if x:", "    assert f() == 1"], False),
    "in a try": (["try:", "    assert f() == 1", "except AssertionError:", "    pass"], False),
    "after a return": (["if x:", "    return", "assert f() == 1"], False),
    "below what raises": (["with pytest.raises(E):", "    g()", "    assert f() == 1"], False),
    "below an unknown manager": (["with manager():", "    assert f() == 1"], False),
    "in a function": (["def check():", "    assert f() == 1", "check()"], False),
    "of each element": (["assert all(x == 1 for x in f())"], False),
}


@pytest.mark.parametrize(("lines", "reached"), REACHED.values(), ids=REACHED)
def test_an_assertion_is_unconditional_only_if_a_passing_test_reached_it(
    lines: list[str], reached: bool
) -> None:
    """What an honest fix may never reach must not convict it."""
    twin = next(twin for twin in offer(body(*lines)) if twin.operator == "eq_lit")
    assert twin.unconditional is reached
