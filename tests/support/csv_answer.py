"""The rows of a CSV that a page gives."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx


def rows_of(answer: httpx.Response) -> list[dict[str, str]]:
    """Each row by the names of its columns; the answer has to be 200."""
    assert answer.status_code == 200, answer.text
    return list(csv.DictReader(io.StringIO(answer.text.removeprefix("\ufeff"))))
