"""Other values of a literal: same type, same spelling, same length where that can be."""

import ast
import re
import string
import tokenize
from collections.abc import Iterator
from enum import StrEnum
from io import BytesIO
from random import Random


class Style(StrEnum):
    """How the test compares the literal, which says what of it may change."""

    EXACT = "exact"
    PATTERN = "pattern"
    """As a regular expression or a file-name pattern: what has a meaning there stays."""
    TOLERANT = "tolerant"
    """Within a tolerance: the first digit changes, never a later one."""
    WORD = "word"
    """Not at all: a string that no code produces but by chance stands for any literal."""


_STRING = re.compile(r"""(?s)([A-Za-z]*)('''|\"""|'|")(.*)\2""")
_INTEGER = re.compile(r"(0[xXoObB])?([0-9a-fA-F_]+)")
_DECIMAL = re.compile(r"([0-9_]*)((?:\.[0-9_]*)?(?:[eE][+-]?[0-9_]+)?[jJ]?)")
_THIRD = {"True": "None", "False": "None", "None": "False"}
"""The value that neither the fixed nor the buggy code gives."""
_MEANT = re.compile(
    r"""(?sx)
    \\N\{[^}]*\} | \\x.{2} | \\u.{4} | \\U.{8} | \\[0-7]{1,3} | \\.   # escapes
    | % (?:\(\w*\))? [-+\ \#0-9.*]* [A-Za-z%]?                        # directives of the % operator
    | \{ \w* [\w.\[\]]* (?:![rsa])? (?::[^{}\s]*)? \}                 # fields of str.format
    """
)
"""Stretches of a string whose letters do not stand for themselves."""
_MEANT_IN_PATTERN = re.compile(r"(?s)\\.|\[\]?[^\]]*\]|\{[^}]*\}|\(\?(?:P?<\w*>?|[a-zA-Z-]+\)?|.)|\w[*+?{]")
_DIGITS = "123456789"
_WORD = 8


def is_literal(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is not Ellipsis


def token_of(text: str, style: Style) -> tuple[int, str] | None:
    """The token of a literal's text that can be changed, with its offset in characters; None without one.

    Adjacent strings are one literal of several tokens: the first with a letter or digit serves.
    """
    if not text.endswith(("'", '"')):
        return 0, text
    tokens = _strings(text)
    best = next((token for token in tokens if any(_places(token[1], style))), None)
    return best or (tokens[0] if tokens and style is not Style.PATTERN else None)


def _strings(text: str) -> list[tuple[int, str]]:
    lines = f"({text}\n)".split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    try:
        tokens = [
            (starts[token.start[0] - 1] + token.start[1] - 1, token.string)
            for token in tokenize.tokenize(BytesIO("\n".join(lines).encode()).readline)
            if token.type == tokenize.STRING
        ]
    except (tokenize.TokenError, SyntaxError, IndexError):
        return []
    return [(at, token) for at, token in tokens if text[at : at + len(token)] == token]


def has_many(text: str) -> bool:
    """Whether there are several other values, not only the third of `True`, `False`, `None`."""
    return text not in _THIRD


def fresh(text: str, random: Random, style: Style = Style.EXACT) -> str:
    """Another literal in place of `text`, which is one token.

    Raises:
        ValueError: it is no literal.
    """
    if style is Style.WORD:
        return "'" + "".join(random.choice(string.ascii_lowercase) for _ in range(_WORD)) + "'"
    if text in _THIRD:
        return _THIRD[text]
    if match := _STRING.fullmatch(text):
        return _other_string(text, match.end(3), random, style)
    if match := _INTEGER.fullmatch(text):
        return (match[1] or "") + _other_digits(match[1] or "", match[2], random, style)
    if match := _DECIMAL.fullmatch(text):
        whole = match[1] or "0"
        return _another(whole[0], _DIGITS, random) + whole[1:] + match[2]
    raise ValueError(f"not a literal: {text[:80]!r}")


def _other_string(text: str, end: int, random: Random, style: Style) -> str:
    places = list(_places(text, style))
    if not places:  # nothing to replace: it grows by a letter
        return text[:end] + random.choice(string.ascii_lowercase) + text[end:]
    ends_of_words = [at for at in places if at + 1 not in places and at - 1 in places]
    at = random.choice(ends_of_words or places)
    return text[:at] + _another(text[at], _alphabet(text[at]), random) + text[at + 1 :]


def _places(text: str, style: Style) -> Iterator[int]:
    """Positions of the letters and digits of a string that stand for themselves."""
    match = _STRING.fullmatch(text)
    if match is None:
        return
    grammars = [_MEANT]
    if style is Style.PATTERN or "r" in match[1].lower():
        grammars.append(_MEANT_IN_PATTERN)
    taken: set[int] = set()
    for grammar in grammars:
        for found in grammar.finditer(match[3]):
            taken.update(range(*found.span()))
    for at, letter in enumerate(match[3]):
        if at not in taken and letter.isascii() and letter.isalnum():
            yield match.start(3) + at


def _alphabet(letter: str) -> str:
    if letter.isdigit():
        return _DIGITS
    return string.ascii_lowercase if letter.islower() else string.ascii_uppercase


def _other_digits(base: str, digits: str, random: Random, style: Style) -> str:
    alphabet = {"0x": "123456789abcdef", "0o": "1234567"}.get(base.lower(), _DIGITS)
    if base.lower() == "0b":
        return f"1{digits}"
    if not digits.strip("0_"):
        return _another("1", alphabet, random)  # neither 0 nor 1: False and True equal those
    places = [at for at, digit in enumerate(digits) if digit != "_"]
    at = places[0] if style is Style.TOLERANT else random.choice(places)
    return digits[:at] + _another(digits[at], alphabet, random) + digits[at + 1 :]


def _another(letter: str, alphabet: str, random: Random) -> str:
    return random.choice([other for other in alphabet if other not in (letter, letter.lower())])
