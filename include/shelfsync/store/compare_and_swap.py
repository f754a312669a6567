"""Compare and swap: a state is read, its next one computed, and written only if no other process has moved it meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.errors import MovedError

if TYPE_CHECKING:
    from collections.abc import Iterator

ATTEMPTS = 3
"""How often a state that moved meanwhile is read again before the schedule retries."""


def attempts(what: str) -> Iterator[None]:
    """Once for each attempt: the loop's body returns when its swap succeeded. MovedError after the last one. `what`: the state."""
    for _ in range(ATTEMPTS):
        yield
    raise MovedError(f"{what} moved {ATTEMPTS} times meanwhile")
