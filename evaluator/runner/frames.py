"""Reads what the runner wrote to its channel. Every byte may have been written by the patch."""

import hashlib
import hmac
import json
from dataclasses import dataclass, field
from typing import Any

from evaluator.evidence import Broken, Report, Session, Source, without_parameters

MARK = 16
HEAD = MARK + 4 + hashlib.sha256().digest_size
MAX_PAYLOAD = 32_000_000

_OUTCOMES = ("passed", "failed", "skipped")
_PHASES = ("setup", "call", "teardown")
_EXCUSES = ("skip", "skipif", "xfail")


def read_frames(data: bytes, key: bytes) -> Session:
    """Takes the frames made with `key` out of `data`; see `channel.py` for their format.

    Never raises: whatever is wrong ends up in `gap` or `foreign_bytes`.
    """
    mark = hmac.digest(key, b"", "sha256")[:MARK]
    draft = _Draft()
    at = foreign = 0
    while at < len(data) and not draft.gap:
        start = data.find(mark, at)
        if start == -1:
            foreign += len(data) - at
            break
        foreign += start - at
        size = int.from_bytes(data[start + MARK : start + MARK + 4], "big")
        payload = data[start + HEAD : start + HEAD + size] if size <= MAX_PAYLOAD else b""
        mac = data[start + MARK + 4 : start + HEAD]
        if len(payload) == size and hmac.compare_digest(mac, hmac.digest(key, payload, "sha256")):
            draft.take(payload)
            at = start + HEAD + size
        else:
            foreign += MARK
            at = start + MARK
    return Session(
        draft.start,
        tuple(draft.broken),
        tuple(draft.collected),
        tuple(draft.reports),
        draft.status,
        draft.gap,
        foreign,
        tuple(draft.sources),
        tuple(draft.replaced),
    )


class _MalformedError(Exception):
    pass


def _require(condition: bool) -> None:
    if not condition:
        raise _MalformedError


@dataclass
class _Draft:
    start: dict[str, Any] | None = None
    broken: list[Broken] = field(default_factory=list)
    collected: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    reports: list[Report] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    bodies: dict[str, str] = field(default_factory=dict)
    replaced: list[tuple[str, str]] = field(default_factory=list)
    status: int | None = None
    gap: str = ""
    expected: int = 0
    counted: bool = False

    def take(self, payload: bytes) -> None:
        try:
            number, kind, facts = json.loads(payload)
            _require(number == self.expected and isinstance(facts, dict))
            self._note(kind, facts)
        except (
            ValueError,
            TypeError,
            KeyError,
            AttributeError,
            OverflowError,
            RecursionError,
            _MalformedError,
        ):
            self.gap = f"frame {self.expected} is missing, repeated or malformed"
        self.expected += 1

    def _note(self, kind: object, facts: dict[str, Any]) -> None:
        """Files one frame; the order of kinds is as strict as their content."""
        # A `conftest.py` is compiled before the session begins.
        _require(self.status is None and (kind == "source" or (kind == "start") == (self.start is None)))
        if kind == "start":
            self.start = {
                **{name: _text(said) for name, said in facts.items() if name not in ("files", "plugins")},
                "python": _text(facts["python"]),
                "files": {_text(name): _text(path) for name, path in facts["files"].items()},
                "plugins": [[_text(name), _text(origin)] for name, origin in facts["plugins"]],
            }
        elif kind == "broken":
            _require(not self.counted and facts["outcome"] in _OUTCOMES)
            self.broken.append(Broken(_text(facts["id"]), facts["outcome"], _text(facts["excerpt"])))
        elif kind == "collected":
            _require(not self.counted)
            self.counted = True
            for node_id, marks in facts["tests"]:
                _require(all(mark in _EXCUSES for mark in marks))
                self.collected.append((_text(node_id), tuple(marks)))
        elif kind == "source":
            tests = tuple(map(_text, facts["tests"]))
            self.sources.append(Source(_text(facts["file"]), _text(facts["sha256"]), tests))
        elif kind == "body":
            self.bodies[_text(facts["id"])] = _text(facts["ended"])
        elif kind == "test":
            _require(self.counted and facts["when"] in _PHASES and facts["outcome"] in _OUTCOMES)
            self.reports.append(
                Report(
                    _text(facts["id"]),
                    facts["when"],
                    facts["outcome"],
                    "xfail" in facts,
                    _seconds(facts["seconds"]),
                    _text(facts.get("excerpt", "")),
                    self.bodies.get(without_parameters(facts["id"])),
                )
            )
            self.bodies.clear()
        else:
            _require(kind == "end" and type(facts["status"]) is int)
            self.status = facts["status"]
            self.replaced = [(_text(part), _text(file)) for part, file in facts.get("replaced", ())]


def _text(value: object) -> str:
    _require(isinstance(value, str))
    return str(value)


def _seconds(value: object) -> float:
    _require(isinstance(value, int | float) and 0 <= value < 1e9)  # not so for NaN
    return float(value)  # type: ignore[arg-type]
