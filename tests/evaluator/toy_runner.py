"""Runs a runner's program here, as a plain process."""

import os
import subprocess
import sys
from pathlib import Path
from threading import Thread

from evaluator.evidence import Session
from evaluator.outcome import outcome, phases
from evaluator.runner.frames import read_frames
from evaluator.runner.plan import Plan


def run_here(plan: Plan, folder: Path, **variables: str) -> tuple[Session, int, str]:
    """Session, exit status and output of a run in `folder`."""
    reader, writer = os.pipe()
    received: list[bytes] = []

    def drain() -> None:
        while part := os.read(reader, 1 << 16):
            received.append(part)

    drainer = Thread(target=drain)
    drainer.start()
    done = subprocess.run(
        [sys.executable, *plan.command[1:-1], str(writer)],
        input=plan.stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        pass_fds=[writer],
        cwd=folder,
        env={"PATH": os.defpath, "PYTHONDONTWRITEBYTECODE": "1"} | variables,
        check=False,
    )
    os.close(writer)
    drainer.join()
    os.close(reader)
    return read_frames(b"".join(received), plan.key), done.returncode, done.stdout.decode()


def outcomes(session: Session) -> dict[str, str]:
    """By the last part of the id's first line."""
    return {
        name.partition("\n")[0].rpartition(".")[2].rpartition("::")[2]: str(outcome(reports))
        for name, reports in phases(session).items()
    }
