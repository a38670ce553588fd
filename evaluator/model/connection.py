"""Where the model is, and the key to it."""

import os
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from tasks.errors import InputError


@dataclass(frozen=True)
class Connection:
    """The key appears in no message, no record and no `repr`."""

    base_url: str
    api_key: str = field(repr=False)


def connection(base_url: str | None = None, api_key: str | None = None) -> Connection:
    """Arguments first, then OPENAI_BASE_URL and OPENAI_API_KEY, then the address of OpenAI itself.

    An endpoint of one's own usually has no key; it gets a placeholder, because the client insists on one.

    Raises:
        InputError: neither an address nor a key, or an address that is not one.
    """
    url = base_url or os.environ.get("OPENAI_BASE_URL") or ""
    key = api_key or os.environ.get("OPENAI_API_KEY") or ""
    if not url and not key:
        raise InputError(
            "No model endpoint is given",
            "Give --base-url (for example http://localhost:8000/v1) or set OPENAI_BASE_URL; "
            "set OPENAI_API_KEY if it has a key.",
        )
    url = url or "https://api.openai.com/v1"
    if not _usable(url):
        raise InputError(
            "The base URL of the endpoint cannot be used",
            "It starts with http:// or https://, names a host, and holds no user or password "
            "(OPENAI_API_KEY is for that).",
        )
    return Connection(url.rstrip("/"), key or "no-key-needed")


def _usable(url: str) -> bool:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return False
    return (
        parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc and port != 0
    )
