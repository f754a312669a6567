"""One event of a SKU, and everything that is known about a SKU at an instant."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import datetime as dt

    from shelfsync.promotions.warehouse.customer_price import CustomerPrice

_CENT = Decimal("0.01")


@dataclass(frozen=True)
class Values:
    """The values of a SKU; null: not given or unknown."""

    price: Decimal | None = None
    quantity: int | None = None
    active: bool | None = None
    max_sales_quantity: int | None = None

    def __str__(self) -> str:
        availability = {True: "on sale", False: "off sale", None: None}
        parts = (
            None if self.price is None else f"price {plain(self.price)}",
            availability[self.active],
            None if self.quantity is None else f"quantity {self.quantity}",
            None if self.max_sales_quantity is None else f"at most {self.max_sales_quantity} an order",
        )
        return ", ".join(part for part in parts if part) or "nothing"


@dataclass(frozen=True)
class Event:
    """One line of a timeline. `step` is the step that wrote it; `message` is for people."""

    at: dt.datetime
    step: str
    message: str
    run_id: int | None = None
    job_id: int | None = None
    values: Values = field(default_factory=Values)


@dataclass(frozen=True)
class Shown:
    """What the platform shows: acknowledged by a job, or observed in an export or a listing."""

    values: Values
    since: dt.datetime
    because: str
    absent: bool = False
    """The export or listing does not have the SKU."""
    seen_by: dt.datetime | None = None
    """When the change has reached every customer at the latest; null: unknown, or no change."""
    unconfirmed: tuple[str, ...] = ()
    """Of price and active, those that are unknown from `since` on, for the reason `because`."""
    earlier: bool = False
    """It began before `since`; the history that is kept does not show when."""


@dataclass(frozen=True)
class Desired:
    """The wanted values, by the newest extract; `values` null: the extract has no usable row of the SKU (quarantined or missing)."""

    run_id: int
    read_at: dt.datetime
    values: Values | None
    quarantined: str | None = None
    """Why the ERP's row is in quarantine."""
    restored: str | None = None
    """The restoration that these values come from, with its user, reason and end; null: they are the ERP's."""
    erp: Values | None = None
    """If the values come from a restoration: the ERP's values meanwhile; null: the ERP does not have the SKU."""


@dataclass(frozen=True)
class Explanation:
    """Everything about one SKU at one instant. `waits_for` is empty if no change is pending.

    `paid`: what customers pay and every promotion of the SKU; None without a promotion. `promotions_wait`: why a promotion of the ERP is
    not, or not yet, what customers see. `restorations`: those of the SKU that are in force, each as a sentence.
    """

    vendor: str
    sku: str
    at: dt.datetime
    sentence: str
    desired: Desired | None
    acknowledged: Shown | None
    observed: Shown | None
    waits_for: tuple[str, ...]
    events: tuple[Event, ...]
    paid: CustomerPrice | None = None
    promotions_wait: tuple[str, ...] = ()
    restorations: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """For a script: JSON with `default=str`."""
        return asdict(self)


def plain(price: Decimal) -> str:
    """A price with two decimals, or with three if it has a third."""
    return f"{price:.3f}" if price != price.quantize(_CENT) else f"{price:.2f}"
