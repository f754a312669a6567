"""A day without data: every figure shows that there is none, and none of them reports a success."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

A = {"sku": "a", "barcodes": [], "title": "A", "price": 9.99, "active": True}


def _views(connection):
    found = "SELECT table_name FROM information_schema.views WHERE table_schema = 'warehouse' ORDER BY 1"
    return connection.execute(sa.text(found)).scalars().all()


def _of(connection, view):
    return [dict(row._mapping) for row in connection.execute(sa.text(f"SELECT * FROM warehouse.{view}"))]


def test_on_the_first_day_every_view_answers(engine):
    with engine.connect() as connection:
        views = _views(connection)
        assert len(views) > 15
        assert {view: _of(connection, view) for view in views if _of(connection, view)} == {}


@pytest.fixture
def quiet(world):
    """A store that was in step long ago; today's runs found nothing to send."""
    world.platform.put_products("store-001", [A])
    world.erp.put("store-001", "a", "9.99", 10, 1, 5)
    world.sync("full")
    with world.app.context.engine.begin() as connection:
        for table in ("catalog_job", "sku_outcome"):
            connection.execute(sa.text(f"TRUNCATE warehouse.{table} CASCADE"))
    summary = world.sync("delta")
    assert (summary["state"], summary["sent"]) == ("succeeded", 0)
    return world


@pytest.mark.slow
def test_after_a_day_on_which_nothing_was_sent_every_view_answers_and_no_rate_is_made_up(quiet):
    with quiet.app.context.engine.connect() as connection:
        found = {view: _of(connection, view) for view in _views(connection)}
    rates = {
        (view, name): value
        for view, rows in found.items()
        for row in rows
        for name, value in row.items()
        if name.endswith(("_rate", "_share")) and value is not None
    }
    assert rates == {}
