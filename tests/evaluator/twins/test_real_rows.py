"""How much of the public tasks the generator covers, without running anything."""

from collections import defaultdict
from pathlib import Path
from random import Random

import pytest
from real_tasks import test_files as files_of
from real_tasks import verified

from evaluator.twins.bank import OperatorClass, candidates
from evaluator.twins.functions import locate
from evaluator.twins.grade import TwinGrade, grade
from tasks.task import Task

TASKS = 25
"""Of each repository, drawn by chance: enough to see a rule break."""
C = OperatorClass
CLASSES = {
    "LIT": {C.LIT},
    "+ TH, RAI": {C.LIT, C.TH, C.RAI},
    "+ NEG": {C.LIT, C.TH, C.RAI, C.NEG},
    "+ ALW": set(C),
}


class Coverage:
    """Of the tasks of one repository."""

    def __init__(self) -> None:
        self.sites: list[list[int]] = []
        self.grades: list[TwinGrade] = []
        self.ids = self.located = 0

    def share(self, column: int, least: int) -> float:
        return 100 * sum(counts[column] >= least for counts in self.sites) / len(self.sites)

    def line(self, repo: str) -> str:
        shares = " | ".join(
            "/".join(f"{self.share(column, least):.0f}" for least in (1, 3, 5))
            for column in range(len(CLASSES))
        )
        grades = " ".join(f"{of}:{self.grades.count(of)}" for of in TwinGrade)
        return f"{repo}: {len(self.sites)} tasks, {self.ids} ids, sites % {shares}, grades {grades}"


def some_of_each() -> list[tuple[Task, Path]]:
    """Tasks with the mirrors of their repositories."""
    by_repo: dict[str, list[tuple[Task, Path]]] = defaultdict(list)
    for task, repository in verified():
        by_repo[task.repo].append((task, repository))
    return [pair for pairs in by_repo.values() for pair in Random(1).sample(pairs, min(TASKS, len(pairs)))]


@pytest.mark.slow
def test_public_tasks_are_covered() -> None:
    """Nearly every task has a twin, most have a strong one, and every id leads to its function."""
    coverage: dict[str, Coverage] = defaultdict(Coverage)
    for task, repository in some_of_each():
        files = files_of(task, repository)
        twins = candidates(files, task.fail_to_pass, task.pass_to_pass, Random(1))
        located = {test_id for function in locate(files, task.fail_to_pass) for test_id in function.required}
        for part in (coverage[task.repo], coverage["all"]):
            part.sites.append(
                [
                    len({(twin.path, twin.site.start) for twin in twins if twin.class_ in classes})
                    for classes in CLASSES.values()
                ]
            )
            part.grades.append(grade(twin.site for twin in twins))
            part.ids += len(task.fail_to_pass)
            part.located += len(located)
    if not coverage:
        pytest.skip("ASSAY_MIRRORS names no local mirrors of the repositories of public tasks")
    print("\nshare of tasks with at least 1/3/5 sites:", " | ".join(CLASSES))
    for repo, part in sorted(coverage.items()):
        print(part.line(repo))
    everything = coverage["all"]
    assert everything.located >= 0.95 * everything.ids
    assert everything.share(list(CLASSES).index("+ ALW"), 1) >= 95
    assert everything.share(list(CLASSES).index("+ NEG"), 1) >= 85
    assert everything.share(list(CLASSES).index("+ TH, RAI"), 1) >= 65
