"""The files of a commit arrive as they were committed."""

import hashlib
import os
from pathlib import Path

import pytest
from origins import Origin, template
from sample_rows import task

from tasks.errors import SourceError
from tasks.mirror import Mirrors
from tasks.tree import MTIME_S


@pytest.fixture
def origin(tmp_path: Path) -> Origin:
    return Origin(tmp_path / "origins" / "octo+spoon")


def export(origin: Origin, commit: str, tmp_path: Path) -> Path:
    mirrors = Mirrors(tmp_path / "cache", template(origin.directory.parent))
    return mirrors.export(task(base_commit=commit))


def blobs(root: Path) -> dict[bytes, tuple[str, str]]:
    """Mode and git's blob id of every file and symlink below `root`, by relative path."""
    found = {}
    for path in root.rglob("*"):
        if path.is_symlink():
            mode, content = "120000", os.fsencode(path.readlink())
        elif path.is_file():
            mode, content = "100755" if os.access(path, os.X_OK) else "100644", path.read_bytes()
        else:
            continue
        blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
        found[os.fsencode(path.relative_to(root))] = (mode, blob)
    return found


def listed(origin: Origin, commit: str) -> dict[bytes, tuple[str, str]]:
    """The same according to `git ls-tree`, without submodules."""
    lines = origin.git("ls-tree", "-r", "-z", commit).split("\0")
    entries = [line.partition("\t") for line in lines if line and not line.startswith("160000")]
    return {name.encode(): (facts.split()[0], facts.split()[2]) for facts, _, name in entries}


def test_attributes_change_nothing(origin: Origin, tmp_path: Path) -> None:
    """Line ends, filters, keywords and export rules are for people's work trees; tests need the bytes."""
    origin.write("kept.txt", b"one\ntwo\r\n$Id$ $Format:%H$\n")
    origin.write("hidden/secret.txt", b"needed by a test")
    origin.write("wide.txt", "ä".encode())
    commit = origin.commit()
    origin.write(
        ".gitattributes",
        b"*.txt text eol=crlf ident export-subst filter=lfs\nhidden export-ignore\n"
        b"wide.txt working-tree-encoding=UTF-16\n",
    )
    origin.git(
        "update-index",
        "--add",
        "--cacheinfo",
        f"100644,{origin.git('hash-object', '-w', '.gitattributes')},.gitattributes",
    )
    origin.git("commit", "--quiet", "--message", "attributes")
    commit = origin.git("rev-parse", "HEAD")
    tree = export(origin, commit, tmp_path)
    assert (tree / "kept.txt").read_bytes() == b"one\ntwo\r\n$Id$ $Format:%H$\n"
    assert (tree / "hidden" / "secret.txt").exists()
    assert blobs(tree) == listed(origin, commit)


def test_modes_symlinks_names_and_empty_files_arrive(origin: Origin, tmp_path: Path) -> None:
    """What a commit says about a file is what the file is."""
    origin.write("run.sh", b"#!/bin/sh\n", 0o755)
    origin.write("empty", b"")
    origin.write("a dir/with\nnewline", b"x")
    origin.write("-dash", b"x")
    (origin.directory / "link").symlink_to("a dir/with\nnewline")
    (origin.directory / "outside").symlink_to("/etc/passwd")
    (origin.directory / "folder").symlink_to("a dir")
    commit = origin.commit()
    tree = export(origin, commit, tmp_path)
    assert blobs(tree) == listed(origin, commit)
    assert (tree / "outside").readlink() == Path("/etc/passwd")


def test_names_need_not_be_utf_8(origin: Origin, tmp_path: Path) -> None:
    """Old histories hold names in the encodings of their time."""
    origin.write(b"caf\xe9.txt", b"x")
    tree = export(origin, origin.commit(), tmp_path)
    assert [os.fsencode(path.name) for path in tree.iterdir()] == [b"caf\xe9.txt"]


def test_a_submodule_is_an_empty_directory(origin: Origin, tmp_path: Path) -> None:
    """Another repository's commit is not this one's content."""
    tree = export(origin, origin.plant(f"160000 commit {'a' * 40}\tvendored"), tmp_path)
    assert [path.name for path in tree.iterdir()] == ["vendored"]
    assert list((tree / "vendored").iterdir()) == []


def test_times_and_rights_do_not_depend_on_when_and_by_whom_the_tree_was_made(
    origin: Origin, tmp_path: Path
) -> None:
    """Equal commits give equal trees, readable by the unprivileged user of a sandbox."""
    origin.write("deep/er/file", b"x")
    commit = origin.commit()
    before = os.umask(0o077)
    try:
        tree = export(origin, commit, tmp_path)
    finally:
        os.umask(before)
    paths = [tree, *tree.rglob("*")]
    assert {path.stat().st_mtime for path in paths} == {MTIME_S}
    assert {path.stat().st_mode & 0o777 for path in paths if path.is_dir()} == {0o755}
    assert (tree / "deep/er/file").stat().st_mode & 0o777 == 0o644


def test_a_tree_holds_no_git_directory(origin: Origin, tmp_path: Path) -> None:
    """The history, which may hold the fix, stays behind."""
    origin.write("file", b"x")
    assert [path.name for path in export(origin, origin.commit(), tmp_path).iterdir()] == ["file"]


@pytest.mark.parametrize("name", ["..", ".", ".git", ".GIT"])
def test_paths_that_lead_out_are_refused(name: str, origin: Origin, tmp_path: Path) -> None:
    """A tree object can hold any name; writing it must not leave the directory."""
    blob = origin.git("hash-object", "-w", "--stdin", stdin=b"x")
    inner = origin.git("mktree", stdin=f"100644 blob {blob}\tfile\n".encode())
    with pytest.raises(SourceError, match="no honest repository"):
        export(origin, origin.plant(f"040000 tree {inner}\t{name}"), tmp_path)
    assert not (tmp_path / "cache" / "trees" / "octo__spoon" / "file").exists()


@pytest.mark.parametrize("target", [b"", b"a\0b"])
def test_symlinks_that_no_disk_can_hold_are_refused(target: bytes, origin: Origin, tmp_path: Path) -> None:
    """A symlink object can hold any bytes."""
    blob = origin.git("hash-object", "-w", "--stdin", stdin=target)
    with pytest.raises(SourceError, match="a symlink to"):
        export(origin, origin.plant(f"120000 blob {blob}\tlink"), tmp_path)


def test_no_file_is_written_through_a_symlink_of_the_same_commit(origin: Origin, tmp_path: Path) -> None:
    """A commit that holds one name as a symlink and as a directory is refused before anything is written."""
    (tmp_path / "elsewhere").mkdir()
    target = origin.git("hash-object", "-w", "--stdin", stdin=bytes(tmp_path / "elsewhere"))
    blob = origin.git("hash-object", "-w", "--stdin", stdin=b"x")
    inner = origin.git("mktree", stdin=f"100644 blob {blob}\tfile\n".encode())
    commit = origin.plant(f"120000 blob {target}\tsame", f"040000 tree {inner}\tsame")
    with pytest.raises(SourceError, match="one path twice"):
        export(origin, commit, tmp_path)
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert not (tmp_path / "cache" / "trees" / "octo__spoon" / commit).exists()
