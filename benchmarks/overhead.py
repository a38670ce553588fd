"""What one evaluation costs on top of the tests themselves.

    python benchmarks/overhead.py -i sqlparse-0.4.4 -n 15
    python benchmarks/overhead.py -d verified -i psf__requests-6028 --sandbox bubblewrap

For each backend two things are timed in turn, in one run, on the same prepared environment and the same
files (the tests and, with `--patch gold`, the reference fix): `bare`, the test command alone, timed by a
clock beside it once all is set up; and `grade`, the whole evaluation as a user waits for it, from patch to
verdict. Machines are noisy: read medians, and compare only figures of one run.
"""

import argparse
import shlex
import statistics
import time
from collections.abc import Callable

from evaluator.apply import Changes, apply_patch
from evaluator.grade import grade
from evaluator.options import REPO_URL
from evaluator.patch import parse_patch
from evaluator.runner.plan import plant_canaries
from evaluator.workshop import Workshop
from evaluator.workspace import lay_out
from results.record import Verdict
from sandbox.choose import choose
from sandbox.job import Job
from tasks.load import load
from tasks.mirror import Mirrors
from tasks.select import select
from tasks.task import Task

TIMER = """
import subprocess, sys, time
began = time.monotonic()
subprocess.run(sys.argv[1:])
print("\\nSECONDS", time.monotonic() - began)
"""


def bare(workshop: Workshop, task: Task, patch: str) -> Callable[[], float]:
    """The official test command, run once in the prepared environment; its own seconds."""
    setup = workshop.setup(task)
    changes = apply_patch(parse_patch(patch), setup.prepared.tree) if patch else Changes({})
    canaries = plant_canaries(setup.files)
    laid = lay_out(changes, setup.trusted, canaries, setup.prepared.tree)
    job = Job(
        command=("python", "-c", TIMER, *shlex.split(setup.environment.test_command), *setup.files),
        files={path: file for path, file in laid.files.items() if path not in canaries.files},
        removals=laid.removals,
        variables=dict(setup.environment.variables),
    )

    def run() -> float:
        output = workshop.sandbox.run(setup.prepared, job).output
        return float(output.rpartition(b"SECONDS ")[2])

    return run


def graded(workshop: Workshop, task: Task, patch: str) -> Callable[[], float]:
    expected = Verdict.RESOLVED if patch else Verdict.NOT_RESOLVED

    def run() -> float:
        began = time.monotonic()
        record = grade(task, patch, workshop=workshop, allow_empty=True)
        seconds = time.monotonic() - began
        if record.verdict is not expected:
            raise SystemExit(f"{task.instance_id}: {record.verdict}, {record.explanation}")
        return seconds

    return run


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-d", "--dataset", default="starter")
    parser.add_argument("-i", "--instance", required=True)
    parser.add_argument("-n", "--rounds", type=int, default=15)
    parser.add_argument("--sandbox", action="append", choices=["bubblewrap", "docker"])
    parser.add_argument(
        "--patch", choices=["none", "gold"], default="none", help="gold passes, and a pass is run twice"
    )
    parser.add_argument("--repo-url", default=REPO_URL)
    options = parser.parse_args()

    (task,) = select(load(options.dataset, skip_invalid=True), [options.instance])
    patch = task.patch if options.patch == "gold" else ""
    timed: dict[tuple[str, str], Callable[[], float]] = {}
    for name in options.sandbox or ["bubblewrap", "docker"]:
        workshop = Workshop(choose(name), Mirrors(url_template=options.repo_url))
        timed[name, "bare"] = bare(workshop, task, patch)
        timed[name, "grade"] = graded(workshop, task, patch)
    seconds: dict[tuple[str, str], list[float]] = {key: [] for key in timed}
    for measured in range(-1, options.rounds):  # the first round warms up
        for key, run in timed.items():
            taken = run()
            if measured >= 0:
                seconds[key].append(taken)

    print(f"{task.instance_id}, patch {options.patch}, {options.rounds} rounds, seconds")
    head = "overhead ms, median (quartiles)"
    print(f"{'backend':<12}{'bare median':>12}{'grade median':>14}{'ratio':>8}{head:>34}")
    for name in dict.fromkeys(backend for backend, _ in timed):
        alone, whole = seconds[name, "bare"], seconds[name, "grade"]
        extra = [1000 * (b - a) for a, b in zip(alone, whole, strict=True)]
        low, middle, high = statistics.quantiles(extra, n=4)
        ratio = statistics.median(b / a for a, b in zip(alone, whole, strict=True))
        print(
            f"{name:<12}{statistics.median(alone):>12.3f}{statistics.median(whole):>14.3f}{ratio:>8.2f}"
            f"{f'{middle:.0f} ({low:.0f} to {high:.0f})':>34}"
        )


if __name__ == "__main__":
    main()
