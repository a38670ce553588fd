"""Candidates, fresh draws, and several twins in one file."""

import ast
import os
import site as interpreter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter
from twin_cases import PATH, body, offer, text

from evaluator.twins.bank import TestFile, candidates, combine, draw, draw_round
from evaluator.twins.functions import LineStatus, definitions
from evaluator.twins.site import Operator, Site, Twin
from evaluator.twins.source import apply_edits, parse

TWO = """
    import pytest

    def test_one():
        v = f()
        assert v == "word"
        assert 7 in v
        with pytest.raises(ValueError):
            g()

    class TestTwo:
        def test_two(self):
            assert f() == 1
            for x in f():
                assert x == 2
"""
IDS = ("test_one", "TestTwo::test_two")


def test_better_twins_come_first() -> None:
    """Operators in their order; of one operator added lines first, then what is surely reached."""
    before = body("for x in y:", "    assert f(x) == 1", "assert f() == 2")
    after = body(
        "for x in y:", "    assert f(x) == 1", "assert f() == 2", "assert g() == 3", "assert h() is None"
    )
    strong = [twin for twin in offer(after, before=before) if twin.site.strong]
    assert [(twin.operator, twin.site.line) for twin in strong] == [
        (Operator.EQ_LIT, 5),
        (Operator.EQ_LIT, 4),
        (Operator.EQ_LIT, 3),
        (Operator.THIRD, 6),
    ]


def test_public_functions_come_last() -> None:
    """A literal of a public test ranks behind a negation of one that the test patch wrote."""
    before = "def test_public():\n    assert f() == 1\n"
    after = "def test_public():\n    assert f() == 1\n\ndef test_new():\n    assert f() == g()\n"
    status = [twin.line_status for twin in offer(after, "test_public", "test_new", before=before)]
    assert status == sorted(status, key=[LineStatus.ADDED, LineStatus.PUBLIC].index)


def test_every_draw_has_another_value() -> None:
    """A value that was used already is not drawn again while there are others."""
    site = next(twin.site for twin in offer(body("assert f() == 7")) if twin.operator is Operator.EQ_LIT)
    used: list[Twin] = []
    for seed in range(8):
        used.append(draw([site], Random(seed), used))
    assert sorted(twin.text for twin in used) == list("12345689")


def test_a_draw_prefers_another_assertion() -> None:
    """A second twin stands elsewhere than the first, if there is a strong site elsewhere."""
    sites = [twin.site for twin in offer(TWO, "test_one") if twin.site.strong]
    first = draw(sites, Random(1))
    second = draw(sites, Random(1), [first])
    assert first.site.statement != second.site.statement
    assert second.site.strong


def test_a_draw_without_a_seed_is_not_foreseeable() -> None:
    """The values of two draws come from the operating system."""
    site = next(twin.site for twin in offer(body("v = f()")) if twin.operator is Operator.APPEND)
    assert len({draw([site]).text for _ in range(20)}) > 15


def test_a_draw_from_nothing_is_an_error() -> None:
    with pytest.raises(ValueError, match="no proven site"):
        draw([])


def test_one_run_holds_a_twin_of_every_function() -> None:
    """A round covers each function once, and its edits come together in one file."""
    sites = [twin.site for twin in offer(TWO, *IDS)]
    twins = draw_round(sites, Random(3))
    assert {twin.site.function for twin in twins} == {"test_one", "TestTwo.test_two"}
    combined = combine({PATH: text(TWO)}, twins)[PATH]
    for twin in twins:
        assert twin.text.encode() in combined
    assert ast.dump(ast.parse(combined)) != ast.dump(ast.parse(text(TWO)))


def test_the_real_run_has_the_pins_of_the_twin() -> None:
    """The real file and its twin differ in the value alone."""
    rows = """
        import pytest

        @pytest.mark.parametrize("given, expected", [("one", "uno"), ("two", "dos")])
        def test_it(given, expected):
            assert f(given) == expected
    """
    twin = next(t for t in offer(rows, "test_it[one-uno]") if t.operator is Operator.PARAM_KEEPID)
    files = {PATH: text(rows)}
    real, contradicted = combine(files, [], [twin.site])[PATH], combine(files, [twin], [twin.site])[PATH]
    assert len(real) == len(contradicted)
    assert sum(a != b for a, b in zip(real, contradicted, strict=True)) == 1


def test_overlapping_edits_are_refused() -> None:
    """Two values of one literal are no file."""
    site = next(twin.site for twin in offer(body("assert f() == 'word'")) if twin.operator is Operator.EQ_LIT)
    with pytest.raises(ValueError, match="overlap"):
        combine({PATH: text(body("assert f() == 'word'"))}, [Twin(site, "'a'"), Twin(site, "'b'")])


def test_a_site_survives_storage() -> None:
    """Sites are plain values: JSON and back is the same."""
    sites = tuple(twin.site for twin in offer(TWO, *IDS))
    stored = TypeAdapter(tuple[Site, ...])
    assert stored.validate_json(stored.dump_json(sites)) == sites


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_line_ends_and_byte_order_marks_move_nothing(line_end: str, mark: bytes) -> None:
    """Positions are right in files of any system, behind any letters."""
    code = 'def test_it():\n    x = "äöü"; assert f("é") == "wörd"\n    v = """a\nb"""\n    assert v == 7\n'
    content = mark + code.replace("\n", line_end).encode()
    twins = candidates({PATH: TestFile(None, content)}, [f"{PATH}::test_it"], random=Random(1))
    found = {content[twin.site.start : twin.site.end].decode() for twin in twins}
    assert {'"wörd"', "7", "=="} <= found


@pytest.mark.parametrize(
    "content",
    [
        b"def test_it(:\n",
        b"def test_it():\n    assert f() == '\xff'\n",
        b"# coding: latin-1\ndef test_it():\n    assert f() == '\xe4'\n",
        b"# coding: no-such\ndef test_it():\n    assert f() == 1\n",
        b"def test_it():\n    assert " + b"(" * 5000 + b")" * 5000 + b"\n",
        b"def test_it():\n    assert x == 1\0\n",
    ],
)
def test_what_cannot_be_read_has_no_twins(content: bytes) -> None:
    """Files that are not Python, or not in UTF-8, are left alone."""
    assert candidates({PATH: TestFile(content, content)}, [f"{PATH}::test_it"]) == ()


def test_deep_expressions_are_read_to_a_depth() -> None:
    """A long sum is a deep tree, and no reason to fail."""
    for expression in ("+".join(["x"] * 900), "-" * 800 + "7", "[" * 90 + "7" + "]" * 90):
        assert offer(body(f"assert f() == {expression}"))


def check_twins(content: bytes, seed: int) -> int:
    """Asserts what holds of every twin of every test of a file; returns how many there are."""
    source = parse(content)
    if source is None:
        return 0
    nodes = {name: node for name, node in definitions(source.tree) if not isinstance(node, ast.ClassDef)}
    names = [name for name in nodes if name.rpartition(".")[2].startswith("test")]
    twins = candidates(
        {PATH: TestFile(None, content)},
        [f"{PATH}::{name.replace('.', '::')}" for name in names],
        random=Random(seed),
    )
    for twin in twins:
        node = nodes[twin.site.function]
        first = min(part.lineno for part in (node, *node.decorator_list))
        assert source.line_start(first) <= twin.site.start <= twin.site.end <= source.end(node)
        assert apply_edits(content, twin.edits) != content
        assert twin.targets
    for twin in Random(seed).sample(twins, min(4, len(twins))):
        whole = combine({PATH: content}, [twin])[PATH]
        old, new = ast.parse(content), ast.parse(whole)
        assert ast.dump(old) != ast.dump(new)
        kept = [
            (name, ast.dump(other))
            for name, other in definitions(old)
            if not twin.site.function.startswith(name)
        ]
        assert kept == [
            (name, ast.dump(other))
            for name, other in definitions(new)
            if not twin.site.function.startswith(name)
        ]
    return len(twins)


STATEMENTS = st.sampled_from(
    [
        "assert f() == {}",
        "assert {} in f()",
        "self.assertEqual(f({}), {})",
        "with pytest.raises(ValueError, match={}):\n    f({})",
        "for x in f({}):\n    assert x == {}",
        "expected = {}\nassert f() == expected",
        "r.assert_outcomes(passed={}); assert f() is {}",
        "def inner(a={}):\n    return a\nassert inner() != {}",
        "assert not f({}), {}",
        "if x: assert f() == [{}, {{{}: {}}}]",
        "@decorated({})\nclass A: pass",
        "return {}",
        "yield {}",
    ]
)
VALUES = st.recursive(
    st.one_of(
        st.text(max_size=9).map(repr), st.integers().map(str), st.floats().map(repr), st.booleans().map(str)
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda parts: "[" + ", ".join(parts) + "]"),
        st.tuples(inner, inner).map(" + ".join),
        inner.map("g({})".format),
        inner.map("({})[0]".format),
    ),
    max_leaves=5,
)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(STATEMENTS, VALUES, VALUES, VALUES), min_size=1, max_size=5), st.integers(0, 9))
def test_twins_of_generated_tests_stay_inside_them(lines: list[tuple[str, str, str, str]], seed: int) -> None:
    """Whatever a test is made of, its twins are Python and differ from it in the test alone."""
    code = "".join(f"{line.format(*values)}\n" for line, *values in lines)
    indented = "".join(f"    {line}\n" for line in code.splitlines())
    check_twins(
        f"import pytest\n\ndef test_it(self):\n{indented}\n\ndef test_other():\n    pass\n".encode(), seed
    )


@settings(deadline=None, max_examples=60)
@given(st.one_of(st.binary(max_size=200), st.text(max_size=200).map(lambda t: t.encode("utf-8", "ignore"))))
def test_no_bytes_make_it_fail(content: bytes) -> None:
    """Test files are as untrusted as everything else."""
    check_twins(b"def test_it():\n    " + content, 1)


def installed_tests() -> Iterator[Path]:
    """Test files of installed packages, in an order of their own."""
    for folder in interpreter.getsitepackages():
        for directory, folders, names in os.walk(folder):
            folders.sort()
            if "tests" in Path(directory).parts:
                yield from (Path(directory, name) for name in sorted(names) if name.endswith(".py"))


def test_twins_of_installed_tests_stay_inside_them() -> None:
    """Real tests of many authors."""
    paths = [path for path in installed_tests() if 2_000 < path.stat().st_size < 20_000]
    if not paths:
        pytest.skip("no installed package brings its tests along")
    chosen = Random(11).sample(paths, min(40, len(paths)))
    assert sum(check_twins(path.read_bytes(), 5) for path in chosen)
