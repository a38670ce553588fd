"""Reads a patch strictly: every file it touches, by names and modes that are known to be harmless.

Nothing of the text reaches another program as it came: `Patch.render` writes it anew, with names the caller
chooses, so no two readers can disagree about which file a hunk belongs to.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from evaluator.binary import result_size
from evaluator.paths import MAX_PATH, PatchError, refuse_illegal

MAX_PATCH = 20_000_000
MAX_FILE = 5_000_000
MAX_TOTAL = 64_000_000
"""Of all files a patch makes."""
MAX_LINES = 2_000_000
MAX_FILES = 3_000

REGULAR, EXECUTABLE, SYMLINK, GITLINK = 0o100644, 0o100755, 0o120000, 0o160000


@dataclass(frozen=True)
class FileDiff:
    """One file of a patch. `old` is None for a created file, `new` for a removed one; never both."""

    old: str | None
    new: str | None
    old_mode: int | None = None
    new_mode: int | None = None
    origin: Literal["", "rename", "copy"] = ""
    index: bytes = b""
    """The `index` line's object names, which a binary body cannot be applied without."""
    body: bytes = b""
    """Hunks, or a `GIT binary patch` block; every line ended."""
    binary: bool = False
    miscounted: bool = False
    """Some hunk header's line counts contradict its lines."""

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(path for path in (self.old, self.new) if path is not None))

    def render(self, name: Callable[[str], str]) -> bytes:
        """The file's section in git's format, its paths replaced by `name(path)`."""
        old = name(self.old if self.old is not None else self.new or "")
        new = name(self.new if self.new is not None else self.old or "")
        lines = [f"diff --git {_quote('a/' + old)} {_quote('b/' + new)}"]
        if self.old is None:
            lines.append(f"new file mode {self.new_mode or REGULAR:o}")
        elif self.new is None:
            lines.append(f"deleted file mode {self.old_mode or REGULAR:o}")
        elif self.old_mode and self.new_mode and self.old_mode != self.new_mode:
            lines += [f"old mode {self.old_mode:o}", f"new mode {self.new_mode:o}"]
        if self.origin:
            lines += [f"{self.origin} from {_quote(old)}", f"{self.origin} to {_quote(new)}"]
        if self.binary:
            lines.append("index " + self.index.decode("ascii"))
        elif self.body:
            lines += [
                f"--- {_quote('a/' + old) if self.old is not None else '/dev/null'}",
                f"+++ {_quote('b/' + new) if self.new is not None else '/dev/null'}",
            ]
        return "\n".join(lines).encode() + b"\n" + self.body


@dataclass(frozen=True)
class Patch:
    """All files of a patch, in their order, and what was remarkable about the text."""

    files: tuple[FileDiff, ...]
    flags: frozenset[str] = frozenset()

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(path for diff in self.files for path in diff.paths))

    @property
    def miscounted(self) -> bool:
        return any(diff.miscounted for diff in self.files)

    def render(self, name: Callable[[str], str] = str) -> bytes:
        return b"".join(diff.render(name) for diff in self.files)


def parse_patch(text: str) -> Patch:
    """Reads a unified diff as `git diff`, `diff -u`, `git format-patch` or a model writes it.

    Prose around the diff, a missing last newline and a CRLF transport are forgiven; wrong counts are noted.

    Raises:
        PatchError: `empty`, `unparsable`, `encoding`, `too_large`, `illegal_path`, `illegal_mode`,
            `submodule`.
    """
    if not text.strip():
        raise PatchError("empty")
    try:
        data = text.encode()
    except UnicodeEncodeError:
        raise PatchError("encoding") from None
    if len(data) > MAX_PATCH or data.count(b"\n") > MAX_LINES:
        raise PatchError("too_large", f"{len(data)} bytes")
    flags = set()
    headers = re.findall(rb"^diff --git .*$", data, re.M) or re.findall(rb"^\+\+\+ .*$", data, re.M)
    if headers and all(line.endswith(b"\r") for line in headers):
        data = data.replace(b"\r\n", b"\n")
        flags.add("crlf_patch")
    lines = data.removesuffix(b"\n").split(b"\n")
    reader = _Reader(lines)
    files = []
    while (diff := reader.next_file()) is not None:
        if diff.binary and not diff.body:
            flags.add("dropped_binary")
            continue
        files.append(diff)
        if len(files) > MAX_FILES:
            raise PatchError("too_large", f"more than {MAX_FILES} files")
    if not files:
        raise PatchError("unparsable", "binary files without content" if flags else "no file header")
    return Patch(tuple(files), frozenset(flags))


_HUNK = re.compile(rb"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_EXTENDED = re.compile(
    rb"(old mode|new mode|deleted file mode|new file mode|copy from|copy to|rename from|rename to|index"
    rb"|similarity index|dissimilarity index) (.*)"
)
_BLOCK = re.compile(rb"(literal|delta) (\d{1,12})")
_INDEX = re.compile(rb"([0-9a-f]{4,64}\.\.[0-9a-f]{4,64})(?: (\d{1,7}))?")
_SIGNATURE = b"-- "  # ends a mailed patch


class _Reader:
    def __init__(self, lines: list[bytes]) -> None:
        self.lines = lines
        self.at = 0
        self.unpacked = 0

    def line(self, ahead: int = 0) -> bytes | None:
        at = self.at + ahead
        return self.lines[at] if at < len(self.lines) else None

    def next_file(self) -> FileDiff | None:
        while (line := self.line()) is not None:
            if line.startswith(b"diff --git "):
                return self._git_file(line)
            if self._at_names() and _HUNK.match(self.line(2) or b""):
                return self._plain_file()
            if _HUNK.match(line):
                raise PatchError("unparsable", f"hunk without a file header at line {self.at + 1}")
            self.at += 1
        return None

    def _at_names(self) -> bool:
        return (self.line() or b"").startswith(b"--- ") and (self.line(1) or b"").startswith(b"+++ ")

    def _names(self) -> tuple[str | None, str | None]:
        old, new = (_file_name(self.lines[self.at + ahead][4:]) for ahead in (0, 1))
        self.at += 2
        if old == new == "/dev/null":
            raise PatchError("unparsable", "a file from nowhere to nowhere")
        return _strip_prefixes(None if old == "/dev/null" else old, None if new == "/dev/null" else new)

    def _plain_file(self) -> FileDiff:
        old, new = self._names()
        body, miscounted = self._hunks()
        return _checked(FileDiff(old, new, body=body, miscounted=miscounted))

    def _git_file(self, line: bytes) -> FileDiff:
        names = line[len(b"diff --git ") :]
        self.at += 1
        header: dict[bytes, bytes] = {}
        while match := _EXTENDED.fullmatch(self.line() or b""):
            header[match[1]] = match[2]
            self.at += 1
        diff = _with_modes(FileDiff(None, None), header)
        line_here = self.line() or b""
        named: tuple[str | None, str | None] | None = None
        if self._at_names():
            named = self._names()
            body, miscounted = self._hunks()
            diff = replace(diff, body=body, miscounted=miscounted)
        elif line_here == b"GIT binary patch":
            diff = replace(diff, binary=True, body=self._binary())
        elif line_here.startswith(b"Binary files ") and line_here.endswith(b" differ"):
            diff = replace(diff, binary=True)
            self.at += 1
        for origin in ("rename", "copy"):
            source, target = (header.get(f"{origin} {side}".encode()) for side in ("from", "to"))
            if source is not None and target is not None:
                diff = replace(diff, origin=origin)
                named = _file_name(source), _file_name(target)
        if named is None:
            named = _header_names(names)
        old = None if b"new file mode" in header else named[0]
        new = None if b"deleted file mode" in header else named[1]
        diff = replace(diff, old=old, new=new)
        if not diff.body and not diff.binary and not header.keys() - {b"index"}:
            raise PatchError("unparsable", f"no change under a file header at line {self.at}")
        return _checked(diff)

    def _binary(self) -> bytes:
        """The block that makes the new file, and where git wrote one, the block that would undo it."""
        block = [b"GIT binary patch"]
        self.at += 1
        while (line := self.line()) is not None and (match := _BLOCK.fullmatch(line)):
            start = self.at + 1
            end = next((at for at in range(start, len(self.lines)) if not self.lines[at]), len(self.lines))
            if len(block) == 1:
                size = result_size(match[1], int(match[2]), self.lines[start:end])
                self.unpacked += size
                if size > MAX_FILE or self.unpacked > MAX_TOTAL:
                    raise PatchError("too_large", "binary files")
            block += [line, *self.lines[start:end], b""]
            self.at = end + 1
        if len(block) == 1:
            raise PatchError("unparsable", "binary patch without data")
        return b"\n".join(block) + b"\n"

    def _hunks(self) -> tuple[bytes, bool]:
        body: list[bytes] = []
        miscounted = False
        while (line := self.line()) is not None and (match := _HUNK.match(line)):
            old, new = (int(match[group]) if match[group] else 1 for group in (2, 4))
            start = self.at + 1
            end = self._counted_end(start, old, new)
            if end is None:
                miscounted = True
                end = self._loose_end(start)
            body.append(line)
            body += (content or b" " for content in self.lines[start:end])
            self.at = end
            gap = end
            while gap < len(self.lines) and not self.lines[gap].strip():
                gap += 1
            if gap > end and gap < len(self.lines) and _HUNK.match(self.lines[gap]):
                miscounted = True
                self.at = gap
        if not body:
            raise PatchError("unparsable", f"no hunk under a file header at line {self.at}")
        return b"\n".join(body) + b"\n", miscounted

    def _counted_end(self, at: int, old: int, new: int) -> int | None:
        """Where a hunk of `old` and `new` lines ends; None when its lines do not add up so."""
        while old or new:
            kind = self.lines[at][:1] if at < len(self.lines) else b"end"
            if kind in (b" ", b"", b"-"):
                old -= 1
            if kind in (b" ", b"", b"+"):
                new -= 1
            if old < 0 or new < 0 or kind not in (b" ", b"", b"-", b"+", b"\\"):
                return None
            at += 1
        if at < len(self.lines) and self.lines[at].startswith(b"\\"):
            at += 1
        more = at < len(self.lines) and self.lines[at].startswith((b" ", b"+", b"-"))
        return None if more and not self._boundary(at) else at

    def _loose_end(self, at: int) -> int:
        """Where a hunk without usable counts ends: before the next header or line that cannot be diff."""
        start = at
        while at < len(self.lines) and not self._boundary(at):
            if self.lines[at][:1] not in (b" ", b"", b"-", b"+", b"\\"):
                break
            at += 1
        while at > start and not self.lines[at - 1]:
            at -= 1
        return at

    def _boundary(self, at: int) -> bool:
        line = self.lines[at]
        following = self.lines[at + 1] if at + 1 < len(self.lines) else b""
        return (
            line.startswith(b"diff --git ")
            or _HUNK.match(line) is not None
            or line == _SIGNATURE
            or (line.startswith(b"--- ") and following.startswith(b"+++ "))
        )


def _with_modes(diff: FileDiff, header: dict[bytes, bytes]) -> FileDiff:
    modes: dict[str, int] = {}
    index = b""
    if match := _INDEX.fullmatch(header.get(b"index", b"")):
        index = match[1]
        if match[2]:
            modes = dict.fromkeys(("old", "new"), int(match[2], 8) if match[2].isdigit() else 0)
    for key, side in (
        (b"old mode", "old"),
        (b"deleted file mode", "old"),
        (b"new mode", "new"),
        (b"new file mode", "new"),
    ):
        if key in header:
            try:
                modes[side] = int(header[key], 8)
            except ValueError:
                raise PatchError("illegal_mode", repr(header[key][:20])) from None
    return replace(diff, index=index, old_mode=modes.get("old"), new_mode=modes.get("new"))


def _checked(diff: FileDiff) -> FileDiff:
    if diff.old is None and diff.new is None:
        raise PatchError("unparsable", "a file from nowhere to nowhere")
    for path in diff.paths:
        refuse_illegal(path)
    for mode in (diff.old_mode, diff.new_mode):
        if mode == GITLINK:
            raise PatchError("submodule", ", ".join(diff.paths))
        if mode not in (None, REGULAR, EXECUTABLE, SYMLINK, 0o100664, 0o100600):
            raise PatchError("illegal_mode", f"{mode:o} of {diff.paths[0]}")
    if diff.binary and diff.body and not diff.index:
        raise PatchError("unparsable", "binary patch without an index line")
    return diff


def _strip_prefixes(old: str | None, new: str | None) -> tuple[str | None, str | None]:
    """Removes git's one-letter prefixes (`a/ b/`, also `i/ w/ c/ o/`) where both sides have one."""
    present = [path for path in (old, new) if path is not None]
    if all(re.match(r"[abciow]/", path) for path in present):
        return old and old[2:], new and new[2:]
    return old, new


def _header_names(text: bytes) -> tuple[str | None, str | None]:
    """Both names of a `diff --git` line, which are equal but for the prefix where nothing else names them."""
    if text.startswith(b'"'):
        old, rest = _unquote(text)
        left, right = old, _file_name(rest.lstrip(b" "))
    else:
        middle = len(text) // 2
        left, right = _decode(text[:middle]), _file_name(text[middle + 1 :])
    names = _strip_prefixes(left, right)
    if names[0] != names[1]:
        raise PatchError("unparsable", f"ambiguous file header {text[:200]!r}")
    return names


def _file_name(text: bytes) -> str:
    if text.startswith(b'"'):
        return _unquote(text)[0]
    return _decode(text.partition(b"\t")[0])


def _decode(name: bytes) -> str:
    try:
        return name.decode()
    except UnicodeDecodeError:
        raise PatchError("illegal_path", f"not UTF-8: {name[:200]!r}") from None


_ESCAPES = {b"a": 7, b"b": 8, b"t": 9, b"n": 10, b"v": 11, b"f": 12, b"r": 13, b'"': 34, b"\\": 92}
_QUOTED = re.compile(rb'"((?:[^"\\]|\\[abtnvfr"\\]|\\[0-3][0-7]{2})*)"')


def _unquote(text: bytes) -> tuple[str, bytes]:
    """A C-quoted name at the start of `text`, and what follows it."""
    match = _QUOTED.match(text[: 5 * MAX_PATH])
    if match is None:
        raise PatchError("unparsable", f"bad quoting in {text[:200]!r}")

    def plain(escape: re.Match[bytes]) -> bytes:
        code = escape[0][1:]
        return bytes([_ESCAPES[code] if code in _ESCAPES else int(code, 8)])

    return _decode(re.sub(rb"\\(?:[0-7]{3}|.)", plain, match[1])), text[match.end() :]


def _quote(name: str) -> str:
    """Quoted as git does where a reader might stumble; legal paths hold no control letter or backslash."""
    if name.isascii() and " " not in name and '"' not in name:
        return name
    letters = (chr(byte) if 32 <= byte < 127 and byte != 34 else f"\\{byte:03o}" for byte in name.encode())
    return '"' + "".join(letters) + '"'
