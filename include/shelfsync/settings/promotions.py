"""Promotions: their source, the limits of the platform, and what waits for a person."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import Field, PrivateAttr, SecretStr

from shelfsync.settings.erp import SourceSettings

if TYPE_CHECKING:
    from shelfsync.settings.erp import ErpSettings

_OF_THE_CATALOG = re.compile(r"SHELFSYNC_ERP__(\w+)")


class PromotionSettings(SourceSettings):
    """The promotions' source, read as the ERP's (docs/how-to/promotions.md has the columns), and the rules for them (interface.md 2.4, 4.7)."""

    url: SecretStr | None = None
    """SQLAlchemy URL of the database; unset: that of the ERP (`erp.url`)."""
    locale: str = Field("en_GB", pattern=r"^[a-z]{2}_[A-Z]{2}$")
    """The language of a name that is plain text and no map of locales."""
    end_dates: Literal["whole_day", "start_of_day"] | None = None
    """An end that is a date alone: `whole_day`: the campaign runs on that day too; `start_of_day`: that day is without it. Unset: it is quarantined."""
    values: Literal["interface", "spec"] = "interface"
    """`interface`: strike-throughs with a final price alone; `spec`: percentages, amounts, bundles and further reasons too."""
    audiences: dict[str, Literal["everybody", "club", "staff"]] = Field(default_factory=dict)
    """Words of the ERP in the column audience -> their meaning: `{"0": "everybody", "KARTE": "club"}`. The usual words are known."""
    conditions: dict[str, Literal["none", "coupon", "minimum_purchase", "basket_gift", "mix"]] = Field(
        default_factory=dict
    )
    """Words of the ERP in the column condition -> their meaning: `{"0": "none", "BON": "coupon"}`. The usual words are known."""
    all_vendors: Literal["listed", "star"] = "listed"
    """How shelfsync sends `*`: as the list of all known vendors, or as `*`, if the platform accepts it."""
    overlap: Literal["earliest", "lowest_price", "highest_discount", "later_start_wins"] = "earliest"
    """Which campaign wins if a SKU is in several at a time. Customers expect `lowest_price`. A campaign's column overlap overrides this."""
    ahead_days: float = Field(14.0, gt=0, le=36_500)
    """How many days before its begin a promotion is sent; one that begins later waits. What was sent stays, and its changes are sent."""
    body_max_bytes: int = Field(100_000_000, ge=1_000)
    """Largest request body."""
    pairs_max: int = Field(2_000_000, ge=1)
    """Largest number of pairs of SKU and vendor in one request."""
    discount_share_max: float = Field(0.7, gt=0, le=1)
    """A price reduced by more than this share of the base price is held for a person."""
    assortment_share_max: float = Field(0.5, gt=0, le=1)
    """A campaign on more than this share of a vendor's assortment is held for a person."""
    ended_share_max: float = Field(0.5, gt=0, le=1)
    """More than this share of the promotions in force leaving the ERP at once (and more than one) is held for a person."""
    job_deadline_s: float = Field(3600.0, gt=0)
    """A job that has not ended by then is unconfirmed; the next run sends its promotion again."""
    poll_first_s: float = Field(10.0, gt=0)
    """Wait before the first poll of a job; no event reports its end. The wait doubles with each poll."""
    poll_max_s: float = Field(300.0, gt=0)
    """Longest wait between two polls of a job."""
    retry_s: float = Field(86_400.0, gt=0)
    """Wait before the retry of a rejected SKU. A change of its price, its base price or the assortment ends the wait."""

    _of_catalog: frozenset[str] = PrivateAttr(frozenset())

    def completed(self, catalog: ErpSettings) -> Self:
        """These settings with what they take from those of the catalog where they state nothing."""
        taken: dict[str, Any] = {}
        if self.files is None and self.url is None:
            taken["url"] = catalog.url
        if not self.vendor_ids and self.vendor_ids_file is None:
            taken |= {"vendor_ids": catalog.vendor_ids, "vendor_ids_file": catalog.vendor_ids_file}
        found = self.model_copy(update=taken)
        found._of_catalog = frozenset(name for name, value in taken.items() if value)  # noqa: SLF001  its own copy
        return found

    def named(self, text: str) -> str:
        """A message of a source under the names of the promotions' settings, but for what they take from the catalog's."""

        def own(found: re.Match[str]) -> str:
            name = found[1].casefold()
            is_own = name in type(self).model_fields and name not in self._of_catalog
            return f"SHELFSYNC_PROMOTIONS__{found[1]}" if is_own else found[0]

        return _OF_THE_CATALOG.sub(own, text)

    @property
    def configured(self) -> bool:
        """Whether the ERP has promotions at all."""
        return any((self.sql, self.sql_file, self.files))
