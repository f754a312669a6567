"""`python -m scripts.reference FOLDER` copies the pages there and adds to the reference what the code states. `make docs` builds the site of it,
and `python -m scripts.reference FOLDER SITE` adds to the site the paths by which messages name its pages.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from scripts.reference import contract, program, tables

if TYPE_CHECKING:
    from collections.abc import Callable

DOCS = Path(__file__).resolve().parents[2] / "docs"
MARK = "`make docs` writes the rest of this page from the code."
MADE: dict[str, Callable[[], str]] = {
    "reference/settings.md": program.settings,
    "reference/commands.md": program.commands,
    "reference/errors.md": program.error_pages,
    "reference/dags.md": program.dags,
    "reference/client.md": program.client,
    "reference/openapi.md": contract.operations,
    "reference/partner-sandbox.md": contract.sandbox,
    "reference/ledger.md": tables.ledger,
    "reference/warehouse.md": tables.warehouse,
}


def build(folder: Path) -> None:
    """All pages in a folder, which is made anew."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(DOCS, folder)
    for name, write in MADE.items():
        page = folder / name
        head, mark, rest = page.read_text("utf-8").partition(MARK)
        if not mark or rest.strip():
            raise ValueError(f"{name}: the last line has to be: {MARK}")
        page.write_text(f"{head}{write().rstrip()}\n", "utf-8")


def redirect(pages: Path, site: Path) -> None:
    """Lets the site answer the paths that messages name: `docs/reference/errors.md#place` leads to the page, with its anchor."""
    for page in sorted(pages.rglob("*.md")):
        name = page.relative_to(pages)
        html = name.with_name("index.html") if name.name == "README.md" else name.with_suffix(".html")
        if not (site / html).is_file():
            raise FileNotFoundError(site / html)
        target = os.path.relpath(html, Path("docs") / name)
        folder = site / "docs" / name
        folder.mkdir(parents=True)
        (folder / "index.html").write_text(
            f'<!doctype html><title>{name}</title><a href="{target}">{html}</a>'
            f"<script>location.replace({target!r} + location.hash)</script>\n",
            "utf-8",
        )


if __name__ == "__main__":
    redirect(*map(Path, sys.argv[1:])) if sys.argv[2:] else build(Path(sys.argv[1]))
