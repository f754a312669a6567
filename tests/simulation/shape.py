"""How one seed's world is: the platform's dialect with the switches that differ from it, and how shelfsync calls its products."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from partner_sandbox.settings import Behaviour, behaviour_of

REQUESTS_PER_MINUTE = 60
KNOWN_SKUS = tuple(f"s{number:02}" for number in range(12))
UNKNOWN_SKUS = ("u0", "u1")
BARCODES = {
    sku: f"{number:0{7 + number % 8}}" for number, sku in enumerate((*KNOWN_SKUS, *UNKNOWN_SKUS), start=4_000_001)
}
"""As the ERP writes them, of 7 to 14 digits and some with zeros before them; the platform knows each with 14."""
SWITCHES: dict[str, tuple[Any, ...]] = {
    "rate_limit_answer": ("429", "403_html"),
    "job_id_type": ("integer",),
    "job_status_for": ("creation",),
    "job_webhook_status_name": ("status",),
    "job_webhook_link_name": ("download_url",),
    "job_webhook_vendor_name": ("vendor_id",),
    "log_format": ("older",),
    "log_no_errors": ("null",),
    "link": ("presigned",),
    "link_life_s": (20.0,),
    "listing_page_size_beyond": ("cap",),
    "listing_page_size_max": (5,),
    "export_status": (200,),
    "single_item_answer": ("sku",),
    "quantity_at_buffer": ("deactivates",),
    "sales_limit_name": ("maximum_sales_quantity", "max_sales_quantity"),
    "other_sales_limit": ("reject",),
    "token_life_s": (400.0,),
}
"""Choices of the platform that a world may have besides its dialect's, each by itself."""
TOGETHER = {
    "quantity_at_buffer": {"single_item_quantity": "ignored"},
    "listing_page_size_max": {"listing_page_size_beyond": "cap"},
}
"""Switches that belong together: a platform that deactivates at the buffer is the older one; a small page is truncated."""


@dataclass(frozen=True)
class Shape:
    """How a world is: the platform's dialect, how long its jobs take, whether it reports their end, how small bodies are."""

    dialect: str = "spec"
    job_seconds: float = 5.0
    webhook: bool = True
    body_max_bytes: int = 100_000
    skus: int = len(KNOWN_SKUS)
    priority_split_skus: int = 1000
    buffer_known: bool = False
    """Whether the ERP has the platform's sales buffer, so that no-op quantities are suppressed."""
    key: str = "sku"
    """What shelfsync calls items by."""
    switches: tuple[tuple[str, Any], ...] = ()
    """Choices of the platform that differ from its dialect's."""
    campaigns_guarded: bool = False
    """Whether a price of a campaign that is reduced by too much is held for a person."""
    vendors_per_shard: int = 1
    static_token: bool = False
    """Whether shelfsync has a token of the portal instead of a client's id and secret."""

    @property
    def behaviour(self) -> Behaviour:
        return behaviour_of(
            self.dialect,  # type: ignore[arg-type]  # one of its words
            **{"requests_per_minute": REQUESTS_PER_MINUTE, "job_seconds": self.job_seconds, **dict(self.switches)},
        )

    @property
    def barcodes(self) -> bool:
        return self.key == "barcode"

    def sku_of(self, sku: str | None, barcode: str | None) -> str:
        """The SKU of an item that the platform was sent; its barcode as it is padded when no SKU has that one."""
        found = next((known for known, code in BARCODES.items() if code.zfill(14) == barcode), barcode)
        return sku or str(found)


def switched(seed: int) -> tuple[tuple[str, Any], ...]:
    """The switches of a seed's world: none in half of them."""
    chance = random.Random(f"switches {seed}")
    if chance.random() < 0.5:
        return ()
    chosen: dict[str, Any] = {}
    for name, values in SWITCHES.items():
        value = chance.choice(values)
        if chance.random() < 0.25:
            chosen |= {name: value, **TOGETHER.get(name, {})}
    return tuple(sorted(chosen.items()))
