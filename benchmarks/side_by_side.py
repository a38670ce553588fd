"""Attacks on the grading, as the official harness's package grades them and as Assay does.

    python -m venv official && official/bin/pip install swebench==5.0.2
    python benchmarks/side_by_side.py --swebench-python official/bin/python

Every attack of `attacks.py` is run twice. Once as an official evaluation would: the patch applied as it is,
the test patch's files over it, the test command between the harness's markers, and the log given to the
package's own `get_eval_report`. And once by Assay, which gives both of its verdicts; where the attack leaves
room for it, also together with the correct fix. Prints a Markdown table.
"""

import argparse
import json
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from attacks import ATTACKS, BASE, FAIL_TO_PASS, FIX, PASS_TO_PASS, TESTS, Attack, diff

from evaluator.grade import grade
from evaluator.workshop import Workshop
from results.record import Record
from sandbox.choose import choose
from sandbox.job import File, Job, Limits
from tasks.digest import digest
from tasks.environment import Environment
from tasks.task import Task

LIMITS = Limits(wall_s=20, memory_mb=1024)
OFFICIAL_SCRIPT = """
set -uxo pipefail
: '>>>>> Start Test Output'
pytest -rA {files}
SWEBENCH_TEST_EXIT_CODE=$?
: '>>>>> End Test Output'
echo ">>>>> Test Exit Code: $SWEBENCH_TEST_EXIT_CODE"
"""
OFFICIAL_GRADER = """
import json, sys
from types import SimpleNamespace
from swebench import __version__
from swebench.harness.grading import get_eval_report

asked = json.load(sys.stdin)
spec = SimpleNamespace(instance_id="it", **asked["spec"])
prediction = {"instance_id": "it", "model_name_or_path": "m", "model_patch": "p"}
reports = [get_eval_report(spec, prediction, log, True)["it"] for log in asked["logs"]]
print(json.dumps({"version": __version__, "reports": reports}))
"""
TASK = Task.model_validate(
    {
        "instance_id": "calc-1",
        "repo": "example/calc",
        "base_commit": digest(BASE)[:40],
        "problem_statement": "add() subtracts",
        "patch": diff(Attack("", "", body=FIX).contents()),
        "test_patch": diff(TESTS),
        "FAIL_TO_PASS": FAIL_TO_PASS,
        "PASS_TO_PASS": PASS_TO_PASS,
        "environment": Environment(
            python="3.11",
            packages=("pytest==8.3.5", "pluggy==1.5.0", "iniconfig==2.0.0", "packaging==24.2"),
        ),
    }
)


@dataclass(frozen=True)
class Folder:
    """Repositories of which there is one."""

    path: Path

    def export(self, _: Task) -> Path:
        return self.path

    def describe(self, _: Task) -> str:
        return "1"


def official_log(workshop: Workshop, attack: Attack) -> bytes | None:
    """What an official evaluation would have left; None when it ran out of time."""
    contents = attack.contents() | TESTS
    script = OFFICIAL_SCRIPT.format(files=" ".join(TESTS))
    job = Job(
        command=("bash", "-c", script),
        files={path: File(text.encode()) for path, text in contents.items()},
        limits=LIMITS,
    )
    execution = workshop.sandbox.run(workshop.setup(TASK).prepared, job)
    return None if execution.hits else execution.output


def official_verdicts(python: str, logs: Iterable[bytes | None]) -> tuple[str, list[str]]:
    """The package's version, and what its grading returns for each log."""
    with tempfile.TemporaryDirectory() as place:
        paths = []
        for number, log in enumerate(logs):
            path = Path(place, f"{number}.txt")
            path.write_bytes(log if log is not None else b">>>>> Tests Timed Out")
            paths.append(str(path))
        spec = {
            "FAIL_TO_PASS": FAIL_TO_PASS,
            "PASS_TO_PASS": PASS_TO_PASS,
            "log_parser": "parse_log_pytest",
            "eval_type": "pass_and_fail",
        }
        asked = json.dumps({"spec": spec, "logs": paths})
        done = subprocess.run(
            [python, "-c", OFFICIAL_GRADER], input=asked, stdout=subprocess.PIPE, text=True, check=True
        )
    answer = json.loads(done.stdout.splitlines()[-1])
    return answer["version"], [_words(report) for report in answer["reports"]]


def _words(report: dict[str, bool]) -> str:
    if report["resolved"]:
        return "**resolved**"
    return "not resolved" if report["patch_successfully_applied"] else "not graded"


def trusted(record: Record) -> str:
    return f"{record.verdict.value} `{record.reason}`"


def flagged(record: Record) -> str:
    return " ".join((record.verdict.value, *(f"`{flag}`" for flag in record.flags)))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--swebench-python", required=True, help="a Python that has the official package")
    parser.add_argument("--sandbox", default="bubblewrap", choices=["bubblewrap", "docker"])
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as place:
        for path, text in BASE.items():
            Path(place, path).parent.mkdir(exist_ok=True)
            Path(place, path).write_text(text)
        workshop = Workshop(choose(options.sandbox), Folder(Path(place)))
        logs = [official_log(workshop, attack) for attack in ATTACKS]
        version, officials = official_verdicts(options.swebench_python, logs)
        compared = f"SWE-bench {version} | Assay, official-compatible | Assay, trusted"
        print(f"| family | patch | {compared} | trusted, with the fix as well |")
        print("|---|---|---|---|---|---|")
        for attack, official in zip(ATTACKS, officials, strict=True):
            record = grade(TASK, diff(attack.contents()), workshop=workshop, limits=LIMITS)
            fixed = "—"
            if attack.fixable:
                patch = diff(attack.contents(fixed=True))
                fixed = flagged(grade(TASK, patch, workshop=workshop, limits=LIMITS))
            compatible = record.official.value.replace("_", " ") or "unknown"
            cells = (attack.family, attack.name, official, compatible, trusted(record), fixed)
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
