"""Markdown as models write it: what they thought, and what they fenced."""

import re
from dataclasses import dataclass

# A tag counts at the start of a line or, lone, in a line of prose: elsewhere it is content of the change.
_THOUGHT = re.compile(r"^[ \t]*<(think|thinking|thought)>", re.M)
_LONE_END = re.compile(r"^(?![-+ ]).*</(?:think|thinking|thought)>", re.M)
_OPENING = re.compile(r"( *)(`{3,}(?=[^`]*$)|~{3,})[ \t]*([^`\s]*)")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language and text, and whether the fence was closed."""

    language: str
    text: str
    closed: bool


def without_thinking(text: str) -> str:
    """`text` without `<think>…</think>`. Some templates open it in the prompt, so a lone end also ends one.

    What was opened and never closed is all thinking: the answer never began.
    """
    kept: list[str] = []
    at = 0
    if end := _LONE_END.search(text):
        opened = _THOUGHT.search(text)
        at = end.end() if opened is None or opened.start() >= end.end() else 0
    while opened := _THOUGHT.search(text, at):
        kept.append(text[at : opened.start()])
        end_tag = f"</{opened[1]}>"
        closed = text.find(end_tag, opened.end())
        at = len(text) if closed < 0 else closed + len(end_tag)
    kept.append(text[at:])
    return "".join(kept)


def blocks(text: str) -> list[Block]:
    """Fenced blocks in order. A fence ends at a line with nothing but as long a fence at the same indent."""
    found: list[Block] = []
    opening: re.Match[str] | None = None
    inside: list[str] = []
    for line in text.split("\n"):
        if opening is None:
            opening, inside = _OPENING.match(line), []
        elif _closes(line.rstrip(), opening[1], opening[2]):
            found.append(Block(opening[3].lower(), "\n".join(inside), closed=True))
            opening = None
        else:
            inside.append(line.removeprefix(opening[1]))
    if opening is not None:
        found.append(Block(opening[3].lower(), "\n".join(inside), closed=False))
    return found


def _closes(line: str, indent: str, fence: str) -> bool:
    return line.startswith(indent + fence) and not line.removeprefix(indent).strip(fence[0])
