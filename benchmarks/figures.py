"""The file that a person names for the figures of a measurement: it replaces nothing but figures of the same kind."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

from shelfsync.store.named_file import NamedFile

if TYPE_CHECKING:
    from pathlib import Path

BYTES_MAX = 10_000_000


def named(path: Path, *, has: str, replace: bool) -> NamedFile:
    """`has`: the key that only these figures have. `replace`: the person's word that anything else may be lost."""
    return NamedFile(path, "--result", "figures of this command", partial(_is_own, has=has), replace)


def _is_own(path: Path, *, has: str) -> bool:
    if path.stat().st_size > BYTES_MAX:
        return False
    try:
        found = json.loads(path.read_text("utf-8"))
    except ValueError:
        return False
    return isinstance(found, dict) and has in found
