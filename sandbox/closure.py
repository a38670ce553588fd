"""The machine's own Debian packages as a root file system: a base image where no registry can be reached."""

import io
import re
import subprocess
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from tasks.digest import digest
from tasks.errors import SourceError

RECIPE = 1
ROOTS = (
    *("bash", "ca-certificates", "coreutils", "diffutils", "file", "findutils", "git", "grep", "gzip", "sed"),
    *("libc-bin", "locales", "media-types", "netbase", "patch", "procps", "tar", "tzdata", "xz-utils"),
    *("g++", "gcc", "make", "pkg-config"),
    *(
        "libbz2-1.0",
        "libcrypt1",
        "libexpat1",
        "libffi[0-9]*",
        "libgdbm6*",
        "liblzma5",
        "libncursesw6",
        "libnsl2",
    ),
    *("libreadline8*", "libsqlite3-0", "libssl3*", "libtirpc3*", "libuuid1", "zlib1g"),
)
"""What test suites call, a compiler, and the libraries CPython links to; those the machine has are taken."""

_UNWANTED = re.compile(r"/usr/share/(doc|man|info|lintian|bug|bash-completion)/|/var/lib/dpkg/")
_WRITTEN = {
    "etc/passwd": "root:x:0:0:root:/root:/bin/bash\nassay:x:1000:1000::/tmp:/bin/bash\n"
    "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
    "etc/group": "root:x:0:\nassay:x:1000:\nnogroup:x:65534:\n",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n",
    "etc/ld.so.conf": "include /etc/ld.so.conf.d/*.conf\n",
}
_GENERATED = ("/etc/ssl/certs/ca-certificates.crt", "/usr/lib/locale/locale-archive", "/etc/localtime")
"""Files no package lists because the machine made them."""


class Closure:
    """Installed packages that the essential ones, `required` and `roots` (patterns) need.

    `digest` names them with their versions, so two machines with the same packages name the same image.

    Raises:
        SourceError: the machine has no dpkg, or lacks one of `required`.
    """

    def __init__(self, required: Iterable[str] = (), roots: Iterable[str] = ROOTS) -> None:
        required = tuple(required)
        self._packages = _installed()
        if missing := [name for name in required if name not in self._packages.names]:
            raise SourceError(
                f"this machine lacks the system packages {', '.join(missing)}",
                f"Install them (apt-get install {' '.join(missing)}), or name another --base-image.",
            )
        reached = self._packages.reach((*_matching(roots), *required))
        self.packages = tuple(sorted(reached))
        self.digest = digest([RECIPE, [(name, self._packages.versions[name]) for name in self.packages]])

    def write(self, stream: IO[bytes]) -> None:
        """Writes the root file system to `stream` as an uncompressed tar archive."""
        with tarfile.open(fileobj=stream, mode="w|", format=tarfile.PAX_FORMAT) as archive:
            for path in self._files():
                if str(path)[1:] not in _WRITTEN:
                    archive.add(path, arcname=str(path)[1:], recursive=False, filter=_owned_by_root)
            for name, text in _WRITTEN.items():
                member = tarfile.TarInfo(name)
                member.size = len(text)
                archive.addfile(member, io.BytesIO(text.encode()))

    def _files(self) -> list[Path]:
        listing = _dpkg("-L", *self.packages)
        found = {_merged(line) for line in listing.splitlines() if line.startswith("/") and line != "/."}
        found |= {Path(name) for name in _GENERATED}
        wanted = {path for path in found if _present(path) and not _UNWANTED.match(str(path))}
        return sorted(wanted | set(_alternatives(wanted)))


class _Installed:
    """What dpkg knows of the installed packages."""

    def __init__(self, records: Iterable[list[str]]) -> None:
        self.versions: dict[str, str] = {}
        self.names: dict[str, str] = {}
        self._needs: dict[str, list[list[str]]] = {}
        self._essential: list[str] = []
        for package, name, version, essential, needs, provides in records:
            self.versions[package] = version
            self.names.setdefault(name, package)
            for other in _alternatives_of(provides):
                self.names.setdefault(other[0], package)
            self._needs[package] = _alternatives_of(needs)
            if essential == "yes":
                self._essential.append(package)

    def reach(self, roots: Iterable[str]) -> set[str]:
        """Packages needed by `roots`, the first installed alternative standing for each need."""
        reached: set[str] = set()
        waiting = [*self._essential, *(self.names[name] for name in roots)]
        while waiting:
            package = waiting.pop()
            if package in reached:
                continue
            reached.add(package)
            for choices in self._needs[package]:
                waiting += [self.names[choice] for choice in choices if choice in self.names][:1]
        return reached


def _installed() -> _Installed:
    names = ("binary:Package", "Package", "Version", "Essential", "Pre-Depends", "Provides", "Depends")
    line_format = "\t".join(f"${{{name}}}" for name in (*names, "db:Status-Abbrev")) + "\n"
    rows = (line.split("\t") for line in _dpkg("-W", "-f", line_format).splitlines())
    return _Installed(
        [package, name, version, essential, f"{before},{needs}", provides]
        for package, name, version, essential, before, provides, needs, status in rows
        if status.startswith("ii")
    )


def _alternatives_of(needs: str) -> list[list[str]]:
    """`a (>= 1) | b:any, c` becomes [[a, b], [c]]."""
    return [
        [re.split(r"[\s:(]", choice.strip(), maxsplit=1)[0] for choice in need.split("|")]
        for need in needs.split(",")
        if need.strip()
    ]


def _matching(patterns: Iterable[str]) -> list[str]:
    listing = _dpkg("-W", "-f", "${db:Status-Abbrev}\t${Package}\n", *patterns)
    return sorted({line.split("\t")[1] for line in listing.splitlines() if line.startswith("ii")})


def _dpkg(*arguments: str) -> str:
    """Patterns that match nothing make dpkg-query exit 1 with the rest of the answer still good."""
    try:
        ran = subprocess.run(
            ["dpkg-query", *arguments], capture_output=True, text=True, check=False, env={"LC_ALL": "C.UTF-8"}
        )
    except FileNotFoundError:
        raise SourceError(
            "this machine has no Debian packages to make a base image of",
            "Name an image to pull with --base-image.",
        ) from None
    return ran.stdout


def _merged(path: str) -> Path:
    """dpkg still lists /bin/sh where /bin is a symlink to usr/bin; the archive must not hold both."""
    listed = Path(path)
    return listed.parent.resolve() / listed.name


def _present(path: Path) -> bool:
    return path.is_symlink() or path.is_file() or path.is_dir()


def _alternatives(files: set[Path]) -> Iterator[Path]:
    """The links update-alternatives made (/usr/bin/awk, /usr/bin/c++) to files that are there."""
    for folder in (Path("/usr/bin"), Path("/usr/sbin")):
        for link in folder.iterdir():
            if (
                link.is_symlink()
                and link.readlink().parent == Path("/etc/alternatives")
                and link.resolve() in files
            ):
                yield from (link, link.readlink())


def _owned_by_root(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = "root"
    return member
