"""What a twin must never change: anything that is given to the code under test."""

import pytest
from twin_cases import body, edits, offer, text

from evaluator.twins.site import Operator, OperatorClass

INPUTS = {
    "subscript": ["assert f()['word'] == g['word']"],
    "subscript of an expected value": ["assert f() == table['word'][7]"],
    "call on the right": ["assert f() == g('word', key=7)"],
    "call within a container": ["assert f() == [g('word'), Rational(7, 2)]"],
    "method of a value": ["assert f() == x.method('word')"],
    "call on the left": ["assert f('word') == x"],
    "list to the left": ["assert [f('word'), 7] == x"],
    "f-string": ["assert f() == f'word {x!r:>7}'"],
    "attribute by name": ["assert f() == getattr(x, 'word')"],
    "comprehension": ["assert f() == [g(7) for x in 'word']"],
    "option in a helper's list": ["self._runtest(['--word', '7'], reporter=r)"],
    "unknown helper": ["check(f(), 'word', expected=7)", "self.assertWord('word', 7)"],
    "negative matcher": ["r.stdout.no_fnmatch_line('*word*')", "r.stdout.no_re_match_line('word7')"],
    "negated membership": ["self.assertTrue('word' not in f())", "self.assertNotIn('word', f())"],
    "inequality": ["assert f() != 'word'", "self.assertNotEqual(f(), 7)"],
    "disjunction": ["assert f() == 'word' or f() == 7"],
    "negation": ["assert not f() == 'word'"],
    "method held in a variable": ["method = 'word'", "assert f(method) == x", "assert g.method == method"],
    "number held in a variable": ["expected = 7", "assert f(expected) == x"],
    "expected value that is given as well": ["expected = 'word'", "assert f(expected) == expected"],
    "expected value in a message": ["expected = 'word'", "assert f() == x, expected"],
    "variable bound anew": ["expected = 'word'", "expected = g()", "assert f() == expected"],
    "variable bound otherwise": ["expected = 'word'", "for expected in x:", "    assert f() == expected"],
    "variable read by name": ["expected = 'word'", "assert f() == expected", "g(locals())"],
    "input column of a loop": ["for given, want in [('word', x), (7, y)]:", "    assert f(given) == want"],
    "column of a loop that is given as well": [
        "for expected in ['word', 7]:",
        "    assert f(expected) == expected",
    ],
    "column of a table that others read": [
        "table = [(x, 'word')]",
        "for given, want in table:",
        "    assert f(given, table) == want",
    ],
    "set-up": ["x = f('word', 7)", "x.run(['word'])", "assert x.done"],
    "context manager": ["with self.settings(WORD='word'):", "    assert f() == x"],
    "constant comparison": ["assert 'word' == 'word'"],
    "keyword of a tolerance": ["assert_allclose(f(), x, rtol=7, err_msg='word')"],
    "argument of a raising call": ["self.assertRaises(E, f, 'word', 7)"],
    "data of a shift": ["assert f() == 1 << 7"],
}


@pytest.mark.parametrize("lines", INPUTS.values(), ids=INPUTS)
def test_inputs_are_never_edited(lines: list[str]) -> None:
    """No literal named `word` or 7 in these tests says what is expected."""
    strong = {
        operator: [old for old, _ in found]
        for operator, found in edits(body(*lines)).items()
        if operator.class_ is OperatorClass.LIT
    }
    assert not [old for found in strong.values() for old in found if "word" in old or "7" in old]


def test_the_input_column_of_a_table_is_never_edited() -> None:
    """Of a row only the elements change that the test uses on an expected side, and nowhere else."""
    rows = """
        import pytest

        @pytest.mark.parametrize("given, expected, both", [(["word"], ["uno"], ["also"])])
        def test_it(given, expected, both):
            assert f(given, both) == expected
            assert g() == both
    """
    found = edits(rows, "test_it[given0-expected0-both0]")
    assert [old for old, _ in found[Operator.PARAM]] == ['"uno"']
    assert not any(
        "word" in old or "also" in old for pairs in found.values() for old, _ in pairs if len(old) < 9
    )


@pytest.mark.parametrize(
    "decorators",
    [
        '@pytest.mark.parametrize("expected", list_of_rows)',
        '@pytest.mark.parametrize("expected", ["uno"], ids=make_id)',
        '@pytest.mark.parametrize("expected", [Thing("uno")])',
        '@pytest.mark.parametrize("expected", ["uno"])\n@pytest.mark.parametrize("other", [1, 2])',
    ],
)
def test_rows_whose_ids_cannot_be_told_are_left_alone(decorators: str) -> None:
    """An edit there could take the id away, which is no failing test."""
    code = f"import pytest\n\n{decorators}\ndef test_it(expected, other=None):\n    assert f() == expected\n"
    assert not {Operator.PARAM, Operator.PARAM_KEEPID} & set(edits(code, "test_it[uno]"))


def test_a_branch_that_some_rows_take_is_left_alone() -> None:
    """An assertion below a condition on a parameter would be contradicted for some ids only."""
    code = """
        import pytest

        @pytest.mark.parametrize("name", ["a", "b"])
        def test_it(name):
            given = g()
            if name == "a":
                assert f(name) == 1
            else:
                assert f(name) == 2
    """
    twins = offer(code, "test_it[a]", "test_it[b]")
    assert [(twin.operator, twin.site.line) for twin in twins] == [(Operator.APPEND, 9)]


def test_the_opposite_boolean_is_a_last_resort() -> None:
    """The buggy code gives it: a strong twin of a boolean asks for the third value."""
    for line in (
        "assert f() == True",
        "assert f() is True",
        "self.assertEqual(f(), True)",
        "self.assertIs(f(), True)",
    ):
        strong = [twin for twin in offer(body(line)) if twin.site.strong]
        assert [twin.text for twin in strong] == ["None"]


def test_the_docstring_is_never_edited() -> None:
    """Some runners name a test by it."""
    code = body('"""word"""', "assert f() == 'other'")
    assert all(text(code)[t.site.start : t.site.end] != b'"""word"""' for t in offer(code))
