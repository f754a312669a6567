"""`python -m scripts.reference FOLDER` copies the pages there and adds to the reference what the code states. `make docs` builds the site of it."""

from __future__ import annotations

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


if __name__ == "__main__":
    build(Path(sys.argv[1]))
