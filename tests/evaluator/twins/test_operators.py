"""Which edits each operator offers."""

import re

import pytest
from twin_cases import body, edits, offer, rendered, text

from evaluator.twins.site import Operator, OperatorClass

O = Operator  # noqa: E741 - a table reads better so
PYTEST = "import pytest"

OFFERS = [
    # operator, lines, imports, what is replaced, pattern of what replaces it
    (O.EQ_LIT, ["assert f() == 'word'"], "", "'word'", r"'wor[a-z]'"),
    (O.EQ_LIT, ["assert 12 == f()"], "", "12", r"\d\d"),
    (O.EQ_LIT, ["assert f() == True"], "", "True", "None"),
    (O.EQ_LIT, ["assert f() == []"], "", "[]", r"\[[2-9]\]"),
    (O.EQ_LIT, ["assert f() == {}"], "", "{}", r"\{([2-9]): [2-9]\}"),
    (O.EQ_LIT, ["assert f() == -1.5"], "", "1.5", r"[2-9]\.5"),
    (O.EQ_LIT, ["assert a and f() == 7"], "", "7", r"\d"),
    (O.EQ_LIT, ["assert all(x == 7 for x in f())"], "", "7", r"\d"),
    (O.EQ_LIT, ["assert (f() == 7).all()"], "", "7", r"\d"),
    (O.EQ_LIT, ["assert await_it == b'ab'"], "", "b'ab'", r"b'a[a-z]'"),
    (O.UT_LIT, ["self.assertEqual(f(), 'word')"], "", "'word'", r"'wor[a-z]'"),
    (O.UT_LIT, ["self.assertEqual('word', f())"], "", "'word'", r"'wor[a-z]'"),
    (O.UT_LIT, ["self.assertIn('word', f())"], "", "'word'", r"'wor[a-z]'"),
    (O.UT_LIT, ["self.assertContains(r, 'word', status_code=200)"], "", "'word'", r"'wor[a-z]'"),
    (O.UT_LIT, ["with self.assertNumQueries(3):", "    f()"], "", "3", r"[1-9]"),
    (O.UT_LIT, ["self.assertNumQueries(3, f)"], "", "3", r"[1-9]"),
    (O.UT_LIT, ["self.assertAlmostEqual(f(), 3.25)"], "", "3.25", r"[1-9]\.25"),
    (O.RAISES_MSG, ["with pytest.raises(E, match='bad word'):", "    f()"], PYTEST, "'bad word'", r"'.{8}'"),
    (O.RAISES_MSG, ["with self.assertRaisesMessage(E, 'word'):", "    f()"], "", "'word'", r"'wor[a-z]'"),
    (O.RAISES_MSG, ["self.assertRaisesRegex(E, 'word', f)"], "", "'word'", r"'wor[a-z]'"),
    (
        O.RAISES_MSG,
        ["with pytest.raises(E) as info:", "    f()", "info.match('word')"],
        PYTEST,
        "'word'",
        r"'wor[a-z]'",
    ),
    (O.IN_LIT, ["assert 'word' in f()"], "", "'word'", r"'wor[a-z]'"),
    (O.HELPER_LIT, ["r.assert_outcomes(passed=2)"], "", "2", r"[1-9]"),
    (O.HELPER_LIT, ["r.stdout.fnmatch_lines(['*word*'])"], "", "'*word*'", r"'\*[a-z]{4}\*'"),
    (O.HELPER_LIT, ["np.testing.assert_allclose(f(), [25, x])"], "", "25", r"[13-9]5"),
    (O.HELPER_LIT, ["assert_array_equal(f(), (4, 5))"], "", "4", r"[1-9]"),
    (O.HELPER_LIT, ["m.assert_called_once_with('word')"], "", "'word'", r"'wor[a-z]'"),
    (O.HELPER_LIT, ["assert_node(d, [p, 'word'])"], "", "'word'", r"'wor[a-z]'"),
    (O.HELPER_LIT, ["assert_node(d, n, objtype='word')"], "", "'word'", r"'wor[a-z]'"),
    (O.HELPER_LIT, ["self._runtest(['--word'], code=20)"], "", "20", r"\d\d"),
    (O.HELPER_LIT, ["assert np.allclose(f(), 2.5)"], "", "2.5", r"[13-9]\.5"),
    (O.HELPER_LIT, ["assert f().startswith('word')"], "", "'word'", r"'wor[a-z]'"),
    (
        O.HELPER_LIT,
        ["with self.assertAddsMessages(Message('a-word', node=n)):", "    f()"],
        "",
        "'a-word'",
        r"'a-wor[a-z]'|'[a-z]-word'",
    ),
    (O.EQ_NESTED, ["assert f() == [x, 'word']"], "", "'word'", r"'wor[a-z]'"),
    (O.EQ_NESTED, ["assert f() == x + 2"], "", "2", r"[1-9]"),
    (O.EQ_NESTED, ["assert f() == dict(a='word')"], "", "'word'", r"'wor[a-z]'"),
    (O.EQ_NESTED, ["assert f() == pytest.approx(0.25)"], PYTEST, "0.25", r"[1-9]\.25"),
    (O.EQ_NESTED, ["assert f() == 'word'.encode('ascii')"], "", "'word'", r"'wor[a-z]'"),
    (O.UT_NESTED, ["self.assertEqual(f(), {'a': x, 'b': 'word'})"], "", "'word'", r"'wor[a-z]'"),
    (O.EXPECTED_VAR, ["expected = 'word'", "assert f() == expected"], "", "'word'", r"'wor[a-z]'"),
    (
        O.EXPECTED_VAR,
        ["msg = 'word'", "with self.assertRaisesMessage(E, msg):", "    f()"],
        "",
        "'word'",
        r"'wor[a-z]'",
    ),
    (
        O.EXPECTED_VAR,
        ["expected = 'one'", "assert f() == expected", "expected = 'word'", "assert g() == expected"],
        "",
        "'word'",
        r"'wor[a-z]'",
    ),
    (
        O.LOOP_ROW,
        ["table = [(1, 'word')]", "for given, want in table:", "    assert f(given) == want"],
        "",
        "'word'",
        r"'wor[a-z]'",
    ),
    (
        O.LOOP_ROW,
        [
            "for given, want in ((1, 'word'), (2, x)):",
            "    with self.subTest(want=want):",
            "        self.assertEqual(f(given), want)",
        ],
        "",
        "'word'",
        r"'wor[a-z]'",
    ),
    (O.THIRD, ["assert f() is True"], "", "True", "None"),
    (O.THIRD, ["assert f() is None"], "", "None", "False"),
    (O.THIRD, ["assert 'word' in f()"], "", "'word' in f()", r"f\(\) == 'wor[a-z]'"),
    (O.THIRD, ["assert x not in f() + g()"], "", "x not in f() + g()", r"\(f\(\) \+ g\(\)\) == '[a-z]{8}'"),
    (O.THIRD, ["self.assertTrue(f())"], "", "assertTrue(f()", r"assertEqual\(f\(\), None"),
    (O.THIRD, ["self.assertFalse(f(), 'why')"], "", "assertFalse(f()", r"assertEqual\(f\(\), [2-9]"),
    (O.THIRD, ["self.assertIs(f(), False)"], "", "False", "None"),
    (O.THIRD, ["self.assertIsNone(f())"], "", "assertIsNone(f()", r"assertIs\(f\(\), False"),
    (O.HELPER_THIRD, ["assert_allclose(f(), g(1))"], "", "g(1)", r"\(g\(1\)\) \+ [2-9]"),
    (O.HELPER_THIRD, ["assert_identical(expected, f())"], "", "expected", r"\(expected\) \+ [2-9]"),
    (O.RAISES_EXC, ["with pytest.raises(ValueError):", "    f()"], PYTEST, "ValueError", r"[A-Z]\w+Error"),
    (O.RAISES_EXC, ["self.assertRaises(E, f)"], "", "E", r"[A-Z]\w+Error"),
    (O.RAISES_EXC, ["with pytest.warns(W):", "    f()"], PYTEST, "W", r"[A-Z]\w+Warning"),
    (
        O.RAISES_EXC,
        ["raises(ValueError, lambda: f())"],
        "from sympy.testing.pytest import raises",
        "ValueError",
        r"[A-Z]\w+Error",
    ),
    (O.RAISES_ADDMATCH, ["with pytest.raises(E):", "    f()"], PYTEST, "", r", match='[a-z]{8}'"),
    (O.EQ_NEG, ["assert f() == g()"], "", "==", "!="),
    (O.EQ_NEG, ["assert f() != g()"], "", "!=", "=="),
    (O.IS_NEG, ["assert f() is  not g()"], "", "is  not", "is"),
    (O.IN_NEG, ["assert f() not in g()"], "", "not in", "in"),
    (O.ORDER_NEG, ["assert f() < g()"], "", "<", ">="),
    (O.UT_SWAP, ["self.assertGreater(f(), 1)"], "", "assertGreater", "assertLessEqual"),
    (O.ASSERT_NOT, ["assert f()"], "", "f()", r"not f\(\)"),
    (O.ASSERT_NOT, ["assert not (a or b)"], "", "not (a or b)", r"\(a or b\)"),
    (O.APPEND, ["v = f()", "g(v)"], "", "", r"; assert v == '[a-z]{8}'"),
    (O.APPEND, ["v = f()", "def g():", "    yield v", "g()"], "", "", r"; assert v == '[a-z]{8}'"),
    (O.APPEND, ["v = f()", "for x in v:", "    g(x)"], "", "", r"\n    assert v == '[a-z]{8}'"),
    (O.NONE_WRAP, ["assert f() == g()"], "", "f() == g()", r"\(f\(\) == g\(\)\) is None"),
    (O.WRAP_RAISES, ["f()"], PYTEST, "", r"with pytest\.raises\(\w+Error\): "),
]


@pytest.mark.parametrize(
    ("operator", "lines", "imports", "old", "new"),
    OFFERS,
    ids=[f"{operator}-{' '.join(lines)}" for operator, lines, *_ in OFFERS],
)
def test_an_operator_offers_its_edit(
    operator: Operator, lines: list[str], imports: str, old: str, new: str
) -> None:
    """Each operator replaces what it should by what it should."""
    found = edits(body(*lines, imports=imports)).get(operator, [])
    assert old in [one for one, _ in found]
    replacement = next(other for one, other in found if one == old)
    assert re.fullmatch(new, replacement)
    assert replacement != old


def test_every_operator_is_tried() -> None:
    """The table above leaves out only those that need rows."""
    assert {operator for operator, *_ in OFFERS} == set(O) - {O.PARAM, O.PARAM_KEEPID}


def test_operators_are_ranked_within_their_classes() -> None:
    """Strong classes come before weak ones."""
    order = list(OperatorClass)
    ranks = [order.index(operator.class_) for operator in sorted(O, key=lambda operator: operator.rank)]
    assert ranks == sorted(ranks)


def test_siblings_of_an_exception_are_no_kin_of_it() -> None:
    """A subclass or base class of what is expected would be caught as well."""
    code = body("with pytest.raises((ArithmeticError, OSError)):", "    f()", imports=PYTEST)
    site = next(twin.site for twin in offer(code) if twin.operator is O.RAISES_EXC)
    assert not {"ZeroDivisionError", "OverflowError"} & set(site.templates)
    assert len(site.templates) >= 3


def test_a_row_keeps_its_id() -> None:
    """The id of a changed row is pinned, with all others; it targets the ids of that row only."""
    rows = """
        import pytest

        @pytest.mark.parametrize("given, expected", [("one", "uno"), ("two", "dos")])
        def test_it(given, expected):
            assert f(given) == expected
    """
    twins = offer(rows, "test_it[one-uno]", "test_it[two-dos]")
    twin = next(twin for twin in twins if twin.operator is O.PARAM_KEEPID)
    assert twin.targets == ("tests/test_it.py::test_it[one-uno]",)
    assert "(\"two\", \"dos\")], ids=['one-uno', 'two-dos'])" in rendered(rows, twin)


def test_a_row_whose_id_does_not_depend_on_it_is_edited_in_place() -> None:
    """Lists do not show in ids; given ids stay what they are."""
    lists = """
        import pytest

        @pytest.mark.parametrize("given, expected", [(["one"], ["uno"]), (["two"], ["dos"])])
        def test_it(given, expected):
            assert f(given) == expected
    """
    twin = next(t for t in offer(lists, "test_it[given1-expected1]") if t.operator is O.PARAM)
    assert (twin.site.pins, twin.targets) == ((), ("tests/test_it.py::test_it[given1-expected1]",))
    assert text(lists)[twin.site.start : twin.site.end] == b'"dos"'
    given = """
        import pytest

        @pytest.mark.parametrize("expected", [pytest.param("uno", id="first"), pytest.param("dos", id="2nd")])
        def test_it(expected):
            assert f() == expected
    """
    twin = next(t for t in offer(given, "test_it[first]", "test_it[2nd]") if t.operator is O.PARAM)
    assert (twin.site.pins, twin.targets) == ((), ("tests/test_it.py::test_it[first]",))


def test_a_literal_that_a_pattern_or_a_tolerance_may_swallow_has_to_be_proven_again() -> None:
    """Only where nothing but the equal passes is any other value as good as a proven one."""
    free = {
        line: {
            twin.site.free for twin in offer(body(line, imports=PYTEST)) if twin.class_ is OperatorClass.LIT
        }
        for line in (
            "assert f() == 'word'",
            "assert f() == [x, 'word']",
            "assert f() == pytest.approx(0.25)",
            "assert 'word' in f()",
            "assert f() == True",
            "assert_allclose(f(), 2)",
        )
    }
    assert list(free.values()) == [{True}, {True}, {False}, {False}, {False}, {False}]
