"""From a model's words to a diff that git applies."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from evaluator.answer import extract

MODULE = "import os\n\n\ndef area(w, h):\n    return w + h\n\n\ndef volume(w, h, d):\n    return w + h + d\n"

DIFF = """\
--- a/pkg/shape.py
+++ b/pkg/shape.py
@@ -2,5 +2,5 @@


 def area(w, h):
-    return w + h
+    return w * h

"""

GIT_DIFF = "diff --git a/pkg/shape.py b/pkg/shape.py\n" + DIFF


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    (root / "pkg").mkdir(parents=True)
    (root / "pkg" / "shape.py").write_text(MODULE)
    (root / "dos.txt").write_bytes(b"one\r\ntwo\r\nthree\r\n")
    (root / "bare.txt").write_text("one\ntwo")
    (root / "twice.py").write_text("x = 1\ny = 2\nx = 1\n")
    (root / "empty.py").write_text("")
    (root / "picture.bin").write_bytes(b"\x00\x01\x02")
    (root / "latin.py").write_bytes(b"name = 'caf\xe9'\n")
    (tmp_path / "outside.py").write_text("secret = 1\n")
    (root / "link.py").symlink_to(tmp_path / "outside.py")
    (root / "out").symlink_to(tmp_path)
    return root


def applied(patch: str, tree: Path, path: str = "pkg/shape.py") -> bytes:
    """The file after git has applied `patch` without any leniency."""
    subprocess.run(["git", "apply", "-"], input=patch.encode(), cwd=tree, check=True, capture_output=True)
    return (tree / path).read_bytes()


def block(path: str, search: str, replace: str) -> str:
    return f"{path}\n<<<<<<< SEARCH\n{search}=======\n{replace}>>>>>>> REPLACE\n"


FIXED = MODULE.replace("return w + h\n", "return w * h\n")


@pytest.mark.parametrize(
    "answer",
    [
        f"Here it is:\n\n```diff\n{DIFF}```\nDone.",
        f"~~~patch\n{GIT_DIFF}~~~\n",
        f"````\n{DIFF}````",
        f"```\n{GIT_DIFF}```",
        f"- a list\n  ```diff\n{''.join('  ' + line + chr(10) for line in DIFF.splitlines())}  ```\n",
        f"The fix:\n\n{DIFF}\nIt multiplies.\n",
        f"{GIT_DIFF}\nIt multiplies.\n",
        f"<think>--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n</think>\n```diff\n{DIFF}```",
        f"The opening tag was in the prompt.\n</think>\n\n```diff\n{DIFF}```",
        f"```diff\n{DIFF}```\n\nAgain, in full:\n\n```diff\n{DIFF}```\n",
        f"```python\nprint('not this')\n```\n\n```diff\n{DIFF}```\n",
        f"```diff\n{DIFF}",
    ],
)
def test_a_diff_is_found_wherever_it_stands(answer: str, tree: Path) -> None:
    """Fenced either way, bare, with git's headers or without, after thinking, twice, or never closed."""
    found = extract(answer, tree)
    assert found.note == ""
    assert applied(found.patch, tree) == FIXED.encode()


def test_crlf_answers_reach_the_intake_whole(tree: Path) -> None:
    """An answer sent with CRLF loses nothing; its line ends are for the intake to judge."""
    found = extract(f"Fix:\n```diff\n{DIFF}```\n".replace("\n", "\r\n"), tree)
    assert found.patch.replace("\r\n", "\n").rstrip() == DIFF.rstrip()


def test_diffs_of_several_files_in_several_fences_are_one_patch(tree: Path) -> None:
    """Fences are parts of one change."""
    other = "--- a/bare.txt\n+++ b/bare.txt\n@@ -1,2 +1,2 @@\n-one\n+1\n two\n\\ No newline at end of file\n"
    found = extract(f"```diff\n{DIFF}```\nand\n```diff\n{other}```\n", tree)
    assert applied(found.patch, tree, "bare.txt") == b"1\ntwo"
    assert (tree / "pkg" / "shape.py").read_text() == FIXED


def test_a_fence_inside_a_diff_does_not_end_it(tree: Path) -> None:
    """Context lines that are fences themselves belong to the diff."""
    (tree / "README.md").write_text("```\ncode\n```\n")
    diff = "--- a/README.md\n+++ b/README.md\n@@ -1,3 +1,3 @@\n ```\n-code\n+better\n ```\n"
    for answer in (f"```diff\n{diff}```\n", diff):
        assert applied(extract(answer, tree).patch, tree, "README.md") == b"```\nbetter\n```\n"
        (tree / "README.md").write_text("```\ncode\n```\n")


@pytest.mark.parametrize(
    "path_line", ["pkg/shape.py", "`pkg/shape.py`", "**pkg/shape.py**", "### File: ./pkg/shape.py:"]
)
def test_a_search_replace_block_becomes_a_git_diff(path_line: str, tree: Path) -> None:
    """The change a block describes is written as a diff git takes, whatever decorates the path."""
    found = extract("Sure.\n\n" + block(path_line, "    return w + h\n\n", "    return w * h\n\n"), tree)
    assert found.note == ""
    assert found.patch.startswith("diff --git a/pkg/shape.py b/pkg/shape.py\n--- a/pkg/shape.py\n")
    assert applied(found.patch, tree) == FIXED.encode()


@pytest.mark.parametrize(
    "fenced",
    [
        "pkg/shape.py\n```python\n{}```\n",
        "```python\npkg/shape.py\n{}```\n",
        "```python:pkg/shape.py\n{}```\n",
        "```python pkg/shape.py\n{}```\n",
    ],
)
def test_a_block_in_a_fence_finds_its_path(fenced: str, tree: Path) -> None:
    """The path may stand before the fence, in it, or on its line."""
    body = "<<<<<<< SEARCH\nimport os\n=======\nimport sys\n>>>>>>> REPLACE\n"
    assert b"import sys" in applied(extract(fenced.format(body), tree).patch, tree)


def test_blocks_build_on_each_other(tree: Path) -> None:
    """A second block sees what the first one made, and may leave out the path."""
    second = "<<<<<<< SEARCH\n    return w * h\n=======\n    return h * w\n>>>>>>> REPLACE\n"
    found = extract(
        block("pkg/shape.py", "    return w + h\n\n", "    return w * h\n\n") + "then\n" + second, tree
    )
    assert b"return h * w" in applied(found.patch, tree)


def test_indentation_may_differ_when_the_place_is_unique(tree: Path) -> None:
    """A block at the wrong depth is moved to the right one."""
    found = extract(
        block(
            "pkg/shape.py",
            "def volume(w, h, d):\nreturn w + h + d\n",
            "def volume(w, h, d):\n    return w * h * d\n",
        ),
        tree,
    )
    assert b"    return w * h * d\n" in applied(found.patch, tree)
    (tree / "deep.py").write_text("class A:\n    def f(self):\n        return 1\n")
    moved = "def f(self):\n    if self:\n\n        return 2\n"
    found = extract(block("deep.py", "def f(self):\n    return 1\n", moved), tree)
    wanted = b"class A:\n    def f(self):\n        if self:\n\n            return 2\n"
    assert applied(found.patch, tree, "deep.py") == wanted


def test_an_empty_search_makes_a_new_file(tree: Path) -> None:
    """A file that is not there is created; one that is there and empty is filled."""
    found = extract(block("pkg/new.py", "", "x = 1\n") + block("empty.py", "", "y = 2\n"), tree)
    assert "new file mode 100644\n--- /dev/null\n" in found.patch
    assert applied(found.patch, tree, "pkg/new.py") == b"x = 1\n"
    assert (tree / "empty.py").read_text() == "y = 2\n"


def test_text_can_be_deleted(tree: Path) -> None:
    """An empty replacement removes the lines."""
    found = extract(block("pkg/shape.py", "import os\n\n\n", ""), tree)
    assert applied(found.patch, tree).startswith(b"def area")


def test_line_ends_of_the_file_are_kept(tree: Path) -> None:
    """A file with CRLF stays one, and a missing last newline stays missing."""
    found = extract(block("dos.txt", "two\n", "2\n2\n") + block("bare.txt", "two\n", "2\n"), tree)
    assert applied(found.patch, tree, "dos.txt") == b"one\r\n2\r\n2\r\nthree\r\n"
    assert (tree / "bare.txt").read_bytes() == b"one\n2"


@pytest.mark.parametrize(
    ("answer", "note"),
    [
        ("", "empty answer"),
        (" \n", "empty answer"),
        ("I would multiply.", "no diff in the answer"),
        ("```python\nx = 1\n```", "no diff in the answer"),
        ("<think>never mind", "the answer ends while thinking"),
        (
            block("twice.py", "x = 1\n", "x = 2\n"),
            "edit 1 of 1, 'twice.py': the text to search for is in the file more than once",
        ),
        (
            block("pkg/shape.py", "no such\n", "x\n"),
            "edit 1 of 1, 'pkg/shape.py': the text to search for is not in the file",
        ),
        (block("pkg/nowhere.py", "x\n", "y\n"), "edit 1 of 1, 'pkg/nowhere.py': there is no such text file"),
        (block("picture.bin", "x\n", "y\n"), "edit 1 of 1, 'picture.bin': there is no such text file"),
        (
            block("picture.bin", "", "y\n"),
            "edit 1 of 1, 'picture.bin': the file is there already, and no text",
        ),
        (block("latin.py", "x\n", "y\n"), "edit 1 of 1, 'latin.py': there is no such text file"),
        (
            block("pkg/shape.py", "", "y\n"),
            "edit 1 of 1, 'pkg/shape.py': nothing to search for, in a file that is not empty",
        ),
        (block("pkg/shape.py", "import os\n", "import os\n"), "the search/replace blocks change nothing"),
        ("<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n", "a search/replace block names no file"),
        (
            "pkg/shape.py\n<<<<<<< SEARCH\nimport os\n=======\nimport s",
            "a search/replace block is not finished",
        ),
        ("pkg/shape.py\n<<<<<<< SEARCH\nimport os\n", "a search/replace block is not finished"),
        (block("pkg/new.py", "", "x\n") * 301, "more than 300 search/replace blocks"),
    ],
)
def test_without_a_change_the_note_says_why(answer: str, note: str, tree: Path) -> None:
    """No usable change is an empty patch and one plain reason."""
    found = extract(answer, tree)
    assert (found.patch, found.note) == ("", note)


def test_half_a_change_is_no_change(tree: Path) -> None:
    """One block that cannot be made takes the others with it."""
    good = block("pkg/shape.py", "import os\n", "import sys\n")
    found = extract(good + block("pkg/shape.py", "nothing like it\n", "x\n"), tree)
    assert found.patch == "" and found.note.startswith("edit 2 of 2")


@pytest.mark.parametrize("answer", [f"```diff\n{DIFF}", DIFF])
def test_a_diff_cut_at_the_token_limit_is_not_used(answer: str, tree: Path) -> None:
    """What a limit cut off inside its diff is not the change that was meant."""
    assert extract(answer[:-20], tree, cut=True).note == "the answer was cut inside its diff"


def test_a_diff_finished_before_the_cut_is_used(tree: Path) -> None:
    """A closed fence is a whole diff, wherever the words after it end."""
    assert extract(f"```diff\n{DIFF}```\nThis chan", tree, cut=True).patch == DIFF


@pytest.mark.parametrize(
    "path", ["../outside.py", "link.py", "out/outside.py", "/etc/passwd", "pkg/../../outside.py"]
)
def test_nothing_outside_the_tree_is_read(path: str, tree: Path) -> None:
    """Neither dots, nor links, nor absolute names let a block learn what a file elsewhere holds."""
    for search in ("secret = 1\n", "root:x:0:0:root:/root:/bin/bash\n"):
        found = extract(block(path, search, "gone\n"), tree)
        assert found.patch == "" and "no such text file" in found.note


def test_an_escaping_path_is_left_for_the_intake_to_refuse(tree: Path) -> None:
    """A new file outside becomes a diff that names it, so the refusal is recorded as one."""
    assert "+++ b/../evil.py" in extract(block("../evil.py", "", "x\n"), tree).patch


MARKUP = ["<think>", "</think>", "```diff\n", "```\n", "~~~\n", "\r\n", "\n", "\0", "\ud800", "\u2028", " "]
HEADERS = ["diff --git a/pkg/shape.py b/pkg/shape.py\n", "--- a/pkg/shape.py\n", "+++ b/pkg/shape.py\n"]
HUNKS = ["@@ -1,2 +1,2 @@\n", "-import os\n", "\\ No newline at end of file\n"]
EDITS = ["<<<<<<< SEARCH\n", "=======\n", ">>>>>>> REPLACE\n", "import os\n"]
PATHS = ["pkg/shape.py\n", "../outside.py\n", "link.py\n"]
PIECES = st.sampled_from([*MARKUP, *HEADERS, *HUNKS, *EDITS, *PATHS])


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.one_of(PIECES, st.text(max_size=20)), max_size=30).map("".join), st.booleans())
@example(block("pkg/shape.py", "import os\n", "\ud800\n"), False)
def test_no_answer_breaks_extraction(tree: Path, answer: str, cut: bool) -> None:
    """Whatever is written, the result is a patch or a reason, not both, and holds nothing from outside."""
    found = extract(answer, tree, cut=cut)
    assert bool(found.patch) != bool(found.note)
    assert "secret" not in found.patch


SAME_EDIT = block("pkg/shape.py", "import os\n", "import os\n")
HALF_EDIT = "x.py\n<<<<<<< SEARCH\n=======\n"


@pytest.mark.parametrize(
    "unit",
    [
        *MARKUP,
        *HEADERS,
        *HUNKS,
        *EDITS,
        *PATHS,
        "<think>\n</think>\n",
        "--- \n+++ \n",
        "`",
        SAME_EDIT,
        HALF_EDIT,
    ],
)
def test_a_long_hostile_answer_is_read_to_its_end(unit: str, tree: Path) -> None:
    """A megabyte of any one thing comes to a result; a pattern that goes back over it would not."""
    found = extract(unit * (1_000_000 // len(unit)), tree)
    assert bool(found.patch) != bool(found.note)


def test_an_endless_answer_is_not_read(tree: Path) -> None:
    """Beyond any length a model writes, the answer is refused unread."""
    assert extract("x" * (9 * 2**20), tree).note == "the answer is too long to read"
