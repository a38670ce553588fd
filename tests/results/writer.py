"""A process that records attempts as fast as it can and says so line by line; it is there to be killed.

python writer.py DIRECTORY RUN_ID NAME COUNT [--lease] [--file-limit BYTES]
"""

import argparse
import contextlib
import resource
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from result_factories import a_record, a_request, an_attempt

from results.store import Store
from tasks.errors import StoreError


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("directory", type=Path)
    parser.add_argument("run_id")
    parser.add_argument("name")
    parser.add_argument("count", type=int)
    parser.add_argument("--lease", action="store_true")
    parser.add_argument("--file-limit", type=int)
    given = parser.parse_args()
    if given.file_limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (given.file_limit, given.file_limit))

    with Store.open(given.directory) as store:

        def write(sample: int) -> None:
            noise = f"{given.name} {sample} " * 500 * (sample + 1)
            sent = store.open_request(given.run_id, given.name, sample, "m", a_request().started_at)
            store.close_request(given.run_id, sent, a_request(given.name, sample))
            store.add_attempt(given.run_id, an_attempt(given.name, sample, patch=noise))
            store.add_record(given.run_id, a_record(given.name, sample, patch=noise, output=noise.encode()))
            say(str(sample))

        try:
            with (
                store.lease(given.run_id) if given.lease else contextlib.nullcontext(),
                ThreadPoolExecutor(3) as pool,
            ):
                say("ready")
                list(pool.map(write, range(given.count)))
        except StoreError as error:
            say(f"StoreError: {error}".replace("\n", " "))
            sys.exit(error.exit_code)


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
