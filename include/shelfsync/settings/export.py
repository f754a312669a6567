"""Exports, and what follows from them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from shelfsync.settings.section import Section

Action = Literal["heal", "report", "ignore"]


class ExportSettings(Section):
    """Bringing back what the platform really shows (interface.md 4.4)."""

    deadline_s: float = Field(3600.0, gt=0)
    """An export that has not ended by then is given up; the next one is a new one."""
    file_bytes_max: int = Field(512 * 1024 * 1024, ge=1)
    """The longest file that is read, after decompression: one vendor's assortment."""


class DriftSettings(Section):
    """What happens where the platform shows something else than the ERP wants, by its cause.

    heal: the next delta says it again. report: it stands in warehouse.drift and in the report of the run. ignore: it is kept in
    warehouse.drift and told nobody.
    """

    never_sent: Action = "report"
    """The next delta sends it anyway: it differs from what was acknowledged."""
    refused: Action = "report"
    """heal forgets the refusal once, so that the next delta tries again."""
    held: Literal["report", "ignore"] = "report"
    """Only a person lets a held change go."""
    acknowledged_not_applied: Action = "heal"
    changed_on_platform: Action = "heal"
    export_older_than_change: Action = "ignore"
    """The export cannot know yet."""
    unknown: Action = "heal"
    propagation_s: float = Field(1800.0, ge=0)
    """How long a change may take to show (interface.md 8: up to 15 minutes; integrators saw 30): younger ones are not judged."""
    healings_max: int = Field(3, ge=0)
    """A drift that comes back after so many healings is a rejection: somebody or something on the platform does not want it. 0: at once."""
    healings_window_days: float = Field(7.0, gt=0)
    """Healings older than this are forgotten."""


class WarehouseSettings(Section):
    """What is kept for people."""

    outcome_months: int = Field(13, ge=1)
    """Whole months of per-SKU outcomes and of the history of the baseline that are kept besides the current one."""
