"""Checks the prose of the documentation: the length of sentences, and words that the glossary replaces. `make check` runs it.

A sentence has one idea and at most 25 words; at most 5 % may be longer. Code, tables and headings are no sentences. Cells of tables are
judged for words alone.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORDS_MAX = 25
LONG_SHARE_MAX = 0.05
INSTEAD = {
    "nobody": "no person",
    "somebody": "a person",
    "whoever": "the person who",
    "heal": "resend",
    "heals": "resends",
    "halving": "bisection",
    "in vain": "consecutive failures",
    "patience": "back-off",
    "rehearse": "backtest",
    "rehearsal": "backtest",
    "errand": "operator action",
    "settle": "recover",
    "settled": "recovered",
    "untold": "unconfirmed",
    "foretell": "forecast",
    "in doubt": "unconfirmed",
    "request budget": "rate limit",
    "turned away": "rejected",
    "hears": "receives",
    "tells": "reports",
    "told": "reported",
    "says": "reports",
    "said": "reported",
}
"""A word that the glossary replaces, and its word for it."""


def pages() -> list[Path]:
    """README, CONTRIBUTING and every page of docs/."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def without_code(text: str) -> str:
    """The text without blocks, comments, spans of code, quoted messages and the addresses of links."""
    text = re.sub(r"^```.*?^```|<!--.*?-->|^>.*?$|^    \S.*?$", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "code", text))


def sentences(text: str) -> list[str]:
    """The sentences of paragraphs and lists; a new paragraph or item ends one."""
    lines = [line for line in without_code(text).splitlines() if not re.match(r"\s*(?:\||#)", line)]
    parts = re.split(r"\n\s*\n|\n\s*(?:[-*]|\d+\.)\s+", "\n".join(lines))
    return [one.strip() for part in parts for one in re.split(r"(?<=[.?!])[*)\"]*\s+", part) if one.strip()]


def long_ones(text: str) -> list[str]:
    """The sentences of more than `WORDS_MAX` words."""
    return [one for one in sentences(text) if len(re.findall(r"[\w'%-]+", one)) > WORDS_MAX]


def replaced(text: str) -> list[str]:
    """Each word of the text that the glossary replaces, with its word."""
    found = re.findall(rf"\b({'|'.join(INSTEAD)})\b", re.sub(r"\s+", " ", without_code(text)), re.IGNORECASE)
    return [f"{word!r}: write {INSTEAD[word.lower()]!r}" for word in found]


def main() -> int:
    """Prints each long sentence if they are too many, and each replaced word; 1 if something is wrong."""
    text = {page: page.read_text("utf-8") for page in pages()}
    total = sum(len(sentences(one)) for one in text.values())
    long = [(page, one) for page in text for one in long_ones(text[page])]
    wrong = [f"{page.relative_to(ROOT)}: {line}" for page in text for line in replaced(text[page])]
    if len(long) > LONG_SHARE_MAX * total or "--list" in sys.argv:
        wrong += [f"{page.relative_to(ROOT)}: {len(one.split())} words: {' '.join(one.split())}" for page, one in long]
    for line in wrong:
        print(line)
    print(f"prose: {len(long)} of {total} sentences have more than {WORDS_MAX} words ({len(long) / total:.1%})")
    return int(bool(wrong) and "--list" not in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
