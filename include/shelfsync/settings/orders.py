"""Orders: who picks them, how the store is told and tells, and how long a customer is remembered."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr

from shelfsync.settings.section import Section, SharedSecret


class OrdersSettings(Section):
    """Orders (interface.md 2.5, 4.8 to 4.10, 6; docs/orders.md)."""

    personal_key: SecretStr | None = None
    """Seals what belongs to customers: any text of at least 16 characters. Without it personal data is thrown away on arrival."""
    personal_key_previous: SecretStr | None = None
    """Still opens what was sealed before the key was changed."""
    personal_days: int = Field(30, ge=1)
    """So many days after an order was first heard of, its customer is forgotten."""

    hand_over: Literal["outbox", "http", "files", "none"] | None = None
    """How new and cancelled orders reach the store: a table in a database, a signed HTTP call, files; none: stores learn of them elsewhere.

    Unset: not at all, and every order is an alarm.
    """
    hand_over_url: SecretStr | None = None
    """outbox: the database (unset: that of the ERP); http: the address that is called; files: a folder, any fsspec address."""
    hand_over_table: str = Field("shelfsync_order_outbox", pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,62}$")
    hand_over_secret: SharedSecret | None = None
    """http: signs each call (docs/orders.md)."""
    hand_over_customer: bool = True
    """Whether the store is told who the customer is where it needs to: address and phone for its own delivery, a name for collecting."""
    hand_over_timeout_s: float = Field(10.0, gt=0)
    read_new: bool = True
    """Ask the platform for a new order before a store sees it: one request an order, and no store picks what was cancelled meanwhile."""
    take_within_s: float = Field(300.0, gt=0)
    """An order that no store has taken for so long is an alarm."""
    late_h: float = Field(6.0, gt=0)
    """An order promised longer ago than that is history: it is not handed over any more."""

    picking_sql: str | None = None
    """A SELECT of picking results, one row a line (docs/orders.md), in the database of `picking_url`."""
    picking_url: SecretStr | None = None
    """Unset: the ERP's."""
    picking_secret: SharedSecret | None = None
    """The secrets of the stores are derived from it (`shelfsync orders secret VENDOR`); without it POST /picking/{order_id} is refused."""
    picking_secret_previous: SharedSecret | None = None
    check_first: bool = False
    """Ask the platform by UPDATE_CART before an order is fulfilled, unless the result says otherwise."""
    confirm_s: float = Field(60.0, ge=0)
    """How long an event has to confirm what the answer to a PUT said, before the order is read back."""
    retry_first_s: float = Field(10.0, ge=0)
    """The pause before a second try; it doubles from there to five minutes."""
    send_within_s: float = Field(600.0, gt=0)
    """A result that has not reached the platform for so long is an alarm."""

    history_requests_max: int = Field(60, ge=1)
    """Pages that one run of orders_history may read; the stores read longest ago come first."""
    history_page_size: int = Field(500, ge=1, le=500)
    """Orders a page (interface.md 4.10)."""
    history_window_days: int = Field(7, ge=1, le=59)
    """A range that is read at once: short enough to be whole soon, at most what the platform answers (60 days)."""
    history_overlap_h: float = Field(48.0, ge=0)
    """A window begins so long before the watermark: what became of orders since they were placed is read again."""
    history_lag_s: float = Field(120.0, ge=0)
    """A window ends so long before now: what is under way is no gap yet."""
    history_alarm_days: int = Field(50, ge=1, le=59)
    """A store whose history is unknown for longer is an alarm: after 60 days it cannot be read any more."""

    @property
    def hands_over(self) -> bool:
        """Whether there is a way to the stores."""
        return self.hand_over not in {None, "none"}

    @property
    def owes_orders(self) -> bool:
        """Whether an order that no store has is a failure: not where stores learn of orders elsewhere."""
        return self.hand_over != "none"
