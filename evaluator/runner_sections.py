"""Files that configure both project and test runner: the patch has a say in the project's sections only.

Sections are spliced as lines, and the result is then read by the parsers the runner itself uses. Where it
does not say what was meant (a section hidden in a string, an inline table, a file that cannot be read), the
whole file stays as it was.
"""

import re
import tomllib
from collections.abc import Callable
from typing import Any

from iniconfig import IniConfig, ParseError

_OWNED = re.compile(r"(tool:)?(pytest|coverage)(:.*)?")
_HEADER = re.compile(rb"\s*\[{1,2}\s*([^\]]+?)\s*\]")

Parsed = dict[str, Any]


def keep_runner_sections(name: str, base: bytes | None, patched: bytes) -> tuple[bytes | None, bool]:
    """What the file becomes, and whether the patch had touched the runner's part of it.

    Args:
        name: file name, one of `MIXED`.
        base: its trusted content; None if the file is new.
        patched: what the patch makes of it.

    Returns:
        The content to use (None: the file is not to exist) and the flag.
    """
    read = _read_toml if name == "pyproject.toml" else _read_ini
    try:
        trusted, wanted = read(base or b""), read(patched)
    except ValueError:
        return base, True
    if _runner_part(trusted) == _runner_part(wanted):
        return patched, False
    merged = _splice(base or b"", patched, name == "pyproject.toml")
    if _says(read, merged, _runner_part(trusted) | _project_part(wanted)):
        return merged, True
    return base, True


def _says(read: Callable[[bytes], Parsed], content: bytes, meant: Parsed) -> bool:
    try:
        return read(content) == meant
    except ValueError:
        return False


def _splice(base: bytes, patched: bytes, toml: bool) -> bytes:
    kept = [block for block in _blocks(patched) if not _owned(block, toml)]
    restored = [block for block in _blocks(base) if _owned(block, toml)]
    ended = [block if block.endswith(b"\n") else block + b"\n" for block in (*kept, *restored) if block]
    return b"".join(ended)


def _blocks(content: bytes) -> list[bytes]:
    """The file cut before each section header."""
    blocks: list[list[bytes]] = [[]]
    for line in content.splitlines(keepends=True):
        if _HEADER.match(line):
            blocks.append([])
        blocks[-1].append(line)
    return [b"".join(block) for block in blocks]


def _owned(block: bytes, toml: bool) -> bool:
    match = _HEADER.match(block)
    if match is None:
        return False
    title = match[1].decode("utf-8", "replace")
    if toml:
        return re.match(r"""tool\s*\.\s*["']?(pytest|coverage)\b""", title) is not None
    return _OWNED.fullmatch(title) is not None


def _read_ini(content: bytes) -> Parsed:
    """Section titles to settings. Raises ValueError."""
    try:
        config = IniConfig("", data=content.decode())
    except ParseError as error:
        raise ValueError(str(error)) from None
    return {title: dict(settings) for title, settings in config.sections.items()}


def _read_toml(content: bytes) -> Parsed:
    """As `_read_ini`: the tools' tables and everything else are sections. Raises ValueError."""
    try:
        document = tomllib.loads(content.decode())
    except RecursionError:
        raise ValueError("nested too deeply") from None
    tools = document.pop("tool", {})
    if not isinstance(tools, dict):
        raise ValueError("tool is not a table")  # noqa: TRY004 - of the file, not of an argument
    return {f"tool:{name}": table for name, table in tools.items()} | {"": document}


def _runner_part(sections: Parsed) -> Parsed:
    return {title: value for title, value in sections.items() if _OWNED.fullmatch(title)}


def _project_part(sections: Parsed) -> Parsed:
    return {title: value for title, value in sections.items() if not _OWNED.fullmatch(title)}
