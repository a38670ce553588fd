"""Raw rows from files and directories."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tasks import jsontext
from tasks.errors import DatasetError, InputError
from tasks.jsontext import Malformed
from tasks.printable import printable
from tasks.rows import COLUMNS, Row


def read_file(path: Path) -> Iterator[Row]:
    """Rows of a `.json`, `.jsonl` or `.parquet` file. Raises InputError for other kinds, DatasetError."""
    if path.suffix not in FORMATS:
        raise InputError(
            f"{printable(str(path), 400)} is no kind of file that holds tasks.",
            f"Known are {', '.join(FORMATS)}; rename or convert the file.",
        )
    try:
        yield from FORMATS[path.suffix](path)
    except OSError as error:
        raise DatasetError(
            f"{printable(str(path), 400)} cannot be read: {error.strerror or error}"
        ) from error


def read_directory(path: Path, split: str) -> Iterator[Row]:
    """Rows of one split of a directory: saved by `datasets`, or with files named after the split.

    Raises InputError when the split is not there, DatasetError for an unreadable file.
    """
    if (path / "dataset_info.json").exists() or (path / "dataset_dict.json").exists():
        yield from _saved(path, split)
        return
    for folder in (path, path / "data"):
        whole = [folder / f"{split}{ending}" for ending in FORMATS]
        files = [file for file in whole if file.exists()] or sorted(
            folder.glob(f"{_literal(split)}-*.parquet")
        )
        if files:
            for file in files[:1] if files[0] in whole else files:
                yield from read_file(file)
            return
    there = sorted(file.name for ending in FORMATS for file in path.rglob(f"*{ending}"))[:8]
    raise InputError(
        f"{printable(str(path), 400)} holds no split {printable(split)}.",
        f"Found there: {', '.join(map(printable, there))}."
        if there
        else f"Expected a directory saved by datasets, or {printable(split)}.parquet, .jsonl or .json in it.",
    )


def _literal(text: str) -> str:
    return "".join(f"[{character}]" if character in "*?[" else character for character in text)


def _jsonl(path: Path) -> Iterator[Row]:
    for number, value in jsontext.lines(path):
        yield Row(f"{printable(path.name)} line {number}", value)


def _json(path: Path) -> Iterator[Row]:
    """A list of rows, an object of rows by instance id, or one row."""
    content = jsontext.document(path)
    name = printable(path.name)
    if isinstance(content, Malformed):
        raise DatasetError(
            f"{name} is {content.reason}.", remedy="One row a line? Then name the file .jsonl."
        )
    if isinstance(content, Mapping) and "instance_id" in content:
        content = [content]
    if isinstance(content, Mapping):
        content = [
            {"instance_id": key} | value if isinstance(value, dict) else value
            for key, value in content.items()
        ]
    if not isinstance(content, list):
        raise DatasetError(f"{name} holds neither a list nor an object of rows.")
    for number, value in enumerate(content, 1):
        yield Row(f"{name} row {number}", value)


def _parquet(path: Path) -> Iterator[Row]:
    import pyarrow
    from pyarrow import parquet

    name = printable(path.name)
    try:
        with parquet.ParquetFile(path) as file:
            columns = [column for column in file.schema_arrow.names if column in COLUMNS]
            number = 0
            for batch in file.iter_batches(batch_size=256, columns=columns):
                for index in range(batch.num_rows):
                    number += 1
                    yield Row(f"{name} row {number}", {key: _cell(batch[key][index]) for key in columns})
    except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError) as error:
        raise DatasetError(f"{name} is not readable parquet: {printable(str(error), 200)}") from error


def _cell(value: Any) -> Any:
    try:
        return value.as_py()
    except UnicodeDecodeError:
        return value.cast("binary").as_py()


def _saved(path: Path, split: str) -> Iterator[Row]:
    import datasets

    name = printable(path.resolve().name)
    try:
        found = datasets.load_from_disk(str(path))
    except Exception as error:
        raise DatasetError(f"{name} is not a readable saved dataset: {printable(str(error), 200)}") from error
    yield from of_dataset(found, split, name)


def of_dataset(found: Any, split: str, name: str) -> Iterator[Row]:
    """Rows of a `datasets.Dataset`, or of the split of a `datasets.DatasetDict`."""
    if isinstance(found, Mapping):
        if split not in found:
            raise InputError(
                f"{name} has no split {printable(split)}.", f"It has: {', '.join(map(printable, found))}."
            )
        found = found[split]
    kept = found.select_columns([column for column in found.column_names if column in COLUMNS])
    for number, value in enumerate(kept, 1):
        yield Row(f"{name} row {number}", value)


FORMATS: Mapping[str, Callable[[Path], Iterator[Row]]] = {
    ".parquet": _parquet,
    ".jsonl": _jsonl,
    ".json": _json,
}
