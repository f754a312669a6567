"""Barcodes with a check digit: whether it is right."""

from __future__ import annotations

import re

_GTIN = re.compile(r"\d{8}|\d{12,14}")


def is_gtin(cell: str) -> bool:
    """Whether a text is a GTIN with its check digit."""
    text = cell.strip()
    if not text.isascii() or _GTIN.fullmatch(text) is None or not text.strip("0"):
        return False
    digits = [int(digit) for digit in reversed(text)]
    return sum(digit * (3 if place % 2 else 1) for place, digit in enumerate(digits)) % 10 == 0
