"""The sample ERP's campaigns become promotions of the platform: some in force, one about to begin, one about to end."""

from __future__ import annotations

import datetime as dt

import pytest
import sqlalchemy as sa

from shelfsync.erp import sample

STORES = ("store-001", "store-002")
HOUR = dt.timedelta(hours=1)


@pytest.fixture
def erp_engine(postgres):
    url = postgres.create_database("shelfsync_campaigns").replace("postgresql://", "postgresql+psycopg://", 1)
    engine = sa.create_engine(url)
    sample.create(engine, vendors=len(STORES), skus_per_vendor=400)
    yield engine
    engine.dispose()
    postgres.drop_database("shelfsync_campaigns")


@pytest.fixture
def now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)


@pytest.fixture
def chain(make_world, platform, erp_engine):
    """The sample's catalog in sync with the platform, and its campaigns configured as `make up` does."""
    url = erp_engine.url.render_as_string(hide_password=False)
    world = make_world(
        erp={"url": url, "sql": None, "sql_file": sample.SELECT_FILE},
        promotions={"sql_file": sample.PROMOTIONS_FILE, "poll_first_s": 0.05, "poll_max_s": 0.2},
    )
    for vendor, products in sample.assortment(erp_engine).items():
        platform.put_products(vendor, products)
    assert world.sync("full")["state"] == "succeeded"
    return world


def campaigns(engine) -> list[sa.Row]:
    with engine.connect() as connection:
        return list(connection.execute(sa.text("SELECT * FROM erp.campaign ORDER BY code")).all())


def synced(world, key: str):
    path = world.app.promotions
    return path.sync(path.open_run(key))


def portal(platform) -> list[str]:
    found = platform.control("GET", "chains/demo-chain/promotions")["promotions"]
    return [row["state"] for row in found]


@pytest.mark.slow
def test_at_any_time_some_are_in_force_one_begins_and_one_ends_within_the_hour(erp_engine, now):
    assert sample.campaigns(erp_engine, now) > 3
    rows = campaigns(erp_engine)
    assert [row for row in rows if row.starts_at <= now < row.ends_at]
    assert [row for row in rows if now < row.starts_at < now + HOUR]
    assert [row for row in rows if now < row.ends_at < now + HOUR]


@pytest.mark.slow
def test_no_product_is_in_two_campaigns_at_a_time_and_each_price_is_below_every_price_of_the_product(erp_engine, now):
    sample.campaigns(erp_engine, now)
    sample.campaigns(erp_engine, now + dt.timedelta(days=3))
    twice = """
        SELECT 1 FROM erp.campaign_price AS p JOIN erp.campaign AS a USING (campaign_id)
        JOIN erp.campaign_price AS q USING (product_id) JOIN erp.campaign AS b ON b.campaign_id = q.campaign_id
        WHERE a.campaign_id < b.campaign_id AND a.starts_at < b.ends_at AND b.starts_at < a.ends_at
    """
    dearer = """
        SELECT 1 FROM erp.campaign_price AS c JOIN erp.price AS p USING (product_id)
        WHERE p.valid_from <= current_date AND (p.valid_until IS NULL OR p.valid_until >= current_date) AND c.amount >= p.amount
    """
    with erp_engine.connect() as connection:
        assert connection.execute(sa.text(twice)).all() == []
        assert connection.execute(sa.text(dearer)).all() == []


@pytest.mark.slow
def test_done_again_on_the_same_day_nothing_is_added_and_weeks_later_something_is(erp_engine, now):
    noon = now.replace(hour=12)
    sample.campaigns(erp_engine, noon)
    before = campaigns(erp_engine)
    assert sample.campaigns(erp_engine, noon + dt.timedelta(minutes=2)) == 0
    assert campaigns(erp_engine) == before
    later = noon + dt.timedelta(days=60)
    assert sample.campaigns(erp_engine, later) > 0
    assert [row for row in campaigns(erp_engine) if row.starts_at <= later < row.ends_at]


@pytest.mark.slow
def test_done_again_after_midnight_the_day_that_came_into_view_is_added_and_nothing_is_changed(erp_engine, now):
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0) + dt.timedelta(days=1)
    sample.campaigns(erp_engine, midnight - dt.timedelta(minutes=1))
    before = campaigns(erp_engine)
    assert sample.campaigns(erp_engine, midnight + dt.timedelta(minutes=1)) > 0
    after = campaigns(erp_engine)
    assert [row for row in after if row in before] == before
    added = [row for row in after if row not in before]
    assert all(row.ends_at > midnight for row in added)
    assert sample.campaigns(erp_engine, midnight + dt.timedelta(minutes=2)) == 0


@pytest.mark.slow
def test_they_become_promotions_running_and_upcoming_and_none_is_held_or_quarantined(chain, platform, erp_engine, now):
    sample.campaigns(erp_engine, now)
    report = synced(chain, "test/1")
    assert report["state"] == "succeeded", report
    assert set(portal(platform)) == {"Running", "Upcoming"}
    assert chain.rows("SELECT * FROM warehouse.promotion_quarantine") == []
    with erp_engine.connect() as connection:
        shown = connection.exec_driver_sql(sample.PROMOTIONS_FILE.read_text("utf-8")).all()
    assert len(portal(platform)) == len({row.campaign for row in shown}), "one promotion for each campaign"
    assert synced(chain, "test/2")["state"] == "succeeded"
    assert len(portal(platform)) == len({row.campaign for row in shown}), "and no other one the next time"


@pytest.mark.slow
def test_a_campaign_that_is_taken_out_of_the_erp_is_ended(chain, platform, erp_engine, now):
    sample.campaigns(erp_engine, now)
    synced(chain, "test/1")
    with erp_engine.begin() as connection:
        in_force = "SELECT min(campaign_id) FROM erp.campaign WHERE starts_at <= now() AND now() < ends_at"
        ended = f"UPDATE erp.campaign SET ends_at = now() - interval '2 days' WHERE campaign_id = ({in_force})"
        connection.execute(sa.text(ended))
    synced(chain, "test/2")
    assert "Cancelled" in portal(platform)
