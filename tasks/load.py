"""Task sets from wherever rows are kept: a name, a file, a directory."""

import difflib
import re
from collections.abc import Iterable
from pathlib import Path

from tasks.errors import DatasetError, InputError
from tasks.files import FORMATS, read_directory, read_file
from tasks.printable import printable
from tasks.rows import Refusal, Row, parse
from tasks.task import Task, TaskSet

SHORT_NAMES = {
    "verified": "SWE-bench/SWE-bench_Verified",
    "lite": "SWE-bench/SWE-bench_Lite",
    "full": "SWE-bench/SWE-bench",
    "multilingual": "SWE-bench/SWE-bench_Multilingual",
    "multimodal": "SWE-bench/SWE-bench_Multimodal",
}
STARTER = "starter"
NO_TASK_AT_ALL = (
    "A row needs at least instance_id, repo, base_commit, problem_statement, patch, test_patch, FAIL_TO_PASS"
    " and PASS_TO_PASS, as in SWE-bench."
)
HUB_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}/[A-Za-z0-9][A-Za-z0-9._-]{0,95}")


def load(source: str = STARTER, *, split: str = "test", skip_invalid: bool = False) -> TaskSet:
    """The tasks of `source`, in its order.

    `source` is `starter`, a short name (`verified`, `lite`, `full`, `multilingual`, `multimodal`), a `.json`,
    `.jsonl` or `.parquet` file, a directory (saved by `datasets`, or with files named after the split), or a
    Hugging Face name `owner/name`. What exists locally comes before the hub, a short name before both: a
    directory called lite is `./lite`.

    Raises DatasetError with every bad row and field; with `skip_invalid` the good rows are returned and
    `left_out` says what was skipped. Raises InputError when `source` names nothing, SourceError when it
    cannot be had from here.
    """
    if source == STARTER:
        from tasks import starter

        return starter.load()
    path = Path(source).expanduser()
    if source in SHORT_NAMES:
        return _from_hub(SHORT_NAMES[source], split, skip_invalid)
    if path.is_dir():
        return collect(path.resolve().name, read_directory(path, split), skip_invalid)
    if path.exists():
        return collect(path.name, read_file(path), skip_invalid)
    if HUB_NAME.fullmatch(source) and path.suffix not in FORMATS:
        return _from_hub(source, split, skip_invalid)
    raise _nothing_of_that_name(source, path)


def _from_hub(name: str, split: str, skip_invalid: bool) -> TaskSet:
    from tasks.hub import read_hub

    return collect(name, read_hub(name, split), skip_invalid)


def collect(name: str, rows: Iterable[Row], skip_invalid: bool = False) -> TaskSet:
    """Validates all rows and checks that ids are unique. Raises DatasetError as `load` does."""
    tasks: dict[str, Task] = {}
    first: dict[str, str] = {}
    refused: list[Refusal] = []
    for row in rows:
        item = parse(row)
        if isinstance(item, Task) and item.instance_id in tasks:
            reason = f"given before, at {first[item.instance_id]}"
            item = Refusal(row.where, item.instance_id, (("instance_id", reason),))
        if isinstance(item, Refusal):
            refused.append(item)
        else:
            tasks[item.instance_id] = item
            first[item.instance_id] = row.where
    shown = printable(name)
    if refused and (not tasks or not skip_invalid):
        raise DatasetError(
            f"{shown}: {len(refused)} of {len(refused) + len(tasks)} rows are not usable tasks:",
            tuple(line for refusal in refused for line in refusal.lines()),
            "Repair the rows, or leave them out with --skip-invalid." if tasks else NO_TASK_AT_ALL,
        )
    if not tasks:
        raise DatasetError(f"{shown} holds no rows.")
    return TaskSet(name, tuple(tasks.values()), tuple(refusal.line() for refusal in refused))


def _nothing_of_that_name(source: str, path: Path) -> InputError:
    if "/" in source or path.suffix:
        beside = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
        close = difflib.get_close_matches(path.name, beside, n=3, cutoff=0.5)
        hint = f"Close names there: {', '.join(map(printable, close))}." if close else "Check the path."
        return InputError(f"There is no file or directory {printable(source, 400)}.", hint)
    names = [STARTER, *SHORT_NAMES]
    return InputError(
        f"{printable(source)} is no set of tasks.",
        f"Use one of {', '.join(names)}, a Hugging Face name owner/name, or the path of a directory or of a"
        " .json, .jsonl or .parquet file.",
    )
