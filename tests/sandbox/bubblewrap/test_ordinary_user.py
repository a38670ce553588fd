"""Everything that holds for root holds for an ordinary user."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CHECKOUT = HERE.parents[2]
SOMEBODY = 65534


def run_as_somebody(*command: str, home: Path) -> subprocess.CompletedProcess[str]:
    environment = {
        "HOME": str(home),
        "TMPDIR": str(home),
        "LANG": "C.UTF-8",
        "PATH": os.pathsep.join((sysconfig.get_path("scripts"), os.environ["PATH"])),
        "PYTHONPATH": os.pathsep.join((str(CHECKOUT), sysconfig.get_path("purelib"))),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return subprocess.run(
        command,
        user=SOMEBODY,
        group=SOMEBODY,
        extra_groups=[],
        cwd=CHECKOUT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def interpreter_of_somebody(home: Path) -> str | None:
    """An interpreter of our version that an ordinary user may run, with our packages in its sight."""
    minor = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for program in (sys.executable, f"/usr/bin/{minor}", f"/usr/local/bin/{minor}"):
        try:
            attempt = run_as_somebody(program, "-c", "import pytest, sandbox.bubblewrap", home=home)
        except OSError:
            continue
        if attempt.returncode == 0:
            return program
    return None


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="these tests run as an ordinary user already")
def test_jobs_of_an_ordinary_user(open_place):
    """The whole of what is promised about jobs is true without root."""
    home = open_place / "somebody"
    home.mkdir()
    os.chown(home, SOMEBODY, SOMEBODY)
    interpreter = interpreter_of_somebody(home)
    if interpreter is None:
        pytest.skip("an ordinary user cannot read this checkout or run its interpreter")
    tests = [str(HERE.parent / "test_contract.py"), str(HERE / "test_bubblewrap_run.py")]
    options = ["-q", "-p", "no:cacheprovider", "-m", "not docker"]
    run = run_as_somebody(interpreter, "-m", "pytest", *options, *tests, home=home)
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-1000:]
    assert " passed" in run.stdout and " skipped" not in run.stdout
