"""Characters that cannot be seen, and their names: a key with one is another key only to a machine."""

from __future__ import annotations

import json
import re
import unicodedata

UNSEEN = (
    "\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800"
    "\u3000\u3164\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc\ufffe\uffff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff\U000f0000-\U0010ffff"
)
"""Ranges for a character class: spaces that are no ordinary space, marks without width, marks of direction, private characters."""

CONTROLS = r"\x00-\x1f\x7f-\x9f"

_BASIC_MAX = 0xFFFF
_NAMES = {
    "\x00": "NULL",
    "\t": "CHARACTER TABULATION",
    "\n": "LINE FEED",
    "\r": "CARRIAGE RETURN",
    "\x1b": "ESCAPE",
    "\x7f": "DELETE",
    "\x85": "NEXT LINE",
}
"""The controls that arrive; Unicode gives them no names."""

_HIDDEN = re.compile(f"[{CONTROLS}{UNSEEN}\ud800-\udfff]")
_HIDDEN_IN_LINES = re.compile(f"[\x00-\x09\x0b-\x1f\x7f-\x9f{UNSEEN}\ud800-\udfff]")


def named(character: str) -> str:
    """`NO-BREAK SPACE (U+00A0)`."""
    name = _NAMES.get(character) or unicodedata.name(character, "a character without a name")
    return f"{name} (U+{ord(character):04X})"


def escape(character: str) -> str:
    r"""The character as a string of Python or JSON has it: `\u00a0`, `\U000e0041`."""
    return f"\\u{ord(character):04x}" if ord(character) <= _BASIC_MAX else f"\\U{ord(character):08x}"


def plain(text: str) -> str:
    r"""One line; what cannot be seen is shown as `\x1b`, `\u202e`, `\xa0`."""
    return _HIDDEN.sub(_shown, text)


def plain_lines(text: str) -> str:
    """The same of a text of several lines, such as a traceback."""
    return _HIDDEN_IN_LINES.sub(_shown, text)


def plain_json(text: str) -> str:
    """A JSON document with such characters escaped: its value stays the same."""
    return _HIDDEN_IN_LINES.sub(lambda found: json.dumps(found.group())[1:-1], text)


def _shown(found: re.Match[str]) -> str:
    return found.group().encode("unicode_escape", "surrogatepass").decode("ascii")
