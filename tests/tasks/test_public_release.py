"""The starter set against the package index it was recorded from."""

from importlib import resources
from pathlib import Path

import pytest

from tasks import starter
from tasks.errors import SourceError
from tasks.index import listed_hash


def test_a_public_release_pair_leads_to_what_is_recorded(tmp_path: Path) -> None:
    """Published archives lead to the recorded base commit and fix, and no line of their text is kept here."""
    (bug,) = (each for each in starter.bugs() if each.instance_id == "pathspec-0.12.1")
    try:
        listed_hash(bug.package, bug.base.version)
    except SourceError as error:
        pytest.skip(f"no package index can be reached: {error.message}")
    starter.prepare([bug], root=tmp_path)
    fix = starter.kept_fix(bug, tmp_path)
    assert fix is not None and fix.base_commit == bug.base_commit
    data = resources.files("tasks.data").joinpath("starter")
    kept = "".join(file.read_text("utf-8") for file in data.iterdir())
    assert fix.problem_statement.strip()
    assert not [line for line in fix.problem_statement.split("\n") if len(line) > 20 and line in kept]
