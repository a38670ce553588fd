"""What holds of runs under bubblewrap alone. Holds for root and for ordinary users alike."""

import os
import signal
import subprocess
import sys
import threading
import uuid
from pathlib import Path

import pytest
from sandbox_sights import eventually, processes_with

from sandbox import watch
from sandbox.job import Job, Limits
from tasks.errors import InfraError


def test_the_hosts_files_are_not_there(sh, open_place):
    """Of the host, only its programs and libraries exist inside."""
    (open_place / "secret").write_text("secret")
    execution = sh(f"ls {open_place} /root /var /srv 2>/dev/null; ls /home /tmp")
    assert execution.output == b"/home:\nassay\n\n/tmp:\n"


def test_nothing_runs_on_after_assay_is_killed(prepared, box):
    """kill -9 of the process that called `run` ends the sandbox with it."""
    mark = f"{uuid.uuid4().int % 10**9}.5"
    program = f"""
from pathlib import Path
from sandbox.bubblewrap import Bubblewrap
from sandbox.job import Job, Prepared
prepared = Prepared({prepared.digest!r}, Path({str(prepared.tree)!r}), 0.0, {prepared.handle!r})
Bubblewrap(cache=Path({str(box.cache)!r})).run(prepared, Job(("sh", "-c", "setsid sleep {mark} & wait")))
"""
    caller = subprocess.Popen([sys.executable, "-c", program])
    assert eventually(lambda: processes_with(mark))
    caller.kill()
    caller.wait()
    assert eventually(lambda: not processes_with(mark))


def test_a_sandbox_that_cannot_be_made_is_a_host_fault(box, prepared, tmp_path):
    """A launcher that fails says so; nothing is blamed on the command."""
    layers = (Path(prepared.handle) / "layers.json").read_text()
    (tmp_path / "layers.json").write_text(layers)  # but no tree beside it
    broken = type(prepared)("broken", tmp_path / "tree", 0.0, str(tmp_path))
    with pytest.raises(InfraError, match="did not start"):
        box.run(broken, Job(("true",)))


@pytest.mark.parametrize("depth", [1, 2], ids=["launcher", "init"])
def test_a_kill_from_outside_is_a_host_fault(box, prepared, depth):
    """When something on the host kills the sandbox, its run says nothing about the patch."""
    mark = f"{uuid.uuid4().int % 10**9}.5"
    failures = []

    def run():
        try:
            box.run(prepared, Job(("sleep", mark), limits=Limits(wall_s=60)))
        except InfraError as error:
            failures.append(error.message)

    thread = threading.Thread(target=run)
    thread.start()
    assert eventually(lambda: processes_with(mark))
    launcher = next(
        pid for pid in watch.children(os.getpid()) if b"bwrap" in Path(f"/proc/{pid}/cmdline").read_bytes()
    )
    victim = launcher if depth == 1 else watch.children(launcher)[0]
    os.kill(victim, signal.SIGKILL)
    thread.join()
    assert len(failures) == 1 and "from outside" in failures[0]
