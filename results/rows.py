"""Records to table rows and back."""

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from decimal import Decimal
from typing import Any

from results.record import (
    AttemptRow,
    Cost,
    Official,
    Price,
    RecordRow,
    Request,
    Run,
    RunConfig,
    Spent,
    Usage,
    Verdict,
)

Row = Mapping[str, Any]

_RECORD = tuple(field.name for field in fields(RecordRow))
_ATTEMPT = tuple(field.name for field in fields(AttemptRow))
_REQUEST = tuple(field.name for field in fields(Request))


def encode_text(text: str) -> bytes:
    """UTF-8, but for lone surrogates (a model's JSON may hold them), which come back as they were."""
    return text.encode("utf-8", "surrogatepass")


def decode_text(content: bytes) -> str:
    return content.decode("utf-8", "surrogatepass")


def encode_json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"), default=str).encode()


def run_values(run: Run) -> dict[str, Any]:
    return {
        "id": run.id,
        "name": run.name,
        "created_at": run.created_at,
        "config": run.config.model_dump(mode="json"),
        "tags": list(run.tags),
    }


def run_of(row: Row) -> Run:
    return Run(
        id=row["id"],
        name=row["name"],
        created_at=row["created_at"],
        config=RunConfig.model_validate(row["config"]),
        finished_at=row["finished_at"],
        tags=tuple(row["tags"]),
    )


def request_values(request: Request) -> dict[str, Any]:
    values = {name: getattr(request, name) for name in _REQUEST}
    values["usage"] = None if request.usage is None else asdict(request.usage)
    values["price"] = None if request.price is None else {k: str(v) for k, v in asdict(request.price).items()}
    return values


def request_of(row: Row) -> Request:
    values = {name: row[name] for name in _REQUEST}
    if usage := row["usage"]:
        values["usage"] = Usage(**usage)
    if price := row["price"]:
        amounts = {part: Decimal(price[part]) for part in ("input", "cached", "output")}
        values["price"] = Price(**amounts, source=price["source"])
    return Request(**values)


def cost_of(row: Row) -> Cost:
    return Cost(kind=row["kind"], amount=row["amount"], detail=row["detail"])


def attempt_row_of(row: Row) -> AttemptRow:
    return AttemptRow(**{name: row[name] for name in _ATTEMPT})


def record_row_values(record: RecordRow) -> dict[str, Any]:
    values = {name: getattr(record, name) for name in _RECORD}
    return values | {
        "flags": list(record.flags),
        "failed": list(record.failed),
        "spent": record.spent.model_dump(mode="json"),
    }


def record_row_fields(row: Row) -> dict[str, Any]:
    """The fields of a `RecordRow`, and the first ones of a `Record`."""
    values = {name: row[name] for name in _RECORD}
    return values | {
        "verdict": Verdict(row["verdict"]),
        "official": Official(row["official"]),
        "flags": tuple(row["flags"]),
        "failed": tuple(row["failed"]),
        "spent": Spent.model_validate(row["spent"]),
    }
