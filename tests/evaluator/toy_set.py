"""A set of small bugs in one real git repository, alike but for their numbers, and quick to judge."""

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import toy_project as toy

from tasks.task import Task

REPO = "toy/shapes"
ENVIRONMENT = toy.ENVIRONMENT.model_copy(update={"install": ""})
"""Shares its packages with every test that runs the toy project."""

BUG = "def area(width, height):\n    return width + height\n"
PATCH = """\
diff --git a/area{0}.py b/area{0}.py
--- a/area{0}.py
+++ b/area{0}.py
@@ -1,2 +1,2 @@
 def area(width, height):
-    return width + height
+    return width * height
"""
TEST_PATCH = """\
diff --git a/test_area{0}.py b/test_area{0}.py
new file mode 100644
--- /dev/null
+++ b/test_area{0}.py
@@ -0,0 +1,7 @@
+from area{0} import area
+
+def test_area():
+    assert area(3, 4) == 12
+
+def test_square():
+    assert area(2, 2) == 4
"""
SOMEBODY = {
    f"GIT_{role}_{fact}": value
    for role in ("AUTHOR", "COMMITTER")
    for fact, value in (("NAME", "toy"), ("EMAIL", "toy@example.org"), ("DATE", "2024-01-01T00:00:00Z"))
}
"""Equal content gives an equal commit, so what the cache holds of it stays right."""


@dataclass(frozen=True)
class ToySet:
    """`repo_url` is what `--repo-url` takes, `file` a dataset of all tasks."""

    tasks: tuple[Task, ...]
    repo_url: str
    file: Path

    @property
    def names(self) -> list[str]:
        return [task.instance_id for task in self.tasks]


def make(folder: Path, size: int = 6) -> ToySet:
    origin = folder / REPO
    origin.mkdir(parents=True)
    for number in range(size):
        (origin / f"area{number}.py").write_text(BUG)
    git = ("git", "-c", "core.autocrlf=false")
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "shapes"]):
        subprocess.run([*git, *words], cwd=origin, check=True, env=os.environ | SOMEBODY)
    commit = subprocess.run(
        [*git, "rev-parse", "HEAD"], cwd=origin, check=True, capture_output=True, text=True
    )
    tasks = tuple(task(number, commit.stdout.strip()) for number in range(size))
    return ToySet(tasks, f"file://{folder}/{{owner}}/{{name}}", write(folder / "shapes.jsonl", *tasks))


def task(number: int, commit: str) -> Task:
    tests = f"test_area{number}.py"
    return Task(
        instance_id=f"toy__shapes-{number}",
        repo=REPO,
        base_commit=commit,
        problem_statement=f"area{number}.area adds the sides of a rectangle.",
        patch=PATCH.format(number),
        test_patch=TEST_PATCH.format(number),
        FAIL_TO_PASS=(f"{tests}::test_area",),
        PASS_TO_PASS=(f"{tests}::test_square",),
        environment=ENVIRONMENT,
    )


def write(path: Path, *tasks: Task, **changes: object) -> Path:
    """A JSONL dataset of `tasks`, each with `changes` to its row."""
    rows = (task.model_dump(mode="json", by_alias=True) | changes for task in tasks)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path
