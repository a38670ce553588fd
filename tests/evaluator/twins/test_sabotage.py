"""Functions a fix touches, and their sabotage."""

import ast
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from twin_cases import text

from evaluator.twins.sabotage import Sabotage, sabotage, touched_functions

BEFORE = """
    X = 1

    def same():
        return 1

    def changed(a):
        return a

    class C:
        @property
        def size(self):
            return 1

        @size.setter
        def size(self, value):
            self.value = value

        def gone(self):
            return 2
"""
AFTER = """
    X = 2

    def same():
        return 1

    def changed(a):
        b = a
        return b

    class C:
        @property
        def size(self):
            return 3

        @size.setter
        def size(self, value):
            self.value = value

        def new(self):
            return 2
"""


def test_touched_functions_are_those_whose_text_differs() -> None:
    """Changed and new ones; what is gone cannot be sabotaged, nor can a module's own lines."""
    assert touched_functions(text(BEFORE), text(AFTER)) == ("changed", "C.size", "C.new")
    assert touched_functions(None, text(BEFORE)) == ("same", "changed", "C.size", "C.gone")
    assert touched_functions(b"x = 1", b"not python (") == ()


BODIES = {
    "number": ("return 7", -1),
    "text": ("return 'a'", ""),
    "bytes": ("return b'a'", b""),
    "list": ("return [1]", []),
    "mapping": ("return {1: 2}", {}),
    "truth": ("return True", False),
    "comparison": ("return 1 < 2", False),
    "nothing": ("return None", 0),
    "call": ("return len('a')", None),
    "no value": ("len('a')", None),
    "documented": ('"""About it."""\n    x = 7\n    return x + 1', None),
    "only documented": ('"""About it."""', None),
    "decorated inside": ("@staticmethod\n    def inner():\n        pass\n    return inner", None),
    "last of several": ("if 0:\n        return 'a'\n    return [3]", []),
}


@pytest.mark.parametrize(("body", "wrong"), BODIES.values(), ids=BODIES)
def test_a_sabotaged_function_raises_or_returns_nonsense(body: str, wrong: object) -> None:
    """The body is replaced, whatever it was; the rest of the file stays."""
    content = f"def f():\n    {body}\n\n\ndef g():\n    return 5\n".encode()
    raising = run(sabotage(content, "f", Sabotage.RAISE))
    with pytest.raises(RuntimeError):
        raising["f"]()
    assert raising["g"]() == 5
    if changed := sabotage(content, "f", Sabotage.WRONG):
        assert run(changed)["f"]() == wrong


def run(content: bytes | None) -> dict[str, Any]:
    assert content is not None
    names: dict[str, Any] = {}
    exec(compile(content, "sabotaged.py", "exec"), names)
    return names


def test_a_generator_stays_one() -> None:
    """It yields nothing, instead of becoming a function that returns nothing."""
    content = b"def f(): yield 1\n\nclass C:\n    def f(self):\n        x = 1\n        yield x\n"
    assert list(run(sabotage(content, "f", Sabotage.WRONG))["f"]()) == []
    assert list(run(sabotage(content, "C.f", Sabotage.WRONG))["C"]().f()) == []


def test_a_getter_and_its_setter_fall_together() -> None:
    """Both have the name that the fix touched."""
    changed = sabotage(text(AFTER), "C.size", Sabotage.RAISE)
    assert changed is not None
    assert changed.count(b"raise RuntimeError") == 2


def test_a_function_that_is_not_there_cannot_be_sabotaged() -> None:
    """A patch may solve the task without the function."""
    assert sabotage(text(AFTER), "C.gone", Sabotage.RAISE) is None
    assert sabotage(b"not python (", "f", Sabotage.RAISE) is None
    assert sabotage(b"def f(): pass\n", "f", Sabotage.WRONG) is None


@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.sampled_from(["return {}", "x = 1", "yield 2", "'''doc'''", "pass", "@d\ndef i(): pass"]),
        min_size=1,
    )
)
def test_sabotage_is_always_python(lines: list[str]) -> None:
    """Whatever the body, the file parses, and only the function differs."""
    body = "".join(f"        {part}\n" for line in lines for part in line.splitlines())
    content = f"class C:\n    def f(self):  # why\n{body}    y = 2\n".encode()
    for way in Sabotage:
        changed = sabotage(content, "C.f", way)
        assert changed is None or changed.endswith(b"    y = 2\n")
        assert changed is None or ast.parse(changed)
