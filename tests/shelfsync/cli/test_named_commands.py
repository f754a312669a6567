"""Every command that a page of the documentation, a message or a web page names is there, with its options."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from command_tree import trouble

ROOT = Path(__file__).resolve().parents[3]
FILES = sorted(
    {
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "dags").rglob("*.py"),
        *(ROOT / "plugins").rglob("*.py"),
        *(ROOT / "include/shelfsync").rglob("*.py"),
        *(ROOT / "include/shelfsync").rglob("*.html"),
    }
)
SPANS = (
    r"`{1,2}((?:\.venv/bin/)?shelfsync [^`]+)`",
    r"<code>(shelfsync [^<]+)</code>",
)
LINE = r"^(?:[A-Z_]+=\S+ )*((?:\.venv/bin/)?shelfsync [^#\n]+)"


def named(file: Path) -> list[str]:
    """The command lines of a file; in an example of a page, a line that begins with one is a command."""
    text = file.read_text("utf-8")
    examples = re.findall(r"^```(\w*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = "\n".join(example for language, example in examples if language in {"", "sh"})
    found = [one for span in SPANS for one in re.findall(span, text)] + re.findall(LINE, lines, re.MULTILINE)
    return [re.sub(r"\s+", " ", one).strip() for one in found]


NAMED = {(str(file.relative_to(ROOT)), line) for file in FILES for line in named(file)}


def test_the_checker_finds_commands_and_what_is_wrong_with_one():
    assert len(NAMED) > 100
    assert {page for page, _ in NAMED} >= {
        "docs/tutorials/first-sync.md",
        "docs/explanation/security.md",
        "docs/explanation/guards.md",
        "dags/housekeeping.py",
    }
    assert trouble("shelfsync settle") == "shelfsync settle: no command settle"
    assert trouble("shelfsync sync --why x") == "shelfsync sync --why x: no option --why"
    assert trouble("shelfsync holds list|nonsense") == "shelfsync holds list|nonsense: no command nonsense"
    assert trouble("shelfsync pause VENDOR|--whole-chain|--all --reason …") is None


@pytest.mark.parametrize("page", sorted({page for page, _ in NAMED}))
def test_every_command_that_is_named_is_there(page):
    lines = sorted(line for where, line in NAMED if where == page)
    assert [found for line in lines if (found := trouble(line.removeprefix(".venv/bin/")))] == []
