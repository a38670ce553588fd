"""A task as its twins have it: the same in everything but some expectations of its tests."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from evaluator.apply import read_file
from evaluator.twins.bank import TestFile, combine
from evaluator.twins.site import Twin
from evaluator.workshop import Setup
from sandbox.job import File


def twinned(setup: Setup, twins: Iterable[Twin], ids: tuple[str, ...], files: tuple[str, ...]) -> Setup:
    """`setup` with the twins in its test files, of which `files` run and `ids` are what matters.

    Raises:
        ValueError: the twins do not go together.
    """
    sources = _sources(setup)
    content = combine({path: file.content for path, file in sources.items()}, twins)
    changed = {path: replace(sources[path], content=text) for path, text in content.items()}
    return replace(
        setup,
        task=setup.task.model_copy(update={"fail_to_pass": ids, "pass_to_pass": ()}),
        trusted=replace(setup.trusted, files={**setup.trusted.files, **changed}),
        files=files,
        ignored=(),
    )


def test_files(setup: Setup) -> Mapping[str, TestFile]:
    """Where twins of the task's tests may be, before and after its test patch."""
    tree = setup.prepared.tree
    found = {}
    for path, file in _sources(setup).items():
        before = read_file(tree / path)
        found[path] = TestFile(before.content if before and not before.link else None, file.content)
    return found


test_files.__test__ = False  # type: ignore[attr-defined]


def _sources(setup: Setup) -> dict[str, File]:
    """Test files in Python as the test patch leaves them, without those that belong to the fix."""
    named = {path: read_file(setup.prepared.tree / path) for path in setup.files}
    return {
        path: file
        for path, file in (named | dict(setup.trusted.files)).items()
        if file and not file.link and path.endswith(".py") and path not in setup.trusted.fixed
    }
