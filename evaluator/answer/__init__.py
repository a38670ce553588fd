"""From what a model wrote to a unified diff.

    text ─ without its thinking ─┬─ search/replace blocks ─ edits of the tree ─ unified diff
                                 └─ fenced or bare diff, as it stands

A diff is only found here; whether it is well formed and harmless is for the grader's intake to judge.
"""

from evaluator.answer.extract import Extracted, extract

__all__ = ["Extracted", "extract"]
