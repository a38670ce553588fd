"""Run by a Python that has the official package: grades the logs it is sent, one JSON object a line."""

import json
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

from swebench.harness.grading import get_eval_report, get_logs_eval

answers = sys.stdout
sys.stdout = sys.stderr
place = Path(tempfile.mkdtemp()) / "test_output.txt"
for line in sys.stdin:
    asked = json.loads(line)
    place.write_text(asked.pop("log"), newline="")
    spec = SimpleNamespace(instance_id="it", **asked)
    prediction = {"instance_id": "it", "model_name_or_path": "m", "model_patch": "p"}
    try:
        report = get_eval_report(spec, prediction, str(place), True)["it"]
        report["statuses"] = get_logs_eval(spec, str(place))[0]
    except Exception as error:
        report = {"resolved": False, "crash": repr(error)}
    answers.write(json.dumps(report) + "\n")
    answers.flush()
