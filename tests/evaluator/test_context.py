"""Which files a model is shown."""

from pathlib import Path

import pytest

from evaluator.context import CHARS_PER_TOKEN, choose
from tasks.errors import InputError
from tasks.task import Task

FILES = {
    "pkg/cookies.py": "class CookieJar:\n    def extract_cookies(self, response):\n        return response\n",
    "pkg/auth.py": "class DigestAuth:\n    def build_digest_header(self, method, url):\n        return url\n",
    "pkg/utils.py": "def parse_header_links(value):\n    return value.split(',')\n",
    "pkg/test/__init__.py": "class DigestAuthClient:\n    pass\n",
    "tests/test_auth.py": "def test_digest_auth():\n    DigestAuth().build_digest_header('GET', 'u')\n",
    "pkg/conftest.py": "DigestAuth = build_digest_header = None\n",
    "web/test/digest.js": "DigestAuth build_digest_header\n",
    "web/auth.test.ts": "DigestAuth build_digest_header\n",
    "docs/digest.rst": "DigestAuth build_digest_header\n",
    ".git/hook.py": "DigestAuth build_digest_header\n",
}
ISSUE = "DigestAuth.build_digest_header sends a wrong qop"
PATCH = """\
--- a/pkg/utils.py
+++ b/pkg/utils.py
@@ -1,2 +1,2 @@
 def parse_header_links(value):
-    return value.split(',')
+    return []
--- /dev/null
+++ b/pkg/added.py
@@ -0,0 +1 @@
+x = 1
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (root / "pkg" / "binary.py").write_bytes(b"DigestAuth build_digest_header \0\n")
    (root / "pkg" / "huge.py").write_text("DigestAuth build_digest_header\n" * 50_000)
    (tmp_path / "secret.py").write_text("DigestAuth build_digest_header\n")
    (root / "pkg" / "link.py").symlink_to(tmp_path / "secret.py")
    return root


def task(issue: str = ISSUE, patch: str = PATCH) -> Task:
    return Task(
        instance_id="a__b-1",
        repo="a/b",
        base_commit="0" * 40,
        problem_statement=issue,
        patch=patch,
        test_patch="",
        fail_to_pass=("t",),
        pass_to_pass=(),
    )


def paths(tree: Path, kind: str = "bm25", tokens: int = 4000, **fields: str) -> list[str]:
    return [each.path for each in choose(task(**fields), tree, kind, tokens).files]  # type: ignore[arg-type]


def test_bm25_puts_the_file_the_issue_speaks_of_first(tree: Path) -> None:
    """Identifiers in the issue, whole or in parts, lead to their file."""
    assert paths(tree)[0] == "pkg/auth.py"
    assert (
        paths(tree, issue="extracting cookies of a response fails, see the cookie jar")[0] == "pkg/cookies.py"
    )


def test_bm25_shows_sources_only(tree: Path) -> None:
    """Tests, documentation, binary and huge files, hidden folders and links out of the tree are not shown."""
    assert set(paths(tree)) <= {"pkg/auth.py", "pkg/utils.py", "pkg/cookies.py", "pkg/test/__init__.py"}


def test_bm25_is_repeatable(tree: Path) -> None:
    """The same issue and tree give the same files in the same order."""
    assert choose(task(), tree, "bm25", 4000) == choose(task(), tree, "bm25", 4000)


@pytest.mark.parametrize("issue", ["", "???", "\u4e2d\u6587", "zzyzx quux"])
def test_an_issue_without_words_shows_nothing(issue: str, tree: Path) -> None:
    """Without a word to look for there is no best file, and that is no fault."""
    assert paths(tree, issue=issue) == []


def test_oracle_shows_the_files_the_fix_changes(tree: Path) -> None:
    """Changed files, not the ones it adds, and the choice carries its name."""
    context = choose(task(), tree, "oracle", 4000)
    assert context.kind == "oracle"
    assert [each.path for each in context.files] == ["pkg/utils.py"]


def test_oracle_reads_nothing_outside_the_tree(tree: Path) -> None:
    """A reference fix that names a link out of the tree shows nothing."""
    patch = "--- a/pkg/link.py\n+++ b/pkg/link.py\n@@ -1 +1 @@\n-a\n+b\n"
    assert paths(tree, "oracle", patch=patch) == []


def test_oracle_without_a_readable_fix_is_an_input_error(tree: Path) -> None:
    """A fix that is no diff names no files, and the row is at fault."""
    with pytest.raises(InputError, match="a__b-1"):
        paths(tree, "oracle", patch="nothing like a diff")


def test_the_budget_is_kept(tree: Path) -> None:
    """No choice of files is worth more tokens than allowed, by the stated rule."""
    for tokens in (0, 10, 30, 60, 1000):
        shown = choose(task(), tree, "bm25", tokens).files
        assert sum(len(each.text) + len(each.path) for each in shown) <= tokens * CHARS_PER_TOKEN


def test_a_best_file_too_large_is_cut_at_a_line(tree: Path) -> None:
    """The beginning of the best file is shown, and marked as such."""
    (shown,) = choose(task(), tree, "bm25", 28).files
    assert shown.cut and shown.path == "pkg/auth.py"
    assert FILES["pkg/auth.py"].startswith(shown.text + "\n")
