"""The documentation: every link, path, setting and page of the navigation is there, and each page says for whom it is."""

from __future__ import annotations

import re
from pathlib import Path

from shelfsync.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
SITE = sorted(DOCS.rglob("*.md"))
PAGES = [*sorted(ROOT.glob("*.md")), *SITE]
CODE = [
    file
    for folder in ("include", "plugins", "dags", "tests", "scripts", "benchmarks")
    for file in sorted((ROOT / folder).rglob("*"))
    if file.suffix in {".py", ".sql", ".html", ".sh", ".toml"}
]


def anchors(text: str) -> set[str]:
    """The anchors of the headings, as the site and the code host make them, and those that are written."""
    heads = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE)
    made = {re.sub(r"[^\w -]", "", head.lower()).strip().replace(" ", "-") for head in heads}
    return made | set(re.findall(r'<a id="([^"]+)">', text))


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
            elif page in SITE and not target.is_relative_to(DOCS):
                broken.append(f"{page.relative_to(ROOT)}: {link} is not in the site")
    assert broken == []


def test_every_page_that_code_or_a_message_names_is_there():
    named = {
        f"{file.relative_to(ROOT)}: {page}"
        for file in CODE
        for page in re.findall(r"docs/[\w/-]+\.md", file.read_text("utf-8"))
        if not (ROOT / page).exists()
    }
    assert named == set()


def test_every_page_is_in_the_navigation_once():
    listed = re.findall(r"^ +- (?:[^:\n]+: )?(\S+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(str(page.relative_to(DOCS)) for page in SITE)


def test_every_page_says_for_whom_it_is():
    without = [
        str(page.relative_to(ROOT))
        for page in SITE
        if not re.match(r"# .+\n\nFor [a-z]", page.read_text("utf-8")) and not re.match(r"\d{4}-", page.name)
    ]
    assert without == []


def test_every_setting_that_a_page_names_is_there():
    known = {"SHELFSYNC_CONFIG"}
    for name, field in Settings.model_fields.items():
        known.add(f"SHELFSYNC_{name}".upper())
        inner = getattr(field.annotation, "model_fields", {})
        known |= {f"SHELFSYNC_{name}__{one}".upper() for one in inner}
    deeper = tuple(f"{name}__" for name in known if name.count("__") == 1)
    unknown = {
        f"{page.relative_to(ROOT)}: {name}"
        for page in PAGES
        if page.name != "CHANGELOG.md"  # it names retired ones
        for name in re.findall(r"\bSHELFSYNC_[A-Z_]*[A-Z](?![A-Z_…]|\.\.\.|__)", page.read_text("utf-8"))
        if name not in known and not name.startswith(deeper)
    }
    assert unknown == set()
