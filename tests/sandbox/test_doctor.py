"""What `assay doctor` finds out."""

from pathlib import Path

import pytest

from sandbox import doctor
from sandbox.docker import Docker
from sandbox.doctor import Check


@pytest.fixture(scope="module")
def checks(open_place: Path) -> dict[str, Check]:
    """Those of this machine, by name."""
    return {check.name: check for check in doctor.examine(open_place / "cache")}


def test_every_failure_has_a_remedy(checks: dict[str, Check]) -> None:
    """A check that fails says what to do; one that does not has nothing to say."""
    for check in checks.values():
        assert check.detail
        assert bool(check.remedy) != check.ok


def test_both_backends_are_tried(checks: dict[str, Check]) -> None:
    """Each backend is a check of its own, whether it works here or not."""
    assert {"bubblewrap", "docker", "git", "uv", "interpreters", "cache", "disk", "memory"} <= set(checks)


def test_missing_git_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without git on PATH the check fails and says how to get it."""
    monkeypatch.setenv("PATH", str(tmp_path))
    check = doctor.check_git()
    assert not check.ok and "apt-get install git" in check.remedy


def test_an_absent_engine_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without a Docker engine the check says where one was looked for."""
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/docker.sock")
    check = doctor.check_sandbox(Docker(tmp_path))
    assert not check.ok and str(tmp_path) in check.detail
    assert doctor.check_disk_of_docker(tmp_path) == ()


def test_a_cache_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    """A cache below a plain file is no cache."""
    (tmp_path / "file").write_text("")
    check = doctor.check_cache(tmp_path / "file" / "cache")
    assert not check.ok and "ASSAY_CACHE" in check.remedy


@pytest.mark.skipif("os.geteuid() != 0", reason="only root has another account for sandboxes")
def test_a_cache_out_of_reach_is_named(tmp_path: Path) -> None:
    """A cache that the sandboxes' account cannot enter is told before anything is built there."""
    tmp_path.chmod(0o700)
    check = doctor.check_cache(tmp_path / "cache")
    assert not check.ok and "ASSAY_CACHE" in check.remedy
