"""Orders: the hand-over to stores, picking results, and the retention of customers' data."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr

from shelfsync.back_off import back_off_s
from shelfsync.settings.section import Section, SharedSecret

RETRY_MAX_S = 300.0
"""The longest wait before a retry of the work of an order."""


class OrdersSettings(Section):
    """Orders (interface.md 2.5, 4.8 to 4.10, 6; docs/how-to/orders.md)."""

    encryption_key: SecretStr | None = None
    """Encrypts customers' data: any text of at least 16 characters. If unset, shelfsync discards personal data on arrival."""
    encryption_key_previous: SecretStr | None = None
    """Decrypts data from before a change of the key."""
    customer_days: int = Field(30, ge=1)
    """Days after shelfsync first received an order until shelfsync deletes its customer's data."""

    hand_over: Literal["outbox", "http", "files", "none"] | None = None
    """How new and cancelled orders reach the store: a table in a database, a signed HTTP call, or files.

    none: the stores have another source. Unset: not at all, and every order is an alarm.
    """
    hand_over_url: SecretStr | None = None
    """outbox: the database (unset: that of the ERP); http: the address that is called; files: a folder, any fsspec address."""
    hand_over_table: str = Field("shelfsync_order_outbox", pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,62}$")
    """outbox: the table."""
    hand_over_secret: SharedSecret | None = None
    """http: signs each call (docs/how-to/orders.md)."""
    hand_over_customer: bool = True
    """Whether the store receives the customer's data that it needs: address and phone for its own delivery, a name for collection."""
    hand_over_timeout_s: float = Field(10.0, gt=0)
    """Timeout of one hand-over, in all."""
    read_new: bool = True
    """Whether shelfsync reads a new order from the platform before the hand-over. This costs a request and finds a cancelled order."""
    take_within_s: float = Field(300.0, gt=0)
    """An order that no store has taken for so long is an alarm."""
    late_hours: float = Field(6.0, gt=0)
    """An order whose promised time is longer ago is not handed over any more."""

    picking_sql: str | None = None
    """A SELECT of picking results, one row a line (docs/how-to/orders.md), in the database of `picking_url`."""
    picking_url: SecretStr | None = None
    """Database of `picking_sql`; unset: the ERP's."""
    picking_secret: SharedSecret | None = None
    """Source of the stores' secrets (`shelfsync orders secret VENDOR`). If unset, the receiver rejects POST /picking/{order_id}."""
    picking_secret_previous: SharedSecret | None = None
    """A second valid secret, during a change of the secret."""
    check_first: bool = False
    """Whether shelfsync sends UPDATE_CART before it fulfils an order. A picking result can override this."""
    confirm_s: float = Field(60.0, ge=0)
    """Wait for the event that confirms a PUT, before shelfsync reads the order back."""
    retry_first_s: float = Field(10.0, ge=0)
    """Wait before the first retry. It doubles up to five minutes."""
    send_within_s: float = Field(600.0, gt=0)
    """A result that has not reached the platform for so long is an alarm."""

    history_requests_max: int = Field(60, ge=1)
    """Pages that one run of orders_history reads at most. The vendors with the oldest reading come first."""
    history_page_size: int = Field(500, ge=1, le=500)
    """Orders on a page (interface.md 4.10)."""
    history_window_days: int = Field(7, ge=1, le=59)
    """Days in one reading of the history. The platform allows at most 60."""
    history_overlap_hours: float = Field(48.0, ge=0)
    """Hours that a reading begins before the watermark, so that it finds later changes of orders."""
    history_lag_s: float = Field(120.0, ge=0)
    """Seconds that a reading ends before now, so that an event on its way is no gap."""
    history_alarm_days: int = Field(50, ge=1, le=59)
    """Days of unknown history after which a vendor is an alarm. The platform keeps 60 days."""

    def retry_after_s(self, attempts: int) -> float:
        """Wait before the next retry of the work of an order, after so many attempts."""
        return back_off_s(attempts + 1, self.retry_first_s, RETRY_MAX_S)

    @property
    def hands_over(self) -> bool:
        """Whether shelfsync hands orders over to stores."""
        return self.hand_over not in {None, "none"}

    @property
    def owes_orders(self) -> bool:
        """Whether an order without a store is a failure. It is none if the stores have another source."""
        return self.hand_over != "none"
