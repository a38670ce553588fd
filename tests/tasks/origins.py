"""Small real repositories to mirror, as difficult as real ones get."""

import os
import subprocess
from pathlib import Path


class Origin:
    """A git repository with a work tree, driven by the git program with a clock that stands still."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        directory.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str, stdin: bytes = b"") -> str:
        identity = {
            f"GIT_{who}_{what}": "spoon" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
        }
        dates = {"GIT_AUTHOR_DATE": "1700000000 +0000", "GIT_COMMITTER_DATE": "1700000000 +0000"}
        found = subprocess.run(
            ["git", *arguments],
            cwd=self.directory,
            env={
                **os.environ,
                **identity,
                **dates,
                "GIT_CONFIG_GLOBAL": os.devnull,
                "GIT_CONFIG_NOSYSTEM": "1",
            },
            input=stdin,
            capture_output=True,
            check=False,
        )
        assert found.returncode == 0, found.stderr
        return found.stdout.decode().strip()

    def write(self, path: str | bytes, content: bytes, mode: int = 0o644) -> None:
        target = Path(os.fsdecode(os.fsencode(self.directory) + b"/" + os.fsencode(path)))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        target.chmod(mode)

    def commit(self, message: str = "change") -> str:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD")

    def plant(self, *tree: str) -> str:
        """A commit of entries in the format of `git mktree`, which no work tree could hold."""
        made = self.git("mktree", "--missing", stdin="".join(f"{line}\n" for line in tree).encode())
        commit = self.git("commit-tree", made, "-m", "planted")
        self.git("update-ref", f"refs/heads/planted-{commit}", commit)
        return commit


def template(root: Path) -> str:
    """URL template for origins kept as `root/owner+name`."""
    return f"file://{root}/{{owner}}+{{name}}"
