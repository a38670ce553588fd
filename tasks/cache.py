"""Where prepared things live, and how many processes share them without ever seeing a half-made one."""

import glob
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock


def cache_root() -> Path:
    """`$ASSAY_CACHE`, or `/var/cache/assay` for root, or `$XDG_CACHE_HOME/assay` (`~/.cache/assay`).

    Root's own home is closed to the unprivileged user sandboxes run as, hence the different place.
    """
    if chosen := os.environ.get("ASSAY_CACHE"):
        return Path(chosen).absolute()
    if os.geteuid() == 0:
        return Path("/var/cache/assay")
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "assay"


@contextmanager
def publish(target: Path) -> Iterator[Path | None]:
    """Makes the directory `target` once, however many processes and threads want it.

    Yields an empty directory beside `target` to fill, or None when `target` exists already. On a normal exit
    the filled directory becomes `target` in one rename; on an exception it is removed, and `target` stays
    absent.
    """
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
    if target.exists():
        yield None
        return
    with FileLock(target.parent / f".{target.name}.lock"):
        if target.exists():
            yield None
            return
        # Whoever died half-way holds the lock no longer: what it left is nobody's.
        for abandoned in target.parent.glob(f".{glob.escape(target.name)}.{'[a-z0-9_]' * 8}"):
            shutil.rmtree(abandoned, ignore_errors=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
        draft.chmod(0o755)
        try:
            yield draft
            draft.rename(target)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise


def usage() -> dict[str, int]:
    """Bytes on disk of each kind of thing in the cache, largest first."""
    root = cache_root()
    kinds = [entry for entry in root.iterdir() if entry.is_dir()] if root.is_dir() else []
    sizes = {kind.name: sum(_on_disk(path) for path in kind.rglob("*")) for kind in kinds}
    return dict(sorted(sizes.items(), key=lambda item: -item[1]))


def _on_disk(path: Path) -> int:
    try:
        return path.lstat().st_blocks * 512
    except FileNotFoundError:  # another process tidies up
        return 0
