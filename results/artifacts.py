"""Files beside the database, named by their content: patches, test output, evidence, transcripts.

A file appears under its name only when its bytes are on the disk, so a name is either absent or whole,
however and whenever the writer died. Equal content is kept once.
"""

import errno
import hashlib
import os
import threading
import time
from contextlib import suppress
from pathlib import Path

_DRAFT_LIFE_S = 3600.0


class Artifacts:
    """A directory of files, two characters of the name deep. Thread-safe and process-safe."""

    def __init__(self, directory: Path) -> None:
        """
        Raises:
            OSError: the directory can not be made.
        """
        self.directory = directory
        self._drafts = directory / "drafts"
        self._drafts.mkdir(parents=True, exist_ok=True)
        self._sweep()

    def path(self, name: str) -> Path:
        return self.directory / name[:2] / name[2:]

    def write(self, content: bytes) -> str:
        """Keeps `content` and returns its name, the SHA-256 of it. On return it survives loss of power.

        Raises:
            OSError: it could not be written; nothing of it remains.
        """
        name = hashlib.sha256(content).hexdigest()
        target = self.path(name)
        if not target.parent.exists():
            target.parent.mkdir(exist_ok=True)
            _sync(self.directory)
        if not target.exists():
            self._publish(content, target)
        # Also for a file found in place: whoever put it there may not have come this far.
        _sync(target.parent)
        return name

    def read(self, name: str) -> bytes:
        """
        Raises:
            OSError: it is not there, or its bytes are not those that were written.
        """
        content = self.path(name).read_bytes()
        if hashlib.sha256(content).hexdigest() != name:
            raise OSError(errno.EIO, "changed after it was written", str(self.path(name)))
        return content

    def _publish(self, content: bytes, target: Path) -> None:
        draft = self._drafts / f"{target.name}.{os.getpid()}.{threading.get_ident()}"
        try:
            with draft.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            draft.rename(target)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise

    def _sweep(self) -> None:
        """Removes what killed writers left; a draft that old belongs to nobody alive."""
        for draft in self._drafts.iterdir():
            with suppress(FileNotFoundError):
                if time.time() - draft.stat().st_mtime > _DRAFT_LIFE_S:
                    draft.unlink()


def _sync(directory: Path) -> None:
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
