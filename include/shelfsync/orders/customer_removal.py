"""When a customer's data are removed: so many days after the order was first received, whatever comes of it later."""

from __future__ import annotations

import datetime as dt


def remove_at(first_received_at: dt.datetime, customer_days: int) -> dt.datetime:
    """The end of the time for which shelfsync keeps the customer's data of an order."""
    return first_received_at + dt.timedelta(days=customer_days)
