"""A model behind an OpenAI-compatible endpoint: one question in, one answer out, every request billed.

Endpoint.complete ─ retry ─ one try: slot, pace, send ─ read the answer ─ bill
                      │                        │
                      └── Transient ◄── faults ┴── Refused, PromptRefused
"""

from evaluator.model.completion import Completion
from evaluator.model.connection import Connection, connection
from evaluator.model.endpoint import Endpoint, Sampling
from evaluator.model.faults import PromptRefused
from evaluator.model.meter import Meter
from evaluator.model.retry import Patience

__all__ = [
    "Completion",
    "Connection",
    "Endpoint",
    "Meter",
    "Patience",
    "PromptRefused",
    "Sampling",
    "connection",
]
