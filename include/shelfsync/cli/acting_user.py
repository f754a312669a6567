"""Whose name an act of the command line bears."""

from __future__ import annotations

import getpass


def user_or(name: str | None) -> str:
    """The acting user: the name given, or the user of this machine."""
    return name or getpass.getuser()
