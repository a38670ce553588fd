"""Predictions files: patches somebody made earlier."""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from tasks import jsontext
from tasks.errors import PredictionsError
from tasks.jsontext import Malformed
from tasks.printable import printable
from tasks.rows import Refusal, Row, fields_of, refusal
from tasks.task import InstanceId, Text


class Prediction(BaseModel):
    """One patch for one task, in SWE-bench's field names. No patch and an empty one are the same."""

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())

    instance_id: InstanceId
    model_name_or_path: Text = ""
    model_patch: Text
    sample: int = 0
    """Counts from 0 the predictions for the same task, in file order."""


FIELDS = ("instance_id", "model_name_or_path", "model_patch")


def read(path: Path) -> tuple[Prediction, ...]:
    """The predictions of a `.jsonl` file (one a line) or a JSON file (a list, or an object by instance id).

    Raises PredictionsError with every bad row and field.
    """
    name = printable(path.name)
    samples: Counter[str] = Counter()
    predictions: list[Prediction] = []
    faults: list[str] = []
    try:
        for row in _rows(path, name):
            fields = fields_of(row, FIELDS)
            if isinstance(fields, Refusal):
                faults += fields.lines()
                continue
            try:
                prediction = Prediction.model_validate(fields)
            except ValidationError as error:
                faults += refusal(row, fields, error).lines()
            else:
                sample = samples[prediction.instance_id]
                predictions.append(prediction.model_copy(update={"sample": sample}))
                samples[prediction.instance_id] += 1
    except OSError as error:
        raise PredictionsError(
            f"{printable(str(path), 400)} cannot be read: {error.strerror or error}",
            "Name a JSON or JSONL file of predictions.",
        ) from error
    if faults:
        raise PredictionsError(
            "\n".join((f"{name}: {len(faults)} faults:", *faults)),
            'A prediction is {"instance_id": text, "model_name_or_path": text, "model_patch": text or null}.',
        )
    if not predictions:
        raise PredictionsError(f"{name} holds no prediction.")
    return tuple(predictions)


def _rows(path: Path, name: str) -> Iterator[Row]:
    if path.suffix == ".jsonl":
        yield from (Row(f"{name} line {number}", value) for number, value in jsontext.lines(path))
        return
    content = jsontext.document(path)
    if isinstance(content, Malformed):
        raise PredictionsError(
            f"{name} is {content.reason}.", "One prediction a line? Then name the file .jsonl."
        )
    if isinstance(content, Mapping):
        content = [
            {"instance_id": key} | value if isinstance(value, dict) else value
            for key, value in content.items()
        ]
    if not isinstance(content, list):
        raise PredictionsError(f"{name} holds neither a list nor an object of predictions.")
    yield from (Row(f"{name} row {number}", value) for number, value in enumerate(content, 1))
