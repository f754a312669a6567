"""One thing that happened to a SKU, and everything that is known of one at an instant."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import datetime as dt

    from shelfsync.warehouse.customer_price import CustomerPrice

_CENT = Decimal("0.01")


@dataclass(frozen=True)
class Values:
    """What can be said of a SKU; null: nothing is said or known."""

    price: Decimal | None = None
    quantity: int | None = None
    active: bool | None = None
    max_sales_quantity: int | None = None

    def __str__(self) -> str:
        words = {True: "on sale", False: "off sale", None: None}
        said = (
            None if self.price is None else f"price {plain(self.price)}",
            words[self.active],
            None if self.quantity is None else f"quantity {self.quantity}",
            None if self.max_sales_quantity is None else f"at most {self.max_sales_quantity} an order",
        )
        return ", ".join(part for part in said if part) or "nothing"


@dataclass(frozen=True)
class Event:
    """One line of a timeline. `step` is the design's word for the step that wrote it; `said` is for a person."""

    at: dt.datetime
    step: str
    said: str
    run_id: int | None = None
    job_id: int | None = None
    values: Values = field(default_factory=Values)


@dataclass(frozen=True)
class Shown:
    """What the platform shows as far as is known: acknowledged by a job, or observed in a picture of it."""

    values: Values
    since: dt.datetime
    because: str
    absent: bool = False
    """A picture that does not have the SKU at all."""
    seen_by: dt.datetime | None = None
    """When the change has reached every customer at the latest; null: not told, or it was no change."""
    in_doubt: tuple[str, ...] = ()
    """Of price and active, what nobody knows from `since` on, for the reason of `because`."""
    earlier: bool = False
    """It has been so since before `since`, and what is kept does not tell when it began."""


@dataclass(frozen=True)
class Desired:
    """What is wanted, by the newest reading of the ERP; `values` null: it is not in it, for a row that was set aside or for none at all."""

    run_id: int
    read_at: dt.datetime
    values: Values | None
    set_aside: str | None = None
    restored: str | None = None
    """The restoration that these values come from, with by whom, why and until when; null: they are the ERP's."""
    erp: Values | None = None
    """Where they come from a restoration: what the ERP says meanwhile; null: it does not have the SKU."""


@dataclass(frozen=True)
class Explanation:
    """Everything about one SKU at one instant. `waits_for` is empty when nothing is on its way.

    `paid`: what customers pay and every promotion of the SKU, None where none has to do with it; `promotions_wait`: why one of the ERP's
    is not, or not yet, what they see. `restorations`: those of the SKU that are in force, each in a sentence.
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
    """A price with at least two decimals, and the third where there is one."""
    return f"{price:.3f}" if price != price.quantize(_CENT) else f"{price:.2f}"
