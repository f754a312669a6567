"""What the platform refuses."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from shelfsync.settings.section import Section


class RejectionSettings(Section):
    """What the platform refuses: how its words are read, and when what was refused for now is tried again."""

    words: dict[Literal["for_now", "unknown_sku", "invalid_value"], tuple[str, ...]] = Field(default_factory=dict)
    """Words of this platform's reasons by what they mean, looked for before our own: `{"unknown_sku": ["artikel fehlt"]}`."""
    again_first_s: float = Field(900.0, gt=0)
    """How long something refused for now waits for its second try; the wait doubles from there."""
    again_max_s: float = Field(86_400.0, gt=0)
