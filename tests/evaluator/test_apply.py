"""Applying patches: bytes come out exactly, and nothing outside the touched files is ever reached."""

import base64
import os
import subprocess
import zlib
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from evaluator.apply import apply_patch
from evaluator.patch import parse_patch
from evaluator.paths import PatchError
from sandbox.job import File


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    tree = tmp_path / "tree"
    (tree / "pkg").mkdir(parents=True)
    (tree / "pkg" / "mod.py").write_text("".join(f"line {number}\n" for number in range(1, 31)))
    (tree / "pkg" / "empty.py").write_text("")
    (tree / "pkg" / "dos.txt").write_bytes(b"one\r\ntwo\r\nthree\r\n")
    (tree / "run me.sh").write_text("#!/bin/sh\n")
    (tree / "run me.sh").chmod(0o755)
    (tree / "real").mkdir()
    (tree / "real" / "file").write_text("x\n")
    (tree / "alias").symlink_to("real")
    return tree


def diff_of(tree: Path, tmp_path: Path, *options: str) -> str:
    """What `git diff` says after `tree` was changed; call `committed` first."""
    environment = {**os.environ, "GIT_DIR": str(tmp_path / "git"), "GIT_WORK_TREE": str(tree)}
    run = ["git", "-c", "user.name=t", "-c", "user.email=t@t", "-c", "core.quotePath=true"]
    subprocess.run([*run, "add", "-A"], env=environment, check=True, capture_output=True)
    done = subprocess.run(
        [*run, "diff", "--cached", "--binary", *options], env=environment, check=True, capture_output=True
    )
    return done.stdout.decode()


def committed(tree: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "GIT_DIR": str(tmp_path / "git"), "GIT_WORK_TREE": str(tree)}
    run = ["git", "-c", "user.name=t", "-c", "user.email=t@t"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "base"]):
        subprocess.run([*run, *command], env=environment, check=True, capture_output=True)


def refusal(text: str, tree: Path) -> str:
    with pytest.raises(PatchError) as caught:
        apply_patch(parse_patch(text), tree)
    return caught.value.code


def test_every_kind_of_change_comes_out_as_git_made_it(tree: Path, tmp_path: Path) -> None:
    """Text, binary, modes, links, odd names, new, removed and renamed files: byte by byte."""
    base = tmp_path / "base"
    subprocess.run(["cp", "-a", tree, base], check=True)
    committed(tree, tmp_path)
    (tree / "pkg" / "mod.py").rename(tree / "pkg" / "moved.py")
    (tree / "pkg" / "moved.py").write_text((tree / "pkg" / "moved.py").read_text().replace("7", "seven"))
    (tree / "pkg" / "dos.txt").write_bytes(b"one\r\n2\r\nthree")
    (tree / "pkg" / "empty.py").write_text("now = 1\n")
    (tree / "run me.sh").chmod(0o644)
    (tree / "größe.txt").write_text("ü\n")
    (tree / "icon.png").write_bytes(bytes(range(256)) * 4)
    (tree / "empty").write_text("")
    (tree / "link").symlink_to("real/file")
    (tree / "alias").unlink()
    changes = apply_patch(parse_patch(diff_of(tree, tmp_path, "-M")), base)
    assert changes.flags == frozenset()
    assert changes.files == {
        "pkg/mod.py": None,
        "pkg/moved.py": File((tree / "pkg" / "moved.py").read_bytes()),
        "pkg/dos.txt": File(b"one\r\n2\r\nthree"),
        "pkg/empty.py": File(b"now = 1\n"),
        "run me.sh": File(b"#!/bin/sh\n", 0o644),
        "größe.txt": File("ü\n".encode()),
        "icon.png": File(bytes(range(256)) * 4),
        "empty": File(b""),
        "link": File(link="real/file"),
        "alias": None,
    }


def test_the_base_is_never_written(tree: Path) -> None:
    """A prepared repository serves every patch of its task."""
    before = (tree / "pkg" / "mod.py").read_bytes()
    apply_patch(parse_patch("--- a/pkg/mod.py\n+++ b/pkg/mod.py\n@@ -1,2 +1 @@\n-line 1\n line 2\n"), tree)
    assert (tree / "pkg" / "mod.py").read_bytes() == before


def test_an_offset_is_no_fuzz(tree: Path) -> None:
    """Context found elsewhere than announced is found exactly, so no flag is raised."""
    text = "--- a/pkg/mod.py\n+++ b/pkg/mod.py\n@@ -3,3 +3,3 @@\n line 20\n-line 21\n+line x\n line 22\n"
    changes = apply_patch(parse_patch(text), tree)
    assert changes.flags == frozenset()
    assert b"line 20\nline x\nline 22\n" in changes.files["pkg/mod.py"].content  # type: ignore[union-attr]


def test_miscounted_hunks_are_recounted(tree: Path) -> None:
    """Wrong counts cost a flag, not the patch."""
    text = "--- a/pkg/mod.py\n+++ b/pkg/mod.py\n@@ -1,7 +1,9 @@\n line 1\n-line 2\n+line two\n line 3\n"
    changes = apply_patch(parse_patch(text), tree)
    assert changes.flags == {"recount_apply"}


def test_a_file_named_on_both_sides_may_be_new(tree: Path) -> None:
    """Models forget `/dev/null`; a hunk that expects nothing of an absent file creates it."""
    text = "--- a/pkg/new.py\n+++ b/pkg/new.py\n@@ -0,0 +1 @@\n+x = 1\n"
    assert apply_patch(parse_patch(text), tree).files == {"pkg/new.py": File(b"x = 1\n")}


def test_a_crlf_transport_leaves_each_file_its_own_line_ends(tree: Path) -> None:
    """Where the whole text came with CRLF, the base files tell what was meant."""
    text = (
        "--- a/pkg/dos.txt\n+++ b/pkg/dos.txt\n@@ -1,2 +1,3 @@\n-one\n+1\n+\n two\n"
        "--- a/pkg/mod.py\n+++ b/pkg/mod.py\n@@ -1,2 +1,2 @@\n-line 1\n+line one\n line 2\n"
    )
    files = apply_patch(parse_patch(text.replace("\n", "\r\n")), tree).files
    assert files["pkg/dos.txt"] == File(b"1\r\n\r\ntwo\r\nthree\r\n")
    assert b"\r" not in files["pkg/mod.py"].content  # type: ignore[union-attr]


def test_attributes_in_the_patch_convert_nothing(tree: Path) -> None:
    """`.gitattributes` is a file like any other here."""
    text = (
        "--- /dev/null\n+++ b/.gitattributes\n@@ -0,0 +1 @@\n+* text=auto eol=crlf\n"
        "--- a/pkg/mod.py\n+++ b/pkg/mod.py\n@@ -1,2 +1,2 @@\n-line 1\n+line one\n line 2\n"
    )
    changed = apply_patch(parse_patch(text), tree).files["pkg/mod.py"]
    assert changed is not None
    assert b"\r" not in changed.content


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("--- a/pkg/mod.py\n+++ b/pkg/mod.py\n@@ -1,2 +1 @@\n-not there\n line 2\n", "apply"),
        ("--- a/absent.py\n+++ b/absent.py\n@@ -1 +1 @@\n-a\n+b\n", "apply"),
        ("--- /dev/null\n+++ b/pkg/mod.py\n@@ -0,0 +1 @@\n+a\n", "apply"),
        ("--- a/alias/file\n+++ b/alias/file\n@@ -1 +1 @@\n-x\n+y\n", "illegal_link"),
        ("--- /dev/null\n+++ b/alias/new\n@@ -0,0 +1 @@\n+y\n", "illegal_link"),
        ("--- /dev/null\n+++ b/pkg\n@@ -0,0 +1 @@\n+y\n", "path_conflict"),
        ("--- /dev/null\n+++ b/pkg/mod.py/x\n@@ -0,0 +1 @@\n+y\n", "path_conflict"),
        (
            "--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+y\n--- /dev/null\n+++ b/n/x\n@@ -0,0 +1 @@\n+y\n",
            "path_conflict",
        ),
    ],
)
def test_what_does_not_fit_is_refused(text: str, code: str, tree: Path) -> None:
    """Each misfit has its name, and none gets as far as a sandbox."""
    assert refusal(text, tree) == code


@pytest.mark.parametrize(
    "target",
    ["/etc/passwd", "../outside", "pkg/../../x", "alias/file", "alias", ".git/config", ".", "real/.."],
)
def test_links_stay_inside_and_pass_through_no_link(target: str, tree: Path) -> None:
    """A link is a way to another file: it must be a way a path of the patch could have taken itself."""
    text = (
        "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n"
        f"@@ -0,0 +1 @@\n+{target}\n\\ No newline at end of file\n"
    )
    assert refusal(text, tree) in ("illegal_link", "illegal_path")


def test_a_delta_cannot_name_the_memory_to_take(tree: Path, tmp_path: Path) -> None:
    """A binary delta states the size of its result, which is read before git takes that much."""
    base = tmp_path / "base"
    (tree / "blob").write_bytes(os.urandom(4000))
    subprocess.run(["cp", "-a", tree, base], check=True)
    committed(tree, tmp_path)
    (tree / "blob").write_bytes((base / "blob").read_bytes() + b"!")
    honest = diff_of(tree, tmp_path)
    assert "delta" in honest
    assert apply_patch(parse_patch(honest), base).files["blob"] is not None
    assert refusal(honest.replace("delta ", "delta 9", 1), base) == "apply"
    greedy = zlib.compress(b"\xa0\x1f" + b"\x80\x80\x80\x80\x10" + b"\x91\x00\x01")
    line = chr(ord("A") + len(greedy) - 1) + base64.b85encode(greedy + bytes(-len(greedy) % 4)).decode()
    head = honest[: honest.index("delta ")]
    with pytest.raises(PatchError, match="too_large"):
        parse_patch(f"{head}delta {len(greedy)}\n{line}\n\n")


def test_copies_cannot_multiply_without_bound(tree: Path) -> None:
    """A copy costs the patch a line and the host the whole file."""
    (tree / "big").write_bytes(b"x" * 4_000_000)
    copies = "".join(
        f"diff --git a/big b/c{number}\nsimilarity index 100%\ncopy from big\ncopy to c{number}\n"
        for number in range(30)
    )
    assert refusal(copies, tree) == "too_large"


CONTENT = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("\n\r\0-+@ ")).map(str.encode)


@settings(max_examples=40, deadline=None)
@given(old=CONTENT, new=CONTENT)
def test_any_content_survives(old: bytes, new: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Whatever a file holds before and after, git's diff of it gives it back."""
    assume(old != new)
    home = tmp_path_factory.mktemp("any")
    (home / "tree").mkdir()
    (home / "tree" / "f").write_bytes(old)
    subprocess.run(["cp", "-a", home / "tree", home / "base"], check=True)
    committed(home / "tree", home)
    (home / "tree" / "f").write_bytes(new)
    changes = apply_patch(parse_patch(diff_of(home / "tree", home)), home / "base")
    assert changes.files == {"f": File(new)}
