"""Environments as plain directories: packages once, and one layer on top for each repository."""

import json
import os
import shutil
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sandbox import recipe
from sandbox.bwrap import Layers, check_reachable, give_to_account, walk
from sandbox.interpreter import provide
from sandbox.recipe import ENV, TESTBED
from sandbox.workshop import Workshop
from tasks.cache import publish
from tasks.digest import digest
from tasks.environment import Environment
from tasks.errors import BuildError


@dataclass(frozen=True)
class Built:
    """A prepared repository: its directories and the variables its tests run with."""

    directory: Path
    layers: Layers
    variables: Mapping[str, str]


class Trees:
    """Layers in the directory `cache`. `pythons` are interpreters to consider before those found here."""

    def __init__(self, cache: Path, pythons: Sequence[Path] = ()) -> None:
        self.cache = cache
        self.pythons = pythons

    def place(self, environment: Environment, key: str, version: str) -> Path:
        """Where the prepared repository is, or will be."""
        return self.cache / "repositories" / repository_digest(environment, key, version)[:32]

    def build(self, environment: Environment, tree: Path, key: str, version: str) -> Path:
        """The directory of the prepared repository, built if it is not there. See `Sandbox.prepare`.

        Raises:
            BuildError: naming the log file.
            SourceError: a package or an interpreter cannot be had.
            SandboxUnavailable: there is no place to build in.
        """
        target = self.place(environment, key, version)
        if not target.exists():
            base = self._environment(environment)
            self._repository(environment, base, tree, version, target)
        return target

    def _environment(self, environment: Environment) -> Path:
        """A directory with the interpreter's place (`python`) and the virtual environment (`env`)."""
        target = self.cache / "environments" / environment_digest(environment)[:32]
        with draft_of(target) as draft:
            if draft:
                python = provide(environment.python, self.cache, self.pythons)
                (draft / "python").write_text(str(python))
                (draft / "env").mkdir()
                give_to_account(draft / "env")
                Workshop(self.cache).run(
                    recipe.dependencies(environment),
                    python=python,
                    mounts=["--bind", str(draft / "env"), ENV],
                    log=self._log("environment", target),
                )
        return target

    def _repository(
        self, environment: Environment, base: Path, tree: Path, version: str, target: Path
    ) -> None:
        with draft_of(target) as draft:
            if not draft:
                return
            workshop = Workshop(self.cache)
            python, log = Path((base / "python").read_text()), self._log("repository", target)
            variables = dict(environment.variables)
            released = {"SETUPTOOLS_SCM_PRETEND_VERSION": recipe.scm_version(version)} if version else {}
            shutil.copytree(tree, draft / "tree", symlinks=True)
            for name in ("env", "work"):
                (draft / name).mkdir()
            for name in ("tree", "env", "work"):
                give_to_account(draft / name)
            workshop.run(
                recipe.repository(environment),
                python=python,
                mounts=[
                    *("--bind", str(draft / "tree"), TESTBED),
                    *("--overlay-src", str(base / "env")),
                    *("--overlay", str(draft / "env"), str(draft / "work"), ENV),
                ],
                log=log,
                variables={**variables, **released},
            )
            remove_work(draft / "work")
            layers = [target / "env"]
            if deletes(draft / "env"):
                merge(workshop, python, base, draft, log)
            else:
                layers.insert(0, base / "env")
            facts = {
                "python": str(python),
                "env": [str(layer) for layer in layers],
                "variables": variables,
            }
            (draft / "layers.json").write_text(json.dumps(facts, indent=1))

    def _log(self, kind: str, target: Path) -> Path:
        return self.cache / "logs" / f"{kind}-{target.name}.log"


def load(directory: Path) -> Built:
    """The prepared repository at `directory`."""
    facts = json.loads((directory / "layers.json").read_text())
    env = tuple(Path(layer) for layer in facts["env"])
    return Built(directory, Layers(Path(facts["python"]), env, directory / "tree"), facts["variables"])


def environment_digest(environment: Environment) -> str:
    """Names the packages, whatever repository is installed on top."""
    return digest([environment.python, recipe.dependencies(environment)])


def repository_digest(environment: Environment, key: str, version: str) -> str:
    """Names the installed repository."""
    base, script = environment_digest(environment), recipe.repository(environment)
    return digest([base, script, environment.variables, key, version])


@contextmanager
def draft_of(target: Path) -> Iterator[Path | None]:
    """`publish`, with the host's faults (a full disk, a closed directory) told as build errors."""
    try:
        with publish(target) as draft:
            check_reachable(target.parent)
            yield draft
    except OSError as error:
        remedy = "Free disk space, or set ASSAY_CACHE to another disk."
        raise BuildError(f"cannot build {target}: {error}", remedy) from error


def remove_work(work: Path) -> None:
    """The overlay's own working directory, which it leaves closed to everybody."""
    for path in work.iterdir():
        path.chmod(0o700)
    shutil.rmtree(work)


def deletes(layer: Path) -> bool:
    """Whether an overlay layer hides anything below: marks of removed files, directories that replace one."""
    return any(hides(path) for path in walk(layer))


def hides(path: Path) -> bool:
    mode = path.lstat().st_mode
    replaces = stat.S_ISDIR(mode) and "user.overlay.opaque" in os.listxattr(path)
    return stat.S_ISCHR(mode) or replaces


def merge(workshop: Workshop, python: Path, base: Path, draft: Path, log: Path) -> None:
    """Makes the layer `draft/env` whole, so that it needs none below.

    The kernel's marks of what a layer hides do not survive most ways of copying it.
    """
    (draft / "merged").mkdir()
    give_to_account(draft / "merged")
    workshop.run(
        recipe.script(f"cp -a {ENV}/. /opt/merged/"),
        python=python,
        mounts=[
            *("--overlay-src", str(base / "env"), "--overlay-src", str(draft / "env"), "--ro-overlay", ENV),
            *("--bind", str(draft / "merged"), "/opt/merged"),
        ],
        log=log,
        network=False,
    )
    shutil.rmtree(draft / "env")
    (draft / "merged").rename(draft / "env")
