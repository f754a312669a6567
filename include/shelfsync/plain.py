"""Text from outside as a terminal may show it: whatever would move its cursor, change its colours or its order is written out."""

from __future__ import annotations

import re

_ACTING = "\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff"
_IN_LINE = re.compile(f"[\n{_ACTING}]")
_IN_LINES = re.compile(f"[{_ACTING}]")


def plain(text: str) -> str:
    r"""One line; a control character, a mark of direction or half a character is shown as `\x1b`, `\u202e`."""
    return _IN_LINE.sub(_shown, text)


def plain_lines(text: str) -> str:
    """The same of a text of several lines, such as a traceback."""
    return _IN_LINES.sub(_shown, text)


def plain_json(text: str) -> str:
    """A JSON document with such characters escaped: its value stays the same."""
    return _IN_LINES.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def _shown(found: re.Match[str]) -> str:
    return found.group().encode("unicode_escape").decode("ascii")
