"""The files of a world's lake."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def lake_files(world: Any) -> set[str]:
    """Their paths, as the ledger has them."""
    root = Path(world.settings.lake)
    return {str(file.relative_to(root)) for file in root.rglob("*") if file.is_file()}
