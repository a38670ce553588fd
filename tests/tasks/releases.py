"""A package index on loopback with releases of a package that nobody else has."""

import gzip
import hashlib
import io
import tarfile
import threading
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PACKAGE = "spoon"
SOURCE = {
    "1.0": "def bend(spoon):\n    return spoon.lower()\n",
    "1.1": "def bend(spoon):\n    return spoon.lower().replace('n', 'u')\n",
}
CHANGES = {
    "1.0": "Changes\n=======\n\n1.0\n---\n\n- First of all.\n",
    "1.1": (
        "Changes\n=======\n\n1.1\n---\n\n- Bending a spoon turns it over.\n\n1.0\n---\n\n- First of all.\n"
    ),
}
TESTS = {
    "1.0": "from spoon import bend\n\n\ndef test_small():\n    assert bend('ABC') == 'abc'\n",
    "1.1": (
        "import os\n\nimport pytest\nfrom spoon import bend\n\n\n"
        "def test_small():\n    assert bend('ABC') == 'abc'\n\n\n"
        "@pytest.mark.parametrize('word', ['Spoon', 'Non n'])\n"
        "def test_turned(word):\n    assert 'n' not in bend(word)\n\n\n"
        "def test_moody():\n    assert os.environ['MOOD'] != 'bad'\n\n\n"
        "@pytest.mark.skip\ndef test_never():\n    pass\n"
    ),
}


def tree_of(version: str) -> dict[str, bytes]:
    """Files of a release, by path."""
    return {
        "pyproject.toml": b'[build-system]\nrequires = ["setuptools"]\n',
        "PKG-INFO": f"Metadata-Version: 2.1\nName: {PACKAGE}\nVersion: {version}\n".encode(),
        "CHANGES.rst": CHANGES[version].encode(),
        "spoon.py": SOURCE[version].encode(),
        ".gitattributes": b"*.py text eol=crlf\n",
        ".gitignore": b"tests/\n",
        "tests/test_spoon.py": TESTS[version].encode(),
    }


def archive(top: str, files: dict[str, bytes]) -> bytes:
    """A gzipped tar archive of files below the directory `top`."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as tar:
        for path, data in files.items():
            member = tarfile.TarInfo(f"{top}/{path}")
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return gzip.compress(content.getvalue(), mtime=0)


class Index:
    """Serves `directory` as a package index until closed."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        for version in SOURCE:
            self.serve(version, archive(f"{PACKAGE}-{version}", tree_of(version)))
            self._wheel(PACKAGE, version)
        for tool in ("pytest", "setuptools"):
            self._wheel(tool, "8.0")
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(directory)))
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/"

    def serve(self, version: str, sdist: bytes) -> None:
        """Puts a source distribution on the index, in the place of the one before."""
        self._add(PACKAGE, f"{PACKAGE}-{version}.tar.gz", sdist)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _wheel(self, package: str, version: str) -> None:
        content = io.BytesIO()
        info = f"{package}-{version}.dist-info"
        with zipfile.ZipFile(content, "w") as wheel:
            wheel.writestr(
                f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n"
            )
            wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            wheel.writestr(f"{info}/RECORD", "")
        self._add(package, f"{package}-{version}-py3-none-any.whl", content.getvalue())

    def _add(self, package: str, name: str, content: bytes) -> None:
        place = self.directory / package
        place.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(content)
        links = (
            f'<a href="{file.name}#sha256={hashlib.sha256(file.read_bytes()).hexdigest()}">{file.name}</a>'
            for file in sorted(place.glob(f"{package}-*"))
        )
        (place / "index.html").write_text(f"<!DOCTYPE html><html><body>{''.join(links)}</body></html>")


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        pass
