"""What is wrong now: every condition that no step reports itself. A file is named after the kind of alert that it opens; `watch` runs all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Growing(NamedTuple):
    """What is wrong, of a condition that goes on and gets worse: each higher number is reported again."""

    line: str
    number: int


Found = Mapping[tuple[str, str], str | Growing]
"""Kind and subject -> what is wrong, as a sentence."""

JUDGED_SKUS = 20
"""A share of a store's SKUs is judged from so many: those of the last results, and those of the ERP's rows."""
