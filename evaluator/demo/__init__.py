"""A model that is none, for a first look at Assay: reference fixes, spoiled at a fixed rate.

What it scores says nothing about any model. It speaks the OpenAI protocol over real HTTP, so that everything
between a prompt and a price is the same as with a real endpoint.
"""

from evaluator.demo.answers import MODELS
from evaluator.demo.server import Demo, serve

__all__ = ["MODELS", "Demo", "serve"]
