"""Every check of the judge is needed: without any single one, some evidence gets another verdict."""

import ast
import inspect
from collections.abc import Callable, Iterator

import pytest
from test_judge import CHECKED, EXPECTED, PASS

from evaluator import judge as module
from evaluator.evidence import Evidence, Expectation
from evaluator.judge import Judgement

Judge = Callable[[Expectation, Evidence], Judgement]
SOURCE = inspect.getsource(module)


def checks() -> Iterator[ast.Call]:
    """The places in the judge's source that make a check which can decide."""
    for node in ast.walk(ast.parse(SOURCE)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Check":
            assert len(node.args) == 3
            yield node


def judge_without(place: int) -> Judge:
    """The judge, with the check in this place never finding anything."""
    tree = ast.parse(SOURCE)
    calls = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Check"
    ]
    calls[place].args[2] = ast.copy_location(ast.Constant(None), calls[place].args[2])
    space = {"__name__": module.__name__}
    exec(compile(tree, "a judge with one check less", "exec"), space)
    found: Judge = space["judge"]  # type: ignore[assignment]
    return found


ASKED = [ast.literal_eval(check.args[0]) for check in checks()]


@pytest.mark.parametrize("place", range(len(ASKED)), ids=ASKED)
def test_no_check_can_be_left_out(place: int) -> None:
    """Without it, a case of the judge's own tests is decided otherwise."""
    mutant = judge_without(place)
    assert mutant(EXPECTED, PASS).reason == "resolved"
    assert any(mutant(EXPECTED, evidence).reason != reason for evidence, reason in CHECKED)
