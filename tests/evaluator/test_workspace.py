"""What of a patch gets into the copy: its sources, and of mixed files the sections that are the project's."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.apply import Changes
from evaluator.runner.plan import Canaries
from evaluator.runner_sections import keep_runner_sections
from evaluator.workspace import Trusted, lay_out
from sandbox.job import File

INI = b"[metadata]\nname = x\n[tool:pytest]\naddopts = -q\n"
TOML = b'[project]\nname = "x"\n[tool.pytest.ini_options]\naddopts = "-q"\n[tool.ruff]\nline-length = 99\n'
CANARIES = Canaries({"tests/test_0.py": b""}, ("a",), ("b",))
NEW = File(b"new\n")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("pkg/mod.py", "tests/test_a.py", "tests/api.py", "code/__init__.py", "setup.cfg"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("old\n")
    return tmp_path


def laid(
    tree: Path,
    files: dict[str, File | None],
    trusted: dict[str, File | None] | None = None,
    fixed: tuple[str, ...] = (),
) -> tuple[set[str], set[str], set[str]]:
    own = Trusted(trusted or {}, frozenset(fixed))
    workspace = lay_out(Changes(files), own, CANARIES, tree)
    return set(workspace.files) - CANARIES.files.keys(), set(workspace.removals), set(workspace.flags)


def test_sources_are_taken_and_removed_as_the_patch_says(tree: Path) -> None:
    """New, changed and removed ones alike."""
    assert laid(tree, {"pkg/mod.py": None, "pkg/new.py": NEW}) == ({"pkg/new.py"}, {"pkg/mod.py"}, set())


def test_the_test_patch_has_the_last_word(tree: Path) -> None:
    """On every path it touches, of whatever class, and on the directories it needs."""
    trusted: dict[str, File | None] = {"pkg/mod.py": NEW, "pkg/data/x.json": NEW, "tests/test_a.py": None}
    changed: dict[str, File | None] = {"pkg/mod.py": None, "pkg/data": NEW, "tests/test_a.py": NEW}
    files, removals, flags = laid(tree, changed, trusted)
    assert files == {"pkg/mod.py", "pkg/data/x.json"}
    assert removals == {"tests/test_a.py"}
    assert flags == {"reverted_test_edit"}


def test_what_the_reference_fix_changes_among_the_tests_is_source(tree: Path) -> None:
    """Packages ship helpers in folders called `tests`; a fix may have to change them."""
    assert laid(tree, {"tests/api.py": NEW}, fixed=("tests/api.py",))[0] == {"tests/api.py"}
    assert laid(tree, {"tests/conftest.py": NEW}, fixed=("tests/conftest.py",))[0] == set()


def test_a_new_name_must_not_hide_the_standard_library(tree: Path) -> None:
    """A package that always was called `code` may grow; a new `json` may not appear."""
    files, _, flags = laid(tree, {"code/more.py": NEW, "json.py": NEW, "src/pluggy/__init__.py": NEW})
    assert files == {"code/more.py"}
    assert flags == {"reverted_startup_file"}


def test_compiled_code_is_left_out(tree: Path) -> None:
    """It would be executed in place of the source beside it."""
    files, _, flags = laid(tree, {"pkg/mod.so": NEW, "tests/__pycache__/test_a.cpython-311.pyc": NEW})
    assert (files, flags) == (set(), {"dropped_binary"})


def test_build_inputs_are_taken_and_flagged(tree: Path) -> None:
    """Nothing is installed again: installs are editable, and a flag tells that one may be out of date."""
    files, _, flags = laid(tree, {"setup.py": NEW, "pkg/fast.pyx": NEW})
    assert (files, flags) == ({"setup.py", "pkg/fast.pyx"}, {"build_input_changed"})


@pytest.mark.parametrize("change", [None, File(link="pkg/mod.py")])
def test_a_mixed_file_does_not_take_the_options_with_it(tree: Path, change: File | None) -> None:
    """Removed, or made a link: what it told the runner stays."""
    (tree / "setup.cfg").write_bytes(INI)
    workspace = lay_out(
        Changes({"setup.cfg": change, "tox.ini": None}), Trusted({}, frozenset()), CANARIES, tree
    )
    assert b"addopts = -q" in workspace.files["setup.cfg"].content
    assert workspace.removals == ("tox.ini",)


@pytest.mark.parametrize(
    ("name", "base", "patched", "expected", "touched"),
    [
        ("setup.cfg", INI, INI.replace(b"= x", b"= y"), INI.replace(b"= x", b"= y"), False),
        ("setup.cfg", INI, INI.replace(b"-q", b"-k no"), INI, True),
        (
            "setup.cfg",
            INI,
            INI.replace(b"= x", b"= y").replace(b"-q", b"-k no"),
            INI.replace(b"= x", b"= y"),
            True,
        ),
        ("setup.cfg", INI, b"[metadata]\nname = x\n", INI, True),
        (
            "setup.cfg",
            None,
            b"[metadata]\nname = x\n[tool:pytest]\naddopts = -k no\n",
            b"[metadata]\nname = x\n",
            True,
        ),
        ("tox.ini", b"[tox]\n", b"[tox]\n[pytest]\naddopts = -k no\n", b"[tox]\n", True),
        ("setup.cfg", INI, b"[tool:pytest\n", INI, True),
        ("pyproject.toml", TOML, TOML.replace(b"99", b"88"), TOML.replace(b"99", b"88"), False),
        ("pyproject.toml", TOML, b"tool = 1\n", TOML, True),
        ("pyproject.toml", TOML, b"not toml", TOML, True),
        ("pyproject.toml", None, b"not toml", None, True),
        (
            "pyproject.toml",
            TOML,
            TOML.replace(b"[tool.pytest.ini_options]\n", b"[tool]\npytest.ini_options.").replace(
                b"-q", b"-k no"
            ),
            TOML,
            True,
        ),
        ("pyproject.toml", TOML, b'[project]\nname = """\n[tool.pytest.ini_options]\n"""\n', TOML, True),
    ],
)
def test_sections_of_mixed_files(
    name: str, base: bytes | None, patched: bytes, expected: bytes | None, touched: bool
) -> None:
    """The project's sections are the patch's, the runner's the base's; what is not clear stays as it was."""
    assert keep_runner_sections(name, base, patched) == (expected, touched)


def test_toml_sections_are_spliced(tree: Path) -> None:
    """Metadata of the patch and options of the base end up in one file that says just that."""
    patched = (
        TOML.replace(b'"x"', b'"y"').replace(b'"-q"', b'"-p evil"')
        + b"[tool.coverage.run]\nplugins = ['evil']\n"
    )
    content, touched = keep_runner_sections("pyproject.toml", TOML, patched)
    assert touched
    assert content is not None
    assert tomllib.loads(content.decode()) == tomllib.loads(TOML.replace(b'"x"', b'"y"').decode())


LINES = [
    "[tool.pytest.ini_options]",
    "[tool.x]",
    "[project]",
    "a = 1",
    '"""',
    "b = '''",
    "'''",
    "[tool]",
    "pytest.x = 1",
]
LINES += [
    "[tool:pytest]",
    "[pytest]",
    "[metadata]",
    "addopts = -k no",
    " more",
    "# [pytest]",
    "[ pytest ]",
    "[[tool.pytest]]",
]


@settings(deadline=None)
@given(
    st.sampled_from(["pyproject.toml", "setup.cfg", "tox.ini"]),
    st.lists(st.sampled_from(LINES)).map(lambda lines: "\n".join(lines).encode()),
)
def test_no_patch_changes_what_the_runner_reads(name: str, patched: bytes) -> None:
    """However sections are hidden or broken, the runner finds the base's configuration."""
    base = {"pyproject.toml": TOML, "setup.cfg": INI, "tox.ini": b"[pytest]\naddopts = -q\n"}[name]
    content, _ = keep_runner_sections(name, base, patched)
    again, touched = keep_runner_sections(name, base, content or b"")
    assert (again, touched) == (content, False)
