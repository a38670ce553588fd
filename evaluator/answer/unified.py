"""The difference of two texts as git writes it."""

import os
import subprocess
import tempfile
from pathlib import Path

_DIFF = ("git", "diff", "--no-index", "--no-color", "--no-ext-diff", "--no-textconv", "--text", "-U3")
_DEAF = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_ATTR_NOSYSTEM": "1"}


def unified(path: str, before: str | None, after: str) -> str:
    """The section of `path` in a patch; `before` None makes it a new file. `path` needs no quoting."""
    header = [f"diff --git a/{path} b/{path}"]
    if before is None:
        header.append("new file mode 100644")
    hunks = _hunks(before or "", after)
    if hunks:
        header += ["--- /dev/null" if before is None else f"--- a/{path}", f"+++ b/{path}"]
    return "".join(f"{line}\n" for line in header) + hunks


def _hunks(before: str, after: str) -> str:
    # git stays fast on texts made to be slow, and knows what to do about a missing last newline.
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    with tempfile.TemporaryDirectory(prefix="assay-diff-") as folder:
        Path(folder, "before").write_bytes(before.encode())
        Path(folder, "after").write_bytes(after.encode())
        done = subprocess.run(
            (*_DIFF, "before", "after"), cwd=folder, env=inherited | _DEAF, capture_output=True, check=False
        )
    if done.returncode not in (0, 1):
        raise OSError(f"git diff failed: {done.stderr.decode(errors='replace')}")
    _, mark, hunks = done.stdout.decode().partition("\n@@")
    return f"@@{hunks}" if mark else ""
