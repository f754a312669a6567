"""When an order is too late for its store, by the database's clock."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from shelfsync.orders.ledger.tables import customer_order
from shelfsync.orders.ledger.too_late import too_late


@pytest.mark.parametrize(
    ("promised_h", "placed_h", "seen_h", "late"),
    [
        (-5, -20, -20, False),  # the promise counts first
        (-7, -1, -1, True),
        (None, -7, -1, True),  # then the time at which it was placed
        (None, -5, -20, False),
        (None, None, -7, True),  # and the time of its first event, which is always there
        (None, None, -5, False),
        (2, -20, -20, False),
    ],
)
def test_the_best_known_time_counts(engine, promised_h, placed_h, seen_h, late):
    hours = {"promised": promised_h, "placed": placed_h, "seen": seen_h}
    with engine.begin() as connection:
        connection.execute(
            sa.text(
                "INSERT INTO ledger.customer_order (order_id, status, promised_for, placed_at, first_seen_at) VALUES ('o', 'RECEIVED',"
                " now() + make_interval(hours => :promised), now() + make_interval(hours => :placed), now() + make_interval(hours => :seen))"
            ),
            hours,
        )
        assert connection.execute(sa.select(too_late(6)).select_from(customer_order)).scalar_one() is late
