"""Which isolation a run gets. There is no less of it to fall back to."""

from typing import Any, Literal

from sandbox.bubblewrap import Bubblewrap
from sandbox.job import Sandbox
from tasks.errors import InputError, SandboxUnavailable

Choice = Literal["auto", "bubblewrap", "docker"]
ORDER: tuple[Choice, ...] = ("bubblewrap", "docker")


def choose(name: str = "auto", **options: Any) -> Sandbox:
    """The backend `name`, after it really ran something; `auto` is bubblewrap or, where that fails, docker.

    Args:
        options: keyword arguments of the backend. With `auto`, bubblewrap is not given those about images.

    Raises:
        InputError: there is no such backend, or it has no such option.
        SandboxUnavailable: it does not work here; of `auto`, why each does not.
    """
    if name not in ("auto", *ORDER):
        raise InputError(f"no sandbox is called {name!r}", f"Choose one of: auto, {', '.join(ORDER)}.")
    failures: list[SandboxUnavailable] = []
    for candidate in ORDER if name == "auto" else (name,):
        given = options if name != "auto" or candidate == "docker" else common(options)
        sandbox = make(candidate, given)
        try:
            sandbox.probe()
        except SandboxUnavailable as failure:
            failures.append(failure)
        else:
            return sandbox
    if name != "auto":
        raise failures[0]
    reasons = "\n".join(f"{candidate}: {failure}" for candidate, failure in zip(ORDER, failures, strict=True))
    raise SandboxUnavailable(f"no sandbox works on this machine\n{reasons}")


def make(name: str, options: dict[str, Any]) -> Sandbox:
    """The backend `name`, not tried yet."""
    if name == "bubblewrap":
        if unknown := set(options) - set(common(options)):
            raise InputError(
                f"bubblewrap has no option {', '.join(sorted(unknown))}", "Use --sandbox docker."
            )
        return Bubblewrap(**options)
    from sandbox.docker import Docker  # slow to import, and not needed for the usual backend

    return Docker(**options)


def common(options: dict[str, Any]) -> dict[str, Any]:
    """Those both backends have."""
    return {name: options[name] for name in ("cache", "pythons") if name in options}
