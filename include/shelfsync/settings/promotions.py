"""Promotions: where they come from, what the platform takes, what is held for a person."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr

from shelfsync.settings.erp import ErpSettings


class PromotionSettings(ErpSettings):
    """The promotions' source, read as the ERP's (docs/promotions.md has the columns), and the rules for them (interface.md 2.4, 4.7)."""

    url: SecretStr | None = None
    """The database; the ERP's (`erp.url`) when not said."""
    locale: str = Field("en_GB", pattern=r"^[a-z]{2}_[A-Z]{2}$")
    """The language of a name that is plain text and no map of locales."""
    timezone: str = "UTC"
    """Of times that carry no zone: a name like Europe/Berlin."""
    values: Literal["interface", "spec"] = "interface"
    """`interface`: strike-throughs with a final price alone; `spec`: percentages, amounts, bundles and further reasons too."""
    all_vendors: Literal["listed", "star"] = "listed"
    """How `*` goes out: as the list of the known vendors, or as it is, where the platform takes it."""
    overlap: Literal["refuse", "later_start_wins"] = "refuse"
    """A SKU in two campaigns at a time: refuse the later start's, or let it win for all campaigns (one alone: its column overlap)."""
    body_bytes_max: int = Field(100_000_000, ge=1_000)
    pairs_max: int = Field(2_000_000, ge=1)
    """SKU x vendor in one request."""
    discount_share_max: float = Field(0.7, gt=0, le=1)
    """A price reduced by more than this share of the base price is held for a person."""
    assortment_share_max: float = Field(0.5, gt=0, le=1)
    """A campaign on more than this share of a vendor's assortment is held for a person."""
    ended_share_max: float = Field(0.5, gt=0, le=1)
    """More than this share of the promotions in force leaving the ERP at once (and more than one) is held for a person."""
    job_deadline_s: float = Field(3600.0, gt=0)
    """A job that has not ended by then is unconfirmed; the next run sends the same again."""
    poll_first_s: float = Field(10.0, gt=0)
    """When a job is asked about first (nothing tells its end); the wait doubles from there."""
    poll_max_s: float = Field(300.0, gt=0)
    retry_s: float = Field(86_400.0, gt=0)
    """What the platform refused is tried again after this time, or as soon as its price, its base price or the assortment changes."""

    @property
    def configured(self) -> bool:
        """Whether the ERP has promotions at all."""
        return any((self.sql, self.sql_file, self.files))
