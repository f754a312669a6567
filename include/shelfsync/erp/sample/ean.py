"""European article numbers."""

from __future__ import annotations


def with_check_digit(digits: str) -> str:
    """7 or 12 digits with the check digit of EAN-8 or EAN-13: weights 3, 1, 3, ... from the right."""
    weighted = sum(int(digit) * (3 if place % 2 == 0 else 1) for place, digit in enumerate(reversed(digits)))
    return f"{digits}{-weighted % 10}"


def is_valid(code: str) -> bool:
    """Whether a text is an EAN-8 or EAN-13 with its right check digit."""
    return code.isascii() and code.isdigit() and len(code) in {8, 13} and with_check_digit(code[:-1]) == code
