"""Puts a patch onto the base files: exactly, then with its line counts recounted, then fuzzily in a sandbox.

On the host the patch meets nothing but git, in a scratch directory where every file has a neutral name (`f0`,
`f1`, …) and only the touched ones are present. Whatever the patch calls its files, it can reach no others.
"""

import os
import re
import stat
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from evaluator.patch import MAX_FILE, MAX_TOTAL, SYMLINK, FileDiff, Patch
from evaluator.paths import PatchError, PathClass, classify, parents, refuse_illegal
from sandbox.job import Execution, File, Job, Limits

GIT_SECONDS = 60

Applied = tuple[dict[str, File | None], frozenset[str]]
"""Every touched file's new state, and flags."""


@dataclass(frozen=True)
class Changes:
    """What a patch makes of the base: content by path, None where the file is removed."""

    files: Mapping[str, File | None]
    flags: frozenset[str] = frozenset()


def apply_patch(patch: Patch, tree: Path, run: Callable[[Job], Execution] | None = None) -> Changes:
    """Applies `patch` to the files under `tree`, which stay as they are.

    Args:
        run: runs a job in a fresh copy of the base, for the fuzzy step; None leaves that step out.

    Raises:
        PatchError: `apply`, `path_conflict`, `illegal_link`, `too_large`.
        InfraError: from `run`.
    """
    present = _present(patch, tree)
    files = tuple(_creating(diff, present) for diff in patch.files)
    if "crlf_patch" in patch.flags:
        files = tuple(_with_line_ends_of(present.get(diff.old or ""), diff) for diff in files)
    patch = Patch(files, patch.flags)
    try:
        results, flags = _apply_exactly(patch, present)
    except PatchError:
        if run is None:
            raise
        results, flags = _apply_fuzzily(patch, present, run)
    changed = {path: file for path, file in results.items() if file != present.get(path)}
    _refuse_bad_results(changed, tree)
    return Changes(changed, patch.flags | flags)


def read_file(path: Path) -> File | None:
    """The regular file or link at `path`; None if there is none."""
    try:
        state = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    if stat.S_ISLNK(state.st_mode):
        return File(link=str(path.readlink()))
    if not stat.S_ISREG(state.st_mode):
        return None
    return File(path.read_bytes(), 0o755 if state.st_mode & 0o100 else 0o644)


def _present(patch: Patch, tree: Path) -> dict[str, File]:
    """The base's versions of the touched files, once it is sure that their places are plain files' places."""
    touched = set(patch.paths)
    created = {diff.new for diff in patch.files if diff.old is None}
    found: dict[str, File] = {}
    kinds: dict[str, int] = {}
    copied = 0
    for path in touched:
        for parent in parents(path):
            if parent not in kinds:
                kinds[parent] = _kind(tree / parent)
            if kinds[parent] == stat.S_IFLNK:
                raise PatchError("illegal_link", f"{path} passes through the link {parent}")
            if parent in touched or kinds[parent] not in (0, stat.S_IFDIR):
                raise PatchError("path_conflict", f"{parent} is a file, {path} needs a directory")
        if (kind := _kind(tree / path)) not in (0, stat.S_IFREG, stat.S_IFLNK):
            raise PatchError("path_conflict", f"{path} is a directory")
        if path in created and classify(path) is PathClass.COMPILED:
            continue  # the copy has bytecode that the base commit has not
        if kind and (file := read_file(tree / path)) is not None:
            found[path] = file
    for diff in patch.files:
        if diff.origin and diff.old in found:
            copied += len(found[diff.old].content)
    if copied > MAX_TOTAL:
        raise PatchError("too_large", "copies of base files")
    return found


def _kind(path: Path) -> int:
    try:
        return stat.S_IFMT(path.lstat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return 0


def _creating(diff: FileDiff, present: Mapping[str, File]) -> FileDiff:
    """A file named on both sides, absent from the base, of which nothing is expected, is created."""
    new = diff.old == diff.new and diff.old not in present and diff.body.startswith(b"@@ -0,0 ")
    return replace(diff, old=None) if new else diff


def _with_line_ends_of(base: File | None, diff: FileDiff) -> FileDiff:
    """A transport that wrote CRLF hides whether the lines had it before: the base file tells."""
    if base is None or diff.binary or b"\r\n" not in base.content:
        return diff
    return replace(diff, body=re.sub(rb"(?m)^([ +-].*[^\r\n]|[ +-])$", rb"\1\r", diff.body))


def _apply_exactly(
    patch: Patch, present: Mapping[str, File]
) -> tuple[dict[str, File | None], frozenset[str]]:
    names = {path: f"f{number}" for number, path in enumerate(patch.paths)}
    with tempfile.TemporaryDirectory(prefix="assay-apply-") as scratch:
        for path, file in present.items():
            place = Path(scratch, names[path])
            if file.link:
                place.symlink_to(file.link)
            else:
                place.write_bytes(file.content)
                place.chmod(file.mode)
        text = patch.render(names.__getitem__)
        recount = patch.miscounted or not _git_apply(text, scratch)
        if recount and not _git_apply(text, scratch, "--recount"):
            raise PatchError("apply")
        files = {path: read_file(Path(scratch, name)) for path, name in names.items()}
    return files, frozenset(["recount_apply"] if recount else [])


def _git_apply(text: bytes, scratch: str, *options: str) -> bool:
    """Whether git took the whole patch; it takes all of it or nothing."""
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": scratch,
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_CEILING_DIRECTORIES": str(Path(scratch).parent),
        "GIT_ALLOC_LIMIT": "256m",
    }
    settings = ("-c", "core.autocrlf=false", "-c", "core.symlinks=true", "-c", "core.hooksPath=/dev/null")
    options = ("--whitespace=nowarn", *options, "-")
    try:
        done = subprocess.run(
            ["git", *settings, "apply", *options],
            input=text,
            check=False,
            cwd=scratch,
            env=environment,
            capture_output=True,
            timeout=GIT_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise PatchError("apply", f"not done after {GIT_SECONDS} s") from None
    return done.returncode == 0


def _apply_fuzzily(patch: Patch, present: Mapping[str, File], run: Callable[[Job], Execution]) -> Applied:
    """GNU patch picks names, follows links and runs editors: it works in a sandbox or not at all.

    It sees changes of text only; links, binary files and renames need an exact patch.
    """
    if any(diff.binary or diff.origin or SYMLINK in (diff.old_mode, diff.new_mode) for diff in patch.files):
        raise PatchError("apply")
    done = run(
        Job(
            command=("patch", "--batch", "--forward", "--fuzz=5", "-p1", "--reject-file=-"),
            stdin=patch.render(),
            variables={"LC_ALL": "C"},
            collect=patch.paths,
            limits=Limits(wall_s=60, file_mb=MAX_TOTAL // 1_000_000),
        )
    )
    if done.exit_status == 127:
        raise PatchError("apply", "the sandbox has no `patch` program to try it fuzzily")
    if done.exit_status != 0 or done.hits:
        raise PatchError("apply")
    files: dict[str, File | None] = {}
    modes = {diff.new: diff.new_mode for diff in patch.files}
    for path in patch.paths:
        mode = modes.get(path)
        kept = present[path].mode if path in present else 0o644
        content = done.collected.get(path)
        files[path] = None if content is None else File(content, mode & 0o777 if mode else kept)
    return files, frozenset(["fuzzy_apply"])


def _refuse_bad_results(changed: Mapping[str, File | None], tree: Path) -> None:
    total = 0
    for path, file in changed.items():
        if file is None:
            continue
        total += len(file.content)
        if len(file.content) > MAX_FILE or total > MAX_TOTAL:
            raise PatchError("too_large", path)
        if file.link:
            _refuse_illegal_link(path, file.link, changed, tree)


def _refuse_illegal_link(path: str, target: str, changed: Mapping[str, File | None], tree: Path) -> None:
    """A link may name a place inside the repository, reached through real directories only."""
    if target.startswith("/") or "\0" in target:
        raise PatchError("illegal_link", f"{path} -> {target[:200]!r}")
    here = path.split("/")[:-1]
    for part in target.split("/"):
        if part in ("", "."):
            continue
        if part == "..":
            if not here:
                raise PatchError("illegal_link", f"{path} leaves the repository")
            here.pop()
            continue
        here.append(part)
        step = "/".join(here)
        refuse_illegal(step)
        new = changed.get(step)
        if (new is not None and new.link) or (step not in changed and _kind(tree / step) == stat.S_IFLNK):
            raise PatchError("illegal_link", f"{path} passes through the link {step}")
    if not here:
        raise PatchError("illegal_link", f"{path} points at the repository itself")
