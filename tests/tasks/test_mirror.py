"""Repositories are fetched once, shared safely, and every fault names its remedy."""

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from origins import Origin, template
from sample_rows import task

from tasks.errors import InputError, SourceError
from tasks.load import load
from tasks.mirror import Mirrors, mirror_path

ABSENT = "f" * 40


@pytest.fixture
def origin(tmp_path: Path) -> Origin:
    made = Origin(tmp_path / "origins" / "octo+spoon")
    made.write("spoon.py", b"bend = True\n")
    made.commit()
    return made


@pytest.fixture
def mirrors(origin: Origin, tmp_path: Path) -> Mirrors:
    return Mirrors(tmp_path / "cache", template(origin.directory.parent))


def head(origin: Origin) -> str:
    return origin.git("rev-parse", "HEAD")


def failure(mirrors: Mirrors, **changes: str) -> SourceError:
    with pytest.raises(SourceError) as caught:
        mirrors.export(task(**changes))
    return caught.value


def test_a_repository_is_fetched_once(mirrors: Mirrors, origin: Origin) -> None:
    """What is in the cache needs its source no more."""
    origin.write("spoon.py", b"bend = False\n")
    first, second = head(origin), origin.commit()
    mirrors.export(task(base_commit=first))
    shutil.rmtree(origin.directory)
    assert (mirrors.export(task(base_commit=first)) / "spoon.py").read_bytes() == b"bend = True\n"
    assert (mirrors.export(task(base_commit=second)) / "spoon.py").read_bytes() == b"bend = False\n"


def test_base_commits_on_side_branches_and_tags_are_there(mirrors: Mirrors, origin: Origin) -> None:
    """Fixes are made on maintenance branches too."""
    origin.git("checkout", "--quiet", "-b", "1.x")
    branch = origin.commit()
    origin.git("checkout", "--quiet", "--detach")
    tag = origin.commit("only tagged")
    origin.git("tag", "v1")
    origin.git("checkout", "--quiet", "main")
    for commit in (branch, tag):
        assert mirrors.export(task(base_commit=commit)).is_dir()


def test_a_commit_that_no_branch_holds_any_more_is_fetched_by_its_id(
    mirrors: Mirrors, origin: Origin
) -> None:
    """Branches are deleted and rewritten; servers keep what pull requests refer to."""
    origin.git("checkout", "--quiet", "--detach")
    commit = origin.commit("of a pull request")
    origin.git("update-ref", "refs/pull/7/head", commit)
    origin.git("checkout", "--quiet", "main")
    assert mirrors.export(task(base_commit=commit)).is_dir()


def test_a_commit_made_after_the_first_fetch_is_fetched_then(mirrors: Mirrors, origin: Origin) -> None:
    """A mirror is brought up to date when a task needs it, also over a rewritten branch."""
    mirrors.export(task(base_commit=head(origin)))
    origin.git("commit", "--quiet", "--amend", "--message", "rewritten")
    assert mirrors.export(task(base_commit=head(origin))).is_dir()


def test_a_commit_nobody_has_is_named_with_repository_url_and_remedy(
    mirrors: Mirrors, origin: Origin
) -> None:
    """The reader learns which commit of which repository is looked for where."""
    error = failure(mirrors, base_commit=ABSENT)
    assert ABSENT in error.message
    assert f"octo/spoon at file://{origin.directory}" in error.message
    assert "--repo-url" in error.remedy


def test_a_failed_export_leaves_nothing_half_made(mirrors: Mirrors, tmp_path: Path) -> None:
    """A tree is there whole or not at all."""
    failure(mirrors, base_commit=ABSENT)
    trees = tmp_path / "cache" / "trees" / "octo__spoon"
    assert [path.name for path in trees.iterdir() if path.is_dir()] == []


def test_a_repository_that_is_not_there_is_told_from_no_network(mirrors: Mirrors, tmp_path: Path) -> None:
    """A wrong name and a missing network want different remedies."""
    assert "Check the name" in failure(mirrors, repo="octo/fork").remedy
    offline = Mirrors(tmp_path / "cache", "https://127.0.0.1:9/{owner}/{name}.git")
    error = failure(offline, repo="octo/knife")
    assert "Connect to the network" in error.remedy
    assert "--repo-url 'file:///mirrors/{owner}+{name}/repo'" in error.remedy
    assert [path.name for path in (tmp_path / "cache" / "mirrors").iterdir() if path.is_dir()] == []


def test_passwords_in_a_url_are_not_shown(tmp_path: Path) -> None:
    """A token in a URL ends up in no message and in no file of the cache."""
    error = failure(Mirrors(tmp_path, "https://user:hunter2@127.0.0.1:9/{owner}/{name}?key=hunter2"))
    assert "127.0.0.1:9/octo/spoon" in str(error)
    assert "hunter2" not in str(error)


@pytest.mark.parametrize(
    "url",
    [
        "file:///mirrors/{repo}",
        "file:///{owner.__class__}",
        "file:///{owner",
        "file:///{}",
        "file:///{0}",
        "ext::sh -c date {owner}",
        "http://host/{owner}/{name}",
        "git@host:{owner}/{name}.git",
        "/mirrors/{owner}",
        "-u{owner}",
        "",
    ],
)
def test_url_templates_that_cannot_work_are_refused(url: str, tmp_path: Path) -> None:
    """Only the two placeholders, only transports that run no command and cannot be rewritten on the way."""
    with pytest.raises(InputError, match="--repo-url"):
        Mirrors(tmp_path, url)


def test_prepared_repositories_are_never_looked_for_on_the_network(mirrors: Mirrors, tmp_path: Path) -> None:
    """Repositories made of published packages exist on this machine or not at all."""
    error = failure(mirrors, repo="pypi/spoon")
    assert (error.message, error.remedy) == (
        "The repository pypi/spoon is not prepared yet.",
        "Run `assay tasks prepare`.",
    )


def test_a_prepared_repository_is_used_where_it_lies(
    mirrors: Mirrors, origin: Origin, tmp_path: Path
) -> None:
    """Whoever makes one puts it at `mirror_path`."""
    path = mirror_path("pypi/spoon", tmp_path / "cache")
    assert path == tmp_path / "cache" / "mirrors" / "pypi+spoon.git"
    origin.git("clone", "--quiet", "--bare", ".", str(path))
    assert (mirrors.export(task(repo="pypi/spoon", base_commit=head(origin))) / "spoon.py").exists()
    assert "assay tasks prepare" in failure(mirrors, repo="pypi/spoon", base_commit=ABSENT).remedy


def lose_head(mirror: Path) -> None:
    (mirror / "HEAD").unlink()


def cut_pack(mirror: Path) -> None:
    for pack in mirror.glob("objects/pack/*.pack"):
        pack.chmod(0o600)
        os.truncate(pack, pack.stat().st_size // 2)


def lose_objects(mirror: Path) -> None:
    shutil.rmtree(mirror / "objects")


def spoil_objects(mirror: Path) -> None:
    for path in (mirror / "objects").rglob("*"):
        if path.is_file() and path.suffix != ".idx":
            path.chmod(0o600)
            path.write_bytes(b"\0" * path.stat().st_size)


@pytest.mark.parametrize("damage", [lose_head, cut_pack, lose_objects, spoil_objects])
def test_a_damaged_mirror_names_the_directory_to_delete(
    damage: Callable[[Path], None], mirrors: Mirrors, origin: Origin, tmp_path: Path
) -> None:
    """Disks fail; deleting what the message names and running again is the whole repair."""
    for number in range(200):
        origin.write(f"file{number}", os.urandom(100))
    wanted = task(base_commit=origin.commit())
    mirrors.describe(wanted)
    mirror = mirror_path("octo/spoon", tmp_path / "cache")
    damage(mirror)
    error = failure(mirrors, base_commit=wanted.base_commit)
    assert f"Delete {mirror}" in error.remedy
    shutil.rmtree(mirror)
    assert (mirrors.export(wanted) / "file199").exists()


EXPORT = """
import sys
from pathlib import Path
from tasks.errors import SourceError
from tasks.mirror import Mirrors
from tasks.task import Task

cache, url, task = sys.argv[1:]
try:
    print(Mirrors(Path(cache), url).export(Task.model_validate_json(task)))
except SourceError as error:
    print(error, file=sys.stderr)
    sys.exit(3)
"""


def command(cache: Path, origin: Origin) -> list[str]:
    wanted = task(base_commit=head(origin)).model_dump_json(by_alias=True)
    return [sys.executable, "-c", EXPORT, str(cache), template(origin.directory.parent), wanted]


def test_processes_that_want_the_same_tree_at_once_share_it(origin: Origin, tmp_path: Path) -> None:
    """However many start together, all get the one whole tree."""
    processes = [
        subprocess.Popen(command(tmp_path / "cache", origin), stdout=subprocess.PIPE, text=True)
        for _ in range(6)
    ]
    answers = {process.communicate()[0].strip() for process in processes}
    assert answers == {str(tmp_path / "cache" / "trees" / "octo__spoon" / head(origin))}
    assert [path.name for path in (tmp_path / "cache" / "mirrors").iterdir() if path.is_dir()] == [
        "octo+spoon.git"
    ]


def test_what_a_killed_process_left_is_cleared_away(mirrors: Mirrors, origin: Origin, tmp_path: Path) -> None:
    """A half-fetched repository does not fill the disk for ever."""
    draft = tmp_path / "cache" / "mirrors" / ".octo+spoon.git.abc_0123"
    (draft / "objects").mkdir(parents=True)
    mirrors.export(task(base_commit=head(origin)))
    assert not draft.exists()


def test_the_configuration_and_environment_of_the_user_do_not_matter(origin: Origin, tmp_path: Path) -> None:
    """No hook runs, no URL is rewritten, and a surrounding git command does not lend its repository."""
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("reference-transaction", "post-checkout"):
        hook = hooks / name
        hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
        hook.chmod(hook.stat().st_mode | stat.S_IXUSR)
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(
        f'[core]\n\thooksPath = {hooks}\n\tautocrlf = true\n[url "file:///nowhere/"]\n\tinsteadOf = file:///\n'
    )
    variables = {
        "HOME": str(home),
        "GIT_DIR": "/nowhere",
        "GIT_INDEX_FILE": "/nowhere",
        "GIT_WORK_TREE": "/nowhere",
    }
    variables |= {"GIT_OBJECT_DIRECTORY": "/nowhere", "GIT_CONFIG_COUNT": "1"}
    variables |= {"GIT_CONFIG_KEY_0": "core.hooksPath", "GIT_CONFIG_VALUE_0": str(hooks)}
    subprocess.run(command(tmp_path / "cache", origin), check=True, env=os.environ | variables)
    assert not (tmp_path / "ran").exists()


def test_a_machine_without_git_is_told_to_install_it(origin: Origin, tmp_path: Path) -> None:
    """The one program needed from outside is named."""
    found = subprocess.run(
        command(tmp_path / "cache", origin),
        env=os.environ | {"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 3
    assert "Install git" in found.stderr


def test_a_full_disk_is_named_and_leaves_nothing_half_made(origin: Origin, tmp_path: Path) -> None:
    """The message says what to free or where else to go."""
    (tmp_path / "cache").mkdir()
    origin.write("large", os.urandom(1_000_000))
    origin.commit()
    cache = tmp_path / "cache"
    script = f'mount -t tmpfs -o size=300k tmpfs {cache} && "$@"; code=$?; find {cache}; exit $code'
    found = subprocess.run(
        [
            "unshare",
            "--mount",
            "--map-root-user",
            "sh",
            "-c",
            script,
            "sh",
            *command(tmp_path / "cache", origin),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if "unshare" in found.stderr or "mount" in found.stderr:
        pytest.skip(f"no small disk can be made here: {found.stderr.strip()}")
    assert found.returncode == 3, found.stderr
    assert "No space left on device" in found.stderr
    assert "ASSAY_CACHE" in found.stderr
    assert "objects" not in found.stdout
    assert "spoon.py" not in found.stdout


def test_a_cache_that_cannot_be_written_is_named(origin: Origin, tmp_path: Path) -> None:
    """Anything the system refuses is passed on in its words."""
    (tmp_path / "file").touch()
    error = failure(Mirrors(tmp_path / "file", template(origin.directory.parent)))
    assert str(tmp_path / "file") in error.message
    assert "ASSAY_CACHE" in error.remedy


def test_the_version_counts_from_the_last_release_tag(mirrors: Mirrors, origin: Origin) -> None:
    """Tags that name no release are passed over."""
    origin.git("tag", "-a", "v1.4.2", "-m", "release")
    origin.commit()
    origin.git("tag", "before-the-flood")
    commit = origin.commit()
    assert mirrors.describe(task(base_commit=commit)) == f"1.4.3.dev2+g{commit[:7]}"


def test_without_a_release_tag_there_is_no_version(mirrors: Mirrors, origin: Origin) -> None:
    """Nothing is invented."""
    origin.git("tag", "flood")
    assert mirrors.describe(task(base_commit=head(origin))) == ""


@pytest.mark.skipif(
    "ASSAY_MIRRORS" not in os.environ, reason="ASSAY_MIRRORS is no URL template of real repositories"
)
@pytest.mark.skipif(
    "ASSAY_SHARED_DATA" not in os.environ, reason="ASSAY_SHARED_DATA names no directory of public sets"
)
@pytest.mark.parametrize("repo", ["psf/requests", "pallets/flask", "pytest-dev/pytest", "mwaskom/seaborn"])
def test_real_base_commits_are_exported_whole(repo: str, tmp_path: Path) -> None:
    """Every base commit of a real project becomes a tree of exactly the listed files, with a version."""
    mirrors = Mirrors(tmp_path, os.environ["ASSAY_MIRRORS"])
    tasks = [
        one
        for one in load(os.environ["ASSAY_SHARED_DATA"] + "/SWE-bench_Verified.parquet")
        if one.repo == repo
    ]
    for one in tasks[:3]:
        tree = mirrors.export(one)
        listing = subprocess.run(
            ["git", "ls-tree", "-r", "-z", "--name-only", one.base_commit],
            env=os.environ | {"GIT_DIR": str(mirror_path(repo, tmp_path))},
            capture_output=True,
            check=True,
        ).stdout
        found = {
            os.fsencode(path.relative_to(tree))
            for path in tree.rglob("*")
            if path.is_file() or path.is_symlink()
        }
        assert found == set(listing.split(b"\0")) - {b""}
        assert mirrors.describe(one)
