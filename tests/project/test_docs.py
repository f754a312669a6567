"""Links and paths of the documentation lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
CODE = [
    file
    for folder in ("include", "plugins", "dags", "tests", "scripts", "benchmarks")
    for file in sorted((ROOT / folder).rglob("*"))
    if file.suffix in {".py", ".sql", ".html", ".sh", ".toml"}
]


def anchors(text: str) -> set[str]:
    """The anchors of the headings, as the site and the code host make them."""
    heads = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head.lower()).strip().replace(" ", "-") for head in heads}


def test_every_link_leads_to_a_file_and_its_heading():
    broken = []
    for page in PAGES:
        for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8")):
            if re.match(r"[a-z]+:", link):
                continue
            path, _, anchor = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            if not target.exists() or (anchor and anchor not in anchors(target.read_text("utf-8"))):
                broken.append(f"{page.relative_to(ROOT)}: {link}")
    assert broken == []


def test_every_page_that_code_or_a_message_names_is_there():
    named = {
        f"{file.relative_to(ROOT)}: {page}"
        for file in CODE
        for page in re.findall(r"docs/[\w/-]+\.md", file.read_text("utf-8"))
        if not (ROOT / page).exists()
    }
    assert named == set()
