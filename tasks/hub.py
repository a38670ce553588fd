"""Raw rows from the Hugging Face Hub, or from what an earlier visit left in its cache."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tasks.errors import InputError, SourceError
from tasks.files import of_dataset
from tasks.printable import printable
from tasks.rows import Row

PATIENCE_S = 10.0
"""How long the hub may take to say that it has a dataset, before its absence is assumed."""


def read_hub(name: str, split: str) -> Iterator[Row]:
    """Rows of one split of the dataset `owner/name`.

    Raises SourceError when the hub knows no such dataset, and when it cannot be reached and no earlier copy
    is cached; InputError for an unknown split.
    """
    import datasets
    from huggingface_hub import HfApi
    from huggingface_hub.errors import RepositoryNotFoundError

    try:
        # One bounded question first: the library itself retries for minutes before it looks in its cache.
        HfApi(endpoint=datasets.config.HF_ENDPOINT).dataset_info(name, timeout=PATIENCE_S)
    except RepositoryNotFoundError as error:
        raise SourceError(
            f"{datasets.config.HF_ENDPOINT} has no dataset {name}, or does not show it to you.",
            "Check the spelling; for a private or gated dataset set HF_TOKEN.",
        ) from error
    except (
        Exception
    ) as error:  # DNS, TLS, proxy, time-out, 5xx: whichever HTTP library the hub client uses today
        found = _cached(datasets, name, split, error)
    else:
        found = _load(datasets, name, split)
    yield from of_dataset(found, split, name)


def _load(datasets: Any, name: str, split: str) -> Any:
    try:
        return datasets.load_dataset(name, split=split)
    except ValueError as error:
        if "split" in str(error):
            raise InputError(f"{name}: {printable(str(error), 300)}") from error
        raise SourceError(f"{name} could not be loaded: {printable(str(error), 300)}") from error
    except Exception as error:
        raise SourceError(
            f"{name} could not be downloaded: {printable(str(error), 300)}",
            f"Run again; what has arrived stays in {datasets.config.HF_DATASETS_CACHE}.",
        ) from error


def _cached(datasets: Any, name: str, split: str, reason: Exception) -> Any:
    try:
        with _offline(datasets.config):
            return datasets.load_dataset(name, split=split)
    except ValueError as error:
        raise InputError(f"{name}: {printable(str(error), 300)}") from error
    except OSError:
        from huggingface_hub.constants import HF_HOME

        config = datasets.config
        raise SourceError(
            f"Dataset {name}: {config.HF_ENDPOINT} cannot be reached ({type(reason).__name__}:"
            f" {printable(str(reason), 120)}) and there is no copy of it in {config.HF_DATASETS_CACHE}.",
            f"Connect to the network; or copy {HF_HOME} from a machine that has loaded it (HF_HOME"
            " names another place); or give a local copy: -d file.parquet (.json, .jsonl, a directory).",
        ) from reason


@contextmanager
def _offline(config: Any) -> Iterator[None]:
    before = config.HF_HUB_OFFLINE
    config.HF_HUB_OFFLINE = True
    try:
        yield
    finally:
        config.HF_HUB_OFFLINE = before
