"""Query parameters read strictly: a number is digits, a truth is true or false, anything else is refused and named."""

from __future__ import annotations

import re

from partner_sandbox.errors import invalid

_DIGITS = re.compile(r"[0-9]{1,9}")
_TRUTHS = {"true": True, "false": False}


def whole(name: str, text: str | None, default: int, *, least: int = 1, most: int | None = None) -> int:
    """A whole number within its bounds; `default` when the parameter is absent."""
    if text is None:
        return default
    if _DIGITS.fullmatch(text) is None:
        raise invalid(name, "must be a whole number")
    number = int(text)
    if number < least or (most is not None and number > most):
        raise invalid(name, f"must be at least {least}" if number < least else f"must be at most {most}")
    return number


def truth(name: str, text: str | None) -> bool | None:
    """True or false; None when the parameter is absent."""
    if text is None:
        return None
    if text not in _TRUTHS:
        raise invalid(name, "must be true or false")
    return _TRUTHS[text]
