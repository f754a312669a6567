"""How long to wait before another attempt, if the platform names no time."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from partner_api.session import Session

BACKOFF_FIRST_S = 1.0
BACKOFF_MAX_S = 30.0


def backoff_s(session: Session, attempt: int) -> float:
    """Seconds: half fixed, half random, doubling, so that callers that failed together do not return together."""
    ceiling_s = min(BACKOFF_FIRST_S * 2 ** (attempt - 1), BACKOFF_MAX_S)
    return float(ceiling_s * (0.5 + session.chance.random() / 2))
