"""Every error Assay raises on purpose.

    AssayError                      1   something of ours went wrong
    ├── InputError                  2   what the user gave is wrong: fix it and run again
    │   ├── DatasetError                rows that are not tasks; lists file, row, field and reason of each
    │   └── PredictionsError            a predictions file that cannot be read
    ├── SourceError                 3   a repository, package or dataset cannot be had from here
    ├── BuildError                  4   an environment did not build; names its log file
    ├── SandboxUnavailable          5   no isolation of the kind asked for works on this machine
    ├── InfraError                  5   one execution was lost to the host: retried, never scored
    ├── EndpointError               6   the model endpoint
    │   ├── EndpointRefused             wrong key, unknown model: no request of this run can succeed
    │   └── EndpointUnavailable         still failing after every retry
    └── StoreError                  7   the record of a run cannot be read or written

The number is the exit code of the command line. Exit code 0 means the command did what it was asked;
130 means it was interrupted and can be resumed.
"""

from typing import ClassVar


class AssayError(Exception):
    """`message` says what is wrong, `remedy` what to do next; both are shown without a traceback."""

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message}\n{self.remedy}" if self.remedy else self.message


class InputError(AssayError):
    exit_code = 2


class DatasetError(InputError):
    """`problems` holds one line per bad field."""

    def __init__(self, message: str, problems: tuple[str, ...] = (), remedy: str = "") -> None:
        super().__init__("\n".join((message, *problems)), remedy)
        self.problems = problems


class PredictionsError(InputError):
    pass


class SourceError(AssayError):
    exit_code = 3


class BuildError(AssayError):
    exit_code = 4


class SandboxUnavailable(AssayError):  # noqa: N818 - a state of the machine, not a mistake
    exit_code = 5


class InfraError(AssayError):
    exit_code = 5


class EndpointError(AssayError):
    exit_code = 6


class EndpointRefused(EndpointError):  # noqa: N818
    pass


class EndpointUnavailable(EndpointError):  # noqa: N818
    pass


class StoreError(AssayError):
    exit_code = 7
