"""One way to name content."""

import hashlib
import json
from typing import Any


def digest(value: Any) -> str:
    """Hexadecimal SHA-256 of a JSON-serialisable value, independent of key order and spacing."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()
