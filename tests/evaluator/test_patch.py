"""Reading patches: what is understood, what is refused, and that no text can break the reader."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.patch import Patch, parse_patch
from evaluator.paths import PatchError, PathClass, classify, refuse_illegal

ONE = "--- a/f.py\n+++ b/f.py\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"


def refusal(text: str) -> str:
    with pytest.raises(PatchError) as caught:
        parse_patch(text)
    return caught.value.code


def test_a_plain_diff_names_its_file() -> None:
    """Git's header lines are not needed."""
    (diff,) = parse_patch(ONE).files
    assert (diff.old, diff.new, diff.miscounted) == ("f.py", "f.py", False)


@pytest.mark.parametrize(
    "dressed",
    [
        "\n\n" + ONE,
        ONE.rstrip("\n"),
        "Here is the fix:\n```diff\n" + ONE + "```\nIt adds c.\n",
        "From 0123 Mon Sep 17 00:00:00 2001\nSubject: [PATCH] fix\n\n---\n f.py | 2 +-\n\n"
        + ONE
        + "-- \n2.39.5\n",
        ONE.replace("\n", "\r\n"),
        "diff --git a/f.py b/f.py\nindex 1234567..89abcde 100644\n" + ONE,
        ONE.replace("a/f", "i/f").replace("b/f", "w/f"),
        ONE.replace("a/f", "f").replace("b/f", "f"),
    ],
    ids=["blank lines", "no last newline", "fence", "mail", "crlf", "git", "mnemonic prefix", "no prefix"],
)
def test_dress_is_forgiven(dressed: str) -> None:
    """What stands around a diff changes nothing of what it says."""
    (diff,) = parse_patch(dressed).files
    assert (diff.old, diff.new, diff.body) == ("f.py", "f.py", parse_patch(ONE).files[0].body)


def test_carriage_returns_of_content_stay() -> None:
    """A CRLF file's own line ends are content; only a transport that changed the headers too is undone."""
    (diff,) = parse_patch("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\r\n+b\r\n").files
    assert diff.body == b"@@ -1 +1 @@\n-a\r\n+b\r\n"


def test_content_that_looks_like_a_header_is_content() -> None:
    """A removed line `-- x` looks like a file header; inside a hunk it is a line."""
    text = (
        "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n--- old\n+++ new\n same\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n"
    )
    assert parse_patch(text).paths == ("f", "g")


def test_wrong_counts_are_noticed_and_hunks_still_told_apart() -> None:
    """Models miscount; the lines themselves say where a hunk ends."""
    text = (
        "--- a/f\n+++ b/f\n@@ -1,9 +1,9 @@\n a\n-b\n+c\n@@ -20,1 +20,1 @@\n x\n+y\n\n"
        "--- a/g\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n"
    )
    patch = parse_patch(text)
    assert [(diff.new, diff.miscounted) for diff in patch.files] == [("f", True), ("g", False)]
    assert patch.files[0].body.endswith(b" x\n+y\n")


@pytest.mark.parametrize(
    ("header", "old", "new", "origin"),
    [
        ("diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n", "x", "y", "rename"),
        ("diff --git a/x b/y\nsimilarity index 100%\ncopy from x\ncopy to y\n", "x", "y", "copy"),
        ("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", "x", "x", ""),
        ("diff --git a/a b b/a b\nnew file mode 100644\nindex 0000000..e69de29\n", None, "a b", ""),
        ("diff --git a/x b/x\ndeleted file mode 100644\nindex e69de29..0000000\n", "x", None, ""),
        ('diff --git "a/\\303\\244" "b/\\303\\244"\nold mode 100644\nnew mode 100755\n', "ä", "ä", ""),
    ],
)
def test_headers_without_hunks(header: str, old: str | None, new: str | None, origin: str) -> None:
    """Renames, copies, modes, empty files: said by git's header alone."""
    (diff,) = parse_patch(header).files
    assert (diff.old, diff.new, diff.origin) == (old, new, origin)


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "../x",
        "a/../../x",
        "a//b",
        "./x",
        ".git/hooks/post-checkout",
        "sub/.GIT/config",
        ".git./config",
        ".git /config",
        "git~1/config",
        ".git::$INDEX_ALLOCATION/config",
        ".g\u200cit/config",
        ".\uff47it/config",
        "a\\..\\b",
        "C:/x",
        "a\x01b",
        "a\nb",
        "a\u2028b",
        "x" * 300,
        "d/" * 2100 + "x",
    ],
)
def test_illegal_paths_are_refused(path: str) -> None:
    """Nothing outside the repository, none of its metadata on any file system, nothing unfit to be shown."""
    with pytest.raises(PatchError, match="illegal_path"):
        refuse_illegal(path)


@pytest.mark.parametrize(
    "path", [".github/x.yml", ".gitignore", "a b/ü.py", "git/x", "a..b", "...x", "nul.py"]
)
def test_ordinary_paths_are_legal(path: str) -> None:
    """Names that merely resemble forbidden ones are fine."""
    refuse_illegal(path)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "empty"),
        (" \n\n", "empty"),
        ("I could not find the bug.", "unparsable"),
        ("@@ -1 +1 @@\n-a\n+b\n", "unparsable"),
        ("diff --git a/x b/x\n", "unparsable"),
        ("--- a/x\n+++ b/x\nno hunk\n", "unparsable"),
        ("Binary files a/x and b/x differ\n", "unparsable"),
        ("diff --git a/x b/x\nindex 1234567..89abcde\nBinary files a/x and b/x differ\n", "unparsable"),
        ("--- /dev/null\n+++ /dev/null\n@@ -0,0 +1 @@\n+a\n", "unparsable"),
        ("--- a/../x\n+++ b/../x\n@@ -1 +1 @@\n-a\n+b\n", "illegal_path"),
        ("--- /etc/x\n+++ /etc/x\n@@ -1 +1 @@\n-a\n+b\n", "illegal_path"),
        (
            "diff --git a/x b/x\nnew file mode 160000\n",
            "submodule",
        ),
        (
            "diff --git a/s b/s\nindex 1234567..89abcde 160000\n--- a/s\n+++ b/s\n@@ -1 +1 @@\n-S 1\n+S 2\n",
            "submodule",
        ),
        ("diff --git a/x b/x\nnew file mode 020000\n", "illegal_mode"),
        ("diff --git a/x b/x\nnew file mode banana\n", "illegal_mode"),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+\ud800\n", "encoding"),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n" + "x" * 20_000_001, "too_large"),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n" + "\n" * 2_000_001, "too_large"),
        ("diff --git a/x b/x\nnew file mode 100644\n" * 3001, "too_large"),
    ],
)
def test_refusals_have_stable_codes(text: str, code: str) -> None:
    """Each way to be no patch has its own name."""
    assert refusal(text) == code


def test_a_binary_file_without_content_is_left_out() -> None:
    """Such a section says that something changed but not what; the rest of the patch still counts."""
    patch = parse_patch("diff --git a/x b/x\nBinary files a/x and b/x differ\n" + ONE)
    assert patch.paths == ("f.py",)
    assert patch.flags == {"dropped_binary"}


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("pkg/mod.py", PathClass.SOURCE),
        ("django/test/client.py", PathClass.SOURCE),
        ("sympy/testing/runtests.py", PathClass.SOURCE),
        ("src/_pytest/python.py", PathClass.SOURCE),
        ("tests/data/expected.json", PathClass.TEST),
        ("pkg/tests/helper.py", PathClass.TEST),
        ("testing/test_x.py", PathClass.TEST),
        ("test_requests.py", PathClass.TEST),
        ("TESTS/x.py", PathClass.TEST),
        ("conftest.py", PathClass.RUNNER),
        ("tests/conftest.py", PathClass.RUNNER),
        ("pytest.ini", PathClass.RUNNER),
        ("sitecustomize.py", PathClass.STARTUP),
        ("x.pth", PathClass.STARTUP),
        ("pkg.egg-info/entry_points.txt", PathClass.STARTUP),
        ("setup.py", PathClass.BUILD),
        ("pyproject.toml", PathClass.BUILD),
        ("pkg/_fast.pyx", PathClass.BUILD),
        ("pkg/__pycache__/mod.cpython-311.pyc", PathClass.COMPILED),
        ("pkg/mod.so", PathClass.COMPILED),
        ("docs/index.rst", PathClass.DOC),
        ("pkg/data.csv", PathClass.DATA),
    ],
)
def test_classes(path: str, kind: PathClass) -> None:
    """A file's class follows from its name and place."""
    assert classify(path) is kind


@settings(deadline=None)
@given(st.text() | st.text(alphabet='-+ @\\adbgit/\n\r\t01,"dev/null'))
def test_no_text_breaks_the_reader(text: str) -> None:
    """Whatever is handed in, the answer is a patch or a refusal."""
    try:
        assert parse_patch(text).files
    except PatchError as refused:
        assert refused.code


@settings(deadline=None)
@given(st.lists(st.sampled_from([*ONE.splitlines(keepends=True), "\n", "junk\n", "diff --git a/g b/h\n"])))
def test_what_is_read_is_written_so_that_it_reads_the_same(lines: list[str]) -> None:
    """Rendering is the inverse of reading, for sections however mangled."""
    try:
        patch = parse_patch("".join(lines))
    except PatchError:
        return
    again = parse_patch(patch.render().decode())
    assert [(d.old, d.new, d.body, d.binary) for d in again.files] == [
        (d.old, d.new, d.body, d.binary) for d in patch.files
    ]


@pytest.mark.skipif("ASSAY_SHARED_DATA" not in os.environ, reason="ASSAY_SHARED_DATA names no collection")
def test_published_predictions_are_read() -> None:
    """Of the public model patches only empty ones are refused."""
    rows = Path(os.environ["ASSAY_SHARED_DATA"], "predictions.jsonl").read_text().split("\n")
    texts = [json.loads(row)["model_patch"] or "" for row in rows if row]
    patches: list[Patch] = [parse_patch(text) for text in texts if text.strip()]
    assert len(patches) > 1000
    assert sum(patch.miscounted for patch in patches) <= 1
