"""Wrong patches that look right, made from right ones."""

import re
from dataclasses import replace

from evaluator.patch import FileDiff, Patch, parse_patch

_HUNK = re.compile(rb"^(?=@@ -)", re.M)
_RANGES = re.compile(rb"@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@")
_SLASHES = re.compile(r"\.(c|cc|cpp|cs|go|h|hpp|java|jsx?|kt|php|rs|scala|swift|tsx?)$")


def spoil(text: str) -> str:
    """The patch without its largest hunk; a patch of one hunk becomes one that only adds a comment there."""
    patch = parse_patch(text)
    hunks = [(at, hunk) for at, diff in enumerate(patch.files) for hunk in _hunks(diff)]
    if not hunks:
        return text
    if len(hunks) == 1:
        at, hunk = hunks[0]
        diff = patch.files[at]
        return _render(replace(diff, body=_comment_only(hunk, diff.new or diff.old or "")))
    dropped = max(hunks, key=lambda each: _changed(each[1]))
    kept = [hunk for hunk in hunks if hunk is not dropped]
    files = [
        replace(diff, body=b"".join(hunk for owner, hunk in kept if owner == at))
        for at, diff in enumerate(patch.files)
        if not _hunks(diff) or any(owner == at for owner, _ in kept)
    ]
    return _render(*files)


def break_header(text: str) -> str:
    """The patch with a first hunk header that no longer says where the hunk goes."""
    return re.sub(r"^@@ -(\S+) \+\S+ @@", r"@@ -\1 @@", text, count=1, flags=re.M)


def _hunks(diff: FileDiff) -> list[bytes]:
    return [] if diff.binary else [hunk for hunk in _HUNK.split(diff.body) if hunk]


def _changed(hunk: bytes) -> int:
    return sum(line[:1] in (b"+", b"-") for line in hunk.split(b"\n"))


def _comment_only(hunk: bytes, path: str) -> bytes:
    header, *lines = hunk.removesuffix(b"\n").split(b"\n")
    old: list[bytes] = []
    for at, line in enumerate(lines):
        if line[:1] in (b" ", b"-"):
            old.append(b" " + line[1:])
        elif line.startswith(b"\\") and lines[at - 1][:1] != b"+":
            old.append(line)
    count = sum(not line.startswith(b"\\") for line in old)
    ranges = _RANGES.match(header)
    start = int(ranges[1]) if ranges else 1
    mark = b"//" if _SLASHES.search(path) else b"#"
    body = [
        b"@@ -%d,%d +%d,%d @@" % (start, count, start or 1, count + 1),
        b"+" + mark + b" Looked at; left as it was.",
    ]
    return b"\n".join(body + old) + b"\n"


def _render(*files: FileDiff) -> str:
    return Patch(files).render().decode(errors="replace")
