"""Images: layers built once, published ones pulled by name."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from sandbox_sights import BARE

from sandbox import base, images
from sandbox.closure import Closure
from sandbox.docker import Docker
from sandbox.images import Layer, Part
from sandbox.interpreter import provide
from sandbox.job import Job, Prepared
from sandbox.published import published_image, relocated
from tasks.environment import Environment
from tasks.errors import BuildError, SourceError

INSTANCE = "psf__requests-1"
PUBLISHED = Environment(image=published_image(INSTANCE), variables=(("GIVEN", "a b"),))


@pytest.fixture(scope="session")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a registry on loopback."""
    program = shutil.which("docker-registry")
    if program is None:
        pytest.skip("docker-registry is not installed")
    place = tmp_path_factory.mktemp("registry")
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    (place / "config.yml").write_text(
        f"version: 0.1\nstorage: {{filesystem: {{rootdirectory: {place}}}}}\nhttp: {{addr: '{address}'}}\n"
    )
    with (place / "log").open("wb") as log:
        process = subprocess.Popen([program, "serve", str(place / "config.yml")], stdout=log, stderr=log)
    for _ in range(100):
        with suppress(OSError), urllib.request.urlopen(f"http://{address}/v2/"):
            break
        time.sleep(0.1)
    yield address
    process.kill()
    process.wait()


@pytest.fixture(scope="session")
def small_base(box: Docker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A system with little more than a shell: what is pushed and pulled here should be small."""
    archive = tmp_path_factory.mktemp("base") / "base.tar"
    with archive.open("wb") as stream:
        Closure(roots=["libffi[0-9]*"]).write(stream)
    box.engine.client.api.import_image(str(archive), repository="assay/small-base", tag="tests")
    yield "assay/small-base:tests"
    box.engine.client.images.remove("assay/small-base:tests")


def push(box: Docker, image: str, name: str) -> None:
    """Moves `image` to a registry, as `name`."""
    client = box.engine.client
    client.images.get(image).tag(name)
    for answer in client.images.push(name, stream=True, decode=True):
        assert "error" not in answer, answer
    client.images.remove(name)


@pytest.fixture(scope="session")
def published(
    box: Docker, small_base: str, registry: str, tree: Path, tmp_path_factory: pytest.TempPathFactory
) -> str:
    """An image as SWE-bench publishes them, in the registry and not on the engine."""
    place = tmp_path_factory.mktemp("published")
    large = shutil.ignore_patterns(
        "include", "__pycache__", "ensurepip", "lib2to3", "pydoc_data", "test", "unittest", "asyncio", "email"
    )
    python = provide(BARE.python, box.engine.cache, [Path(sys.executable)])
    shutil.copytree(python, place / "python", symlinks=True, ignore=large)
    testbed = shutil.copytree(tree, place / "testbed", symlinks=True)
    (testbed / ".git").mkdir()
    (testbed / ".git" / "HEAD").write_text("secret")
    (testbed / "outside").symlink_to("/etc/passwd")
    parts = (Part(place / "python", "/opt/miniconda3/envs/testbed"), Part(testbed, "/testbed"))
    image, _ = images.build(box.engine, small_base, [Layer("publishable", os.urandom(8).hex(), parts)])
    name = f"{registry}/{published_image(INSTANCE)}"
    push(box, image, name)
    box.engine.client.images.remove(image)
    return name


@pytest.fixture(scope="session")
def pulling(box: Docker, registry: str) -> Docker:
    """The backend, told to pull from the registry."""
    return Docker(box.engine.cache, registry=registry)


@pytest.fixture(scope="session")
def adapted(pulling: Docker, published: str, tree: Path) -> Iterator[Prepared]:
    """The published image, prepared."""
    prepared = pulling.prepare(PUBLISHED, tree, "any", "")
    yield prepared
    for image in (prepared.handle, published):
        pulling.engine.client.images.remove(image)


def test_published_names_are_those_of_swe_bench() -> None:
    """Double underscores become `_1776_`, letters small."""
    assert published_image("Django__django-1") == "swebench/sweb.eval.x86_64.django_1776_django-1:latest"
    assert published_image("psf__requests-1", "", "arm64") == "sweb.eval.arm64.psf_1776_requests-1:latest"


@pytest.mark.parametrize(
    ("image", "registry", "namespace", "expected"),
    [
        ("swebench/a:1", "", "", "swebench/a:1"),
        ("swebench/a:1", "mirror.example:5000", "", "mirror.example:5000/swebench/a:1"),
        ("other.example/swebench/a:1", "mirror.example/", "", "mirror.example/swebench/a:1"),
        ("swebench/a", "", "mine", "mine/a"),
        ("localhost/swebench/a", "", "mine/sub", "localhost/mine/sub/a"),
    ],
)
def test_images_are_found_on_another_registry(
    image: str, registry: str, namespace: str, expected: str
) -> None:
    """A registry and a namespace take the place of those in the name."""
    assert relocated(image, registry, namespace) == expected


def test_a_published_image_is_pulled_and_runs(pulling: Docker, adapted: Prepared) -> None:
    """An image named by a row is pulled from the registry given, and its own Python runs the tests."""
    execution = pulling.run(adapted, Job(("sh", "-c", "which python; python hello.py; echo $GIVEN; ls -A")))
    assert execution.output == (
        b"/opt/miniconda3/envs/testbed/bin/python\nhello\na b\nhello.py\nold\noutside\npackage\nshortcut\n"
    )


def test_the_repository_of_a_published_image_is_writable(pulling: Docker, adapted: Prepared) -> None:
    """Images hold the repository as root's; the sandbox user may change it, and nothing else."""
    line = "echo changed > package/module.py && cat package/module.py; touch /opt/miniconda3/mark"
    execution = pulling.run(adapted, Job(("sh", "-c", line)))
    assert execution.output.startswith(b"changed\n") and b"Permission denied" in execution.output


def test_the_tree_of_a_published_image_is_on_the_host(adapted: Prepared) -> None:
    """The repository is copied out as the image has it, without history, and without links to elsewhere."""
    assert (adapted.tree / "shortcut/module.py").read_text() == "value = 1\n"
    names = sorted(path.name for path in adapted.tree.iterdir())
    assert names == ["hello.py", "old", "package", "shortcut"]


def test_an_adapted_image_is_kept(pulling: Docker, adapted: Prepared, tree: Path) -> None:
    """The second preparation of the same image builds nothing."""
    again = pulling.prepare(PUBLISHED, tree, "any", "")
    assert (again.handle, again.build_s) == (adapted.handle, 0.0)


def test_an_image_that_is_nowhere_is_a_source_error(pulling: Docker, tree: Path) -> None:
    """The message names the image; the remedy says how to do without."""
    with pytest.raises(SourceError, match="swebench/nothing") as caught:
        pulling.prepare(Environment(image="swebench/nothing:1"), tree, "any", "")
    assert "--environments built" in caught.value.remedy


def test_a_built_environment_is_kept(box: Docker, prepared: Prepared, tree: Path) -> None:
    """The second preparation takes the layers that are there."""
    again = box.prepare(BARE, tree, "tests", "")
    assert (again.handle, again.build_s) == (prepared.handle, 0.0)


def test_tasks_share_layers(box: Docker, prepared: Prepared, tree: Path) -> None:
    """Two repositories with the same environment differ in their last layer only."""
    other = box.prepare(BARE, tree, "tests-of-another", "")
    api = box.engine.client.api
    one, two = (api.inspect_image(each.handle)["RootFS"]["Layers"] for each in (prepared, other))
    box.engine.client.images.remove(other.handle)
    assert one[:-2] == two[:-2]
    assert other.handle != prepared.handle


def test_environments_are_built_where_bubblewrap_is_not(box: Docker, tree: Path) -> None:
    """On a machine with Docker alone the same scripts build the environment in the image."""
    backend = Docker(box.engine.cache, [Path(sys.executable)], base_image="host")
    vars(backend)["_bubblewrap_works"] = False
    prepared = backend.prepare(BARE, tree, "tests-in-image", "")
    execution = backend.run(
        prepared, Job(("sh", "-c", "which python; python hello.py; touch here /opt/env/there"))
    )
    box.engine.client.images.remove(prepared.handle)
    lines = execution.output.splitlines()
    assert lines[:2] == [b"/opt/env/bin/python", b"hello"]
    assert len(lines) == 3 and b"/opt/env/there" in lines[2]
    assert (prepared.tree / "package/module.py").read_text() == "value = 1\n"


def test_a_layer_is_built_once(box: Docker, prepared: Prepared, tmp_path: Path) -> None:
    """Of many that want a layer at once, one builds it."""
    (tmp_path / "file").write_text("content")
    layer = Layer("shared", os.urandom(8).hex(), (Part(tmp_path, "/opt/shared"),))
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: images.build(box.engine, prepared.handle, [layer]), range(4)))
    box.engine.client.images.remove(results[0][0])
    assert sorted(built for _, built in results) == [False, False, False, True]


def test_a_failed_layer_names_its_log(box: Docker, prepared: Prepared) -> None:
    """What went wrong stands in the log named, and no image is left under the name."""
    layer = Layer("broken", os.urandom(8).hex(), lines=("RUN echo some words; exit 3",))
    with pytest.raises(BuildError) as caught:
        images.build(box.engine, prepared.handle, [layer])
    log = Path(caught.value.remedy.removeprefix("Its log: "))
    assert "some words" in log.read_text()
    assert not images.present(box.engine, layer.tag(prepared.handle))


def test_files_keep_their_times(box: Docker, prepared: Prepared) -> None:
    """Cached bytecode in a layer counts as fresh, because its source has the time it had on the host."""
    execution = box.run(prepared, Job(("stat", "-c", "%Y", "package/module.py")))
    assert int(execution.output) == int((prepared.tree / "package/module.py").stat().st_mtime)


def test_a_base_image_can_be_named(box: Docker, small_base: str, registry: str) -> None:
    """An image of any registry serves as base, pulled if it is not there."""
    name = f"{registry}/bases/debian:1"
    push(box, small_base, name)
    named = base.base_image(box.engine, name)
    one, two = (
        box.engine.client.images.get(image).attrs["RootFS"]["Layers"] for image in (small_base, named)
    )
    for image in (named, name):
        box.engine.client.images.remove(image)
    assert one == two[: len(one)]


def test_system_packages_come_from_the_machine(box: Docker) -> None:
    """With the machine's own base image, a package the machine lacks is named."""
    with pytest.raises(SourceError, match="no-such-package"):
        base.base_image(box.engine, "host", ["no-such-package"])
