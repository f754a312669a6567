"""The shared request allowance."""

from __future__ import annotations

from pydantic import Field

from shelfsync.settings.section import Section


class BudgetSettings(Section):
    """The shared request allowance (interface.md 8)."""

    requests_per_minute: int = Field(60, ge=1)
    key: str = Field("egress", min_length=1)
    """What the platform counts by: `egress` (the address requests leave from), `token` or `chain`; other text is a name of one's own.

    Installations with one key in one database share one allowance (`shelfsync.budget.key`).
    """
    jitter_s: float = Field(1.2, ge=0.1, le=10)
    """How late a request may reach the platform without slowing the next ones down; costs jitter / (60 + jitter) of the allowance."""
    wait_s_max: float = Field(900.0, gt=0)
    """A request that cannot leave within this time is given back to its caller, to be tried again later."""
    pause_s_max: float = Field(3600.0, gt=0)
    """The longest a single answer of the platform (an absurd Retry-After, say) can stop the installation."""
