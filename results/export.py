"""A run in the files other tools read. Files appear whole or not at all; none is replaced unasked."""

import json
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from results import swebench
from results.database import faults
from results.money import Bill
from results.record import Request, Run, RunConfig
from results.store import Store
from results.swebench import By
from tasks.errors import InputError


def model_name(config: RunConfig) -> str:
    """What other tools call the origin of the patches: the model, or the solver that asked none."""
    return str(config.solver_options.get("model") or config.solver)


def predictions(store: Store, run: Run, sample: int = 0) -> Iterator[dict[str, str]]:
    """Patches of one sample as SWE-bench predictions, in the order of the run's tasks."""
    attempted = {attempt.instance_id for attempt in store.attempts(run.id) if attempt.sample == sample}
    for instance in run.config.instances:
        if instance in attempted:
            yield {
                "instance_id": instance,
                "model_name_or_path": model_name(run.config),
                "model_patch": store.patch(run.id, instance, sample),
            }


def attempts(store: Store, run: Run) -> Iterator[dict[str, Any]]:
    """Every attempt with its verdict (null while it is owed), its bill and its patch."""
    ledger = store.ledger(run)
    records = {(record.instance_id, record.sample): record for record in ledger.records}
    asked: dict[tuple[str, int], list[Request]] = defaultdict(list)
    for request in ledger.requests:
        asked[request.instance_id, request.sample].append(request)
    for attempt in ledger.attempts:
        key = attempt.instance_id, attempt.sample
        record = records.get(key)
        yield {
            "run_id": run.id,
            "model": model_name(run.config),
            **asdict(attempt),
            "patch": store.patch(run.id, *key),
            "bill": Bill.of(asked[key]).model_dump(mode="json"),
            "requests": [asdict(request) for request in asked[key]],
            "record": None if record is None else asdict(record) | {"spent": record.spent.model_dump()},
        }


def write_predictions(store: Store, run: Run, path: Path, sample: int = 0, *, force: bool = False) -> int:
    """Writes `predictions` as JSONL and returns how many.

    Raises:
        InputError: `path` exists and `force` is not set.
        StoreError: the run cannot be read, or the file not be written.
    """
    return _write_lines(path, predictions(store, run, sample), force)


def write_attempts(store: Store, run: Run, path: Path, *, force: bool = False) -> int:
    """Writes `attempts` as JSONL and returns how many; raises as `write_predictions`."""
    return _write_lines(path, attempts(store, run), force)


def write_report(
    store: Store, run: Run, path: Path, sample: int = 0, *, by: By = "official", force: bool = False
) -> None:
    """Writes SWE-bench's summary of one sample (schema version 2) by one of the two verdicts.

    Raises as `write_predictions`.
    """
    report = swebench.report(store.ledger(run), _empty(store, run, sample), sample, by)
    _write(path, [json.dumps(report, indent=4)], force)


def write_logs(
    store: Store, run: Run, directory: Path, sample: int = 0, *, by: By = "official", force: bool = False
) -> int:
    """Writes SWE-bench's `logs/run_evaluation/…/<instance>/` for every judged attempt under `directory`.

    Each holds `patch.diff`, `test_output.txt` and `report.json`, the last by one of the two verdicts.

    Returns:
        how many instances; raises as `write_predictions`.
    """
    root = directory / "logs" / "run_evaluation" / run.id / model_name(run.config).replace("/", "__")
    if root.exists() and not force:
        raise _exists(root)
    judged = [row for row in store.records(run.id) if row.sample == sample and swebench.completed(row, by)]
    for row in judged:
        record = store.record(run.id, row.instance_id, sample)
        place = root / row.instance_id
        report = {row.instance_id: swebench.instance_report(record, by)}
        _write(place / "patch.diff", [record.patch], force)
        _write(place / "test_output.txt", [record.output.decode("utf-8", "replace")], force)
        _write(place / "report.json", [json.dumps(report, indent=4)], force)
    return len(judged)


def _empty(store: Store, run: Run, sample: int) -> frozenset[str]:
    return frozenset(
        prediction["instance_id"]
        for prediction in predictions(store, run, sample)
        if not prediction["model_patch"].strip()
    )


def _write_lines(path: Path, rows: Iterable[dict[str, Any]], force: bool) -> int:
    # Escaped to ASCII: a raw U+2028 would end the line for the readers that split on it.
    lines = [json.dumps(row, ensure_ascii=True, default=str) for row in rows]
    _write(path, [line + "\n" for line in lines], force)
    return len(lines)


def _write(path: Path, chunks: Iterable[str], force: bool) -> None:
    if path.exists() and not force:
        raise _exists(path)
    if path.is_dir():
        raise InputError(f"{path} is a directory", "Name a file.")
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    with faults("write an export", path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with draft.open("w", encoding="utf-8", errors="surrogatepass", newline="") as file:
                file.writelines(chunks)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)


def _exists(path: Path) -> InputError:
    return InputError(f"{path} exists", "Choose another place, or give --force to replace it.")
