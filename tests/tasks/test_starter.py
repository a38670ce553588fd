"""The starter set: mined from release pairs, kept as facts, prepared from an index, checked by hash."""

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks import bug, release, starter
from tasks.bug import Bug
from tasks.environment import Environment
from tasks.errors import InputError, SourceError
from tasks.index import index_of_pip, settings_of_pip, source_distribution
from tasks.mine import Mined, classify, mine
from tasks.mirror import Mirrors, mirror_path
from tests.tasks.releases import PACKAGE, Index, archive, tree_of

MOODS = count()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("starter")


@pytest.fixture(scope="module")
def index(place: Path) -> Iterator[Index]:
    """The only index there is, for uv and for us."""
    served = Index(place / "index")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("UV_DEFAULT_INDEX", served.url)
        environment.setenv("UV_CACHE_DIR", str(place / "uv"))
        environment.setenv("UV_NO_CONFIG", "1")
        yield served
    served.close()


@pytest.fixture(scope="module")
def found(index: Index, place: Path) -> Mined:
    return mine(PACKAGE, "1.0", "1.1", place / "sdists", run_here, repeats=2)


@pytest.fixture(scope="module")
def spoon(found: Mined) -> Bug:
    return found.bug


@pytest.fixture
def root(spoon: Bug, place: Path, tmp_path: Path) -> Path:
    """A cache in which the bug is prepared."""
    shutil.copytree(place / "sdists", tmp_path / "sdists")
    starter.prepare([spoon], root=tmp_path)
    return tmp_path


@pytest.fixture
def unplugged(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No index answers, and uv remembers nothing."""
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://127.0.0.1:9/")
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv"))
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")


def run_here(tree: Path, environment: Environment, files: tuple[str, ...]) -> Mapping[str, str]:
    """Runs the tests of our own package, of which one is in a bad mood every other time."""
    assert environment.test_command == "pytest -rA"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-rA", "-q", "-p", "no:cacheprovider", *files],
        cwd=tree,
        env=os.environ | {"MOOD": "bad" if next(MOODS) % 2 else "good", "PYTHONPATH": str(tree)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stdout
    words = {"PASSED": "passed", "FAILED": "failed"}
    lines = (line.partition(" - ")[0].partition(" ") for line in done.stdout.splitlines())
    outcomes = {test: words[word] for word, _, test in lines if word in words}
    return outcomes | {"tests/test_spoon.py::test_never": "skipped"}


def test_mining_finds_what_a_release_fixed(found: Mined) -> None:
    """Tests that fail before and pass after are told from those that always pass; the rest is dropped."""
    assert bug.ids(found.bug.fail_to_pass) == (
        "tests/test_spoon.py::test_turned[Non n]",
        "tests/test_spoon.py::test_turned[Spoon]",
    )
    assert bug.ids(found.bug.pass_to_pass) == ("tests/test_spoon.py::test_small",)
    assert found.dropped == {
        "tests/test_spoon.py::test_moody": "failed or passed after the fix",
        "tests/test_spoon.py::test_never": "skipped after the fix",
    }
    assert found.bug.packages == ("pytest==8.0", "setuptools==8.0")


def test_mining_refuses_a_release_that_fixes_nothing(index: Index, place: Path) -> None:
    """A pair without a test that starts to pass is no bug."""

    def unmoved(*_: object) -> Mapping[str, str]:
        return {"tests/test_spoon.py::test_small": "passed"}

    with pytest.raises(InputError, match="No test fails"):
        mine(PACKAGE, "1.0", "1.1", place / "sdists", unmoved, repeats=1)


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        (["failed", "failed"], ["passed", "passed"], "fail_to_pass"),
        ([None, None], ["passed", "passed"], "fail_to_pass"),
        (["passed", "passed"], ["passed", "passed"], "pass_to_pass"),
        (["failed", "passed"], ["passed", "passed"], "dropped"),
        (["skipped", "skipped"], ["passed", "passed"], "dropped"),
        (["failed", "failed"], ["passed", "failed"], "dropped"),
        (["passed", "passed"], [None, "passed"], "dropped"),
        (["failed", "failed"], ["failed", "failed"], "dropped"),
    ],
)
def test_only_steady_outcomes_count(before: list[str | None], after: list[str | None], kind: str) -> None:
    """A test counts when each of its runs agrees with the others; one that is absent has not passed."""
    runs = [[{"t": each} if each else {} for each in side] for side in (before, after)]
    fail_to_pass, pass_to_pass, dropped = classify(*runs)
    found = {"fail_to_pass": fail_to_pass, "pass_to_pass": pass_to_pass, "dropped": tuple(dropped)}
    assert {name for name, tests in found.items() if tests} == {kind}


def test_a_prepared_bug_is_a_task(spoon: Bug, root: Path) -> None:
    """Preparation derives patch, test patch and problem statement, and the base commit can be exported."""
    fix = starter.kept_fix(spoon, root)
    assert fix is not None
    task = spoon.task(fix)
    assert task.problem_statement == "1.1\n---\n\n- Bending a spoon turns it over."
    assert "replace('n', 'u')" in task.patch and "test_turned" not in task.patch
    assert "test_turned" in task.test_patch and "CHANGES" not in task.patch + task.test_patch
    tree = Mirrors(root).export(task)
    files = {str(path.relative_to(tree)): path.read_bytes() for path in tree.rglob("*") if path.is_file()}
    assert files == tree_of("1.0")
    assert Mirrors(root).describe(task) == "1.0"


def test_equal_archives_give_equal_fixes(
    spoon: Bug, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the user's git configuration nor identity, umask or place changes what is derived."""
    config = tmp_path / "gitconfig"
    config.write_text("[core]\nautocrlf=true\n[diff]\nnoprefix=true\nalgorithm=patience\n[user]\nname=Else\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_AUTHOR_DATE", "2021-01-01T00:00:00Z")
    before = os.umask(0o077)
    try:
        shutil.copytree(place / "sdists", tmp_path / "sdists")
        starter.prepare([spoon], root=tmp_path)
    finally:
        os.umask(before)
    fix = starter.kept_fix(spoon, tmp_path)
    assert fix is not None and fix.base_commit == spoon.base_commit


def test_a_prepared_set_needs_no_network(spoon: Bug, root: Path, unplugged: None) -> None:
    """Once made, everything comes from the cache."""
    starter.prepare([spoon], root=root)
    assert starter.kept_fix(spoon, root) is not None


def test_without_network_or_cache_the_remedy_is_named(spoon: Bug, unplugged: None, tmp_path: Path) -> None:
    """An empty cache and no index: the error says what would help, and nothing half-made is left."""
    with pytest.raises(SourceError) as caught:
        starter.prepare([spoon], root=tmp_path)
    assert "UV_DEFAULT_INDEX" in caught.value.remedy
    assert not mirror_path(spoon.repo, tmp_path).exists()
    assert starter.kept_fix(spoon, tmp_path) is None


def test_another_archive_of_the_same_name_is_refused(
    spoon: Bug, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What an index serves must have the recorded hash, whatever hash the index states."""
    other = Index(tmp_path / "index")
    other.serve("1.1", archive(f"{PACKAGE}-1.1", tree_of("1.1") | {"spoon.py": b"import os\n"}))
    monkeypatch.setenv("UV_DEFAULT_INDEX", other.url)
    with pytest.raises(SourceError, match=r"serves another spoon 1\.1"):
        starter.prepare([spoon], root=tmp_path)
    other.close()


def test_a_kept_archive_is_checked_again(spoon: Bug, tmp_path: Path) -> None:
    """An archive that was changed in the cache is fetched anew."""
    kept = source_distribution(PACKAGE, "1.0", spoon.base.sha256, tmp_path)
    kept.write_bytes(b"something else")
    again = source_distribution(PACKAGE, "1.0", spoon.base.sha256, tmp_path)
    assert hashlib.sha256(again.read_bytes()).hexdigest() == spoon.base.sha256


@pytest.mark.parametrize("edit", [("'u'", "'x'"), ("}", ""), ('"patch"', '"batch"')])
def test_a_changed_fix_is_made_again(spoon: Bug, root: Path, edit: tuple[str, str]) -> None:
    """A fix in the cache that is not the recorded one is never used."""
    genuine = starter.kept_fix(spoon, root)
    kept = root / "starter" / f"{spoon.instance_id}.json"
    kept.write_text(kept.read_text().replace(*edit))
    assert starter.kept_fix(spoon, root) is None
    starter.prepare([spoon], root=root)
    assert starter.kept_fix(spoon, root) == genuine


def test_a_damaged_repository_is_made_again(spoon: Bug, root: Path) -> None:
    """Objects that do not hold what their name says are found, and the repository replaced."""
    for file in mirror_path(spoon.repo, root).joinpath("objects").rglob("*"):
        if file.is_file():
            file.chmod(0o644)
            file.write_bytes(b"rust")
    starter.prepare([spoon], root=root)
    fix = starter.kept_fix(spoon, root)
    assert fix is not None
    assert (Mirrors(root).export(spoon.task(fix)) / "spoon.py").is_file()


def test_an_archive_that_leads_outside_is_refused(tmp_path: Path) -> None:
    """No member of an archive is written outside its own directory."""
    hostile = tmp_path / "hostile.tar.gz"
    hostile.write_bytes(archive("spoon-1.0", {"a.py": b"", "../../escaped": b"gotcha"}))
    (tmp_path / "deep" / "er").mkdir(parents=True)
    with pytest.raises(SourceError):
        release.unpack(hostile, tmp_path / "deep" / "er")
    assert not list(tmp_path.rglob("escaped"))


def test_no_link_of_an_archive_is_followed(tmp_path: Path) -> None:
    """A link to another place leads nowhere: a file below it stays in the archive's own directory."""
    packed, outside, into = tmp_path / "packed.tar.gz", tmp_path / "outside", tmp_path / "into"
    outside.mkdir()
    into.mkdir()
    with tarfile.open(packed, "w:gz") as tar:
        link = tarfile.TarInfo("spoon-1.0/link")
        link.type, link.linkname = tarfile.SYMTYPE, str(outside)
        tar.addfile(link)
        tar.addfile(tarfile.TarInfo("spoon-1.0/link/a.py"))
    top = release.unpack(packed, into)
    assert [path.relative_to(top) for path in top.rglob("*") if path.is_file()] == [Path("link/a.py")]
    assert not list(outside.iterdir())


def test_git_metadata_in_an_archive_is_left_out(tmp_path: Path) -> None:
    """An archive cannot bring a git directory, and with it hooks, onto the machine."""
    packed = tmp_path / "packed.tar.gz"
    packed.write_bytes(
        archive("spoon-1.0", {"a.py": b"", ".git/hooks/post-checkout": b"", "sub/.GIT": b"gitdir: /"})
    )
    (tmp_path / "into").mkdir()
    top = release.unpack(packed, tmp_path / "into")
    assert [path.name for path in top.rglob("*") if path.is_file()] == ["a.py"]


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("src/spoon/core.py", "source"),
        ("spoon.py", "source"),
        ("spoon/data/words.txt", "source"),
        ("src/spoon/tests.py", "source"),
        ("tests/test_core.py", "test"),
        ("spoon/tests/helpers.py", "test"),
        ("test/data.json", "test"),
        ("test_spoon.py", "test"),
        ("setup.py", "neither"),
        ("pyproject.toml", "neither"),
        ("PKG-INFO", "neither"),
        ("src/spoon.egg-info/SOURCES.txt", "neither"),
        ("docs/conf.py", "neither"),
        ("examples/tests/test_app.py", "neither"),
        ("CHANGES.rst", "neither"),
        ("spoon/CHANGELOG.md", "neither"),
        (".github/workflows/tests.yml", "neither"),
    ],
)
def test_which_side_a_changed_file_is_on(path: str, kind: str) -> None:
    """Fix and test patch share no file; documentation, metadata and build files belong to neither."""
    found = {"source": release.is_source(path), "test": release.is_test(path)}
    assert found == {"source": kind == "source", "test": kind == "test"}


NAMES = st.from_regex(r"\Atest_[a-z]{1,3}\Z")
PARAMETERS = st.one_of(st.just(""), st.text(st.characters(min_codepoint=32), max_size=6).map("[{}]".format))


@given(st.sets(st.builds("tests/{}.py::{}{}".format, NAMES, NAMES, PARAMETERS)))
def test_grouping_keeps_every_id(tests: set[str]) -> None:
    """Ids grouped by file and function are the same ids again, however odd their parameters."""
    bare = {test for test in tests if "[" not in test}
    tests = {test for test in tests if "[" not in test or test.partition("[")[0] not in bare}
    assert set(bug.ids(bug.group(tests))) == tests


def test_recorded_bugs() -> None:
    """At least twelve bugs of at least eight projects, each with tests to turn green, all pins exact."""
    recorded = starter.bugs()
    assert len(recorded) >= 12
    assert len({each.package for each in recorded}) >= 8
    for each in recorded:
        assert each.fail_to_pass and each.pass_to_pass, each.instance_id
        assert all(pin.count("==") == 1 for pin in each.packages), each.instance_id
        assert each == Bug.model_validate_json(bug.dump(each))


@pytest.fixture
def no_index_of_uv(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("UV_DEFAULT_INDEX", raising=False)
    monkeypatch.delenv("UV_INDEX_URL", raising=False)
    settings_of_pip.cache_clear()
    yield
    settings_of_pip.cache_clear()


def test_the_index_pip_is_configured_for_is_used(
    no_index_of_uv: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Who has told pip of another index need not tell uv; who has told uv is heard first."""
    config = tmp_path / "pip.conf"
    config.write_text("[global]\nindex-url = http://127.0.0.1:9/simple/\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(config))
    monkeypatch.delenv("PIP_INDEX_URL", raising=False)
    assert index_of_pip() == {"UV_DEFAULT_INDEX": "http://127.0.0.1:9/simple/"}
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://127.0.0.1:1/")
    assert index_of_pip() == {}
