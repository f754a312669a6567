"""A 403 may concern one store, which then fails alone. If the platform rejects the credentials, all stores fail at once (I10)."""

from __future__ import annotations

import pytest

from shelfsync.errors import ConfigurationError

VENDORS = tuple(f"store-{number:03}" for number in range(1, 7))
FORBIDDEN = {
    "kind": "status_403",
    "body": '{"code":"FORBIDDEN","message":"not yours"}',
    "content_type": "application/json",
}
READING = ("list_catalog", "outlet_status")


@pytest.fixture
def make_street(make_world):
    """Some stores, each with a product that is in step, and another price wanted."""

    def make(stores=3):
        world = make_world()
        for vendor in VENDORS[:stores]:
            world.platform.put_products(
                vendor, [{"sku": "a", "barcodes": [], "title": "A", "price": 9.99, "active": True}]
            )
            world.erp.put(vendor, "a", "1.00")
        assert world.sync("full")["accepted"] == stores
        _want(world, "2.00", stores)
        return world

    return make


def _want(world, price, stores):
    for vendor in VENDORS[:stores]:
        world.erp.put(vendor, "a", price)


def _prices(world, stores=3):
    return [world.shown(vendor)["a"]["price"] for vendor in VENDORS[:stores]]


@pytest.mark.slow
def test_a_store_that_is_forbidden_stops_no_other_in_a_run_and_is_tried_again_by_the_next(make_street):
    world = make_street()
    world.platform.faults({"at": "put_catalog", "vendor": VENDORS[0], **FORBIDDEN})
    summary = world.sync("delta")
    assert (summary["state"], _prices(world)) == ("partly_failed", [1, 2, 2])
    assert "the credentials may not do this" in summary["vendors"][0]["error"]
    assert world.app.recover()["failed"] == {}  # nothing of it is planned: no request every five minutes
    world.platform.faults()
    assert (world.sync("delta")["state"], _prices(world)) == ("succeeded", [2, 2, 2])


@pytest.mark.slow
def test_a_forbidden_store_stops_no_other_in_a_recovery(make_street):
    world = make_street()
    world.begin("delta", upto="batch")
    world.platform.faults({"at": "put_catalog", "vendor": VENDORS[0], **FORBIDDEN})
    assert set(world.app.recover()["failed"]) == {VENDORS[0]}
    assert _prices(world) == [1, 2, 2]


@pytest.mark.slow
def test_a_store_that_is_forbidden_stops_no_other_when_a_run_is_checked(make_street):
    """The check reads one known store, which may be forbidden itself."""
    world = make_street()
    world.platform.faults(*({"at": at, "vendor": VENDORS[0], **FORBIDDEN} for at in READING))
    world.app.check()


@pytest.mark.slow
def test_a_forbidden_request_that_may_have_been_accepted_before_leaves_its_vendor_unconfirmed(make_street):
    world = make_street()
    world.platform.faults(
        {"at": "put_catalog", "vendor": VENDORS[0], "kind": "half_body", "times": 1},
        {"at": "put_catalog", "vendor": VENDORS[0], **FORBIDDEN, "after": 1},
    )
    assert world.sync("delta")["state"] == "partly_failed"
    states = world.rows(f"SELECT state FROM ledger.job WHERE vendor = '{VENDORS[0]}' ORDER BY job_id")
    assert [row.state for row in states] == ["acknowledged", "unconfirmed"]
    world.platform.faults()
    _want(world, "1.00", 1)
    world.sync("delta")
    assert _prices(world) == [1, 2, 2]


@pytest.mark.slow
def test_invalid_credentials_fail_once_for_all_vendors(make_street):
    world = make_street()
    before = len(world.sent())
    world.platform.faults(*({"at": at, **FORBIDDEN} for at in ("put_catalog", *READING)))
    with pytest.raises(ConfigurationError, match="Nothing was sent with these credentials"):
        world.sync("delta")
    assert len(world.sent()) == before + 1
    world.platform.faults()
    assert world.app.recover()["delivered"] == 3
    assert _prices(world) == [2, 2, 2]


@pytest.mark.slow
def test_a_rejected_new_token_is_a_failure_of_all_vendors(make_street):
    world = make_street()
    world.platform.faults({"at": "put_catalog", "vendor": VENDORS[0], **FORBIDDEN, "kind": "status_401"})
    with pytest.raises(ConfigurationError, match="shelfsync_platform"):
        world.sync("delta")


@pytest.mark.slow
def test_credentials_that_may_read_and_not_write_are_reported_after_a_few_stores(make_street):
    world = make_street(6)
    before = len(world.sent())
    world.platform.faults({"at": "put_catalog", **FORBIDDEN})
    with pytest.raises(ConfigurationError, match="shelfsync_platform"):
        world.sync("delta")
    assert len(world.sent()) == before + 5


@pytest.mark.slow
def test_stores_that_are_forbidden_after_one_that_was_served_fail_alone(make_street):
    world = make_street(6)
    world.platform.faults(*({"at": "put_catalog", "vendor": vendor, **FORBIDDEN} for vendor in VENDORS[1:]))
    assert world.sync("delta")["state"] == "partly_failed"
    assert _prices(world, 6) == [2, 1, 1, 1, 1, 1]


@pytest.mark.slow
def test_the_only_store_there_is_stands_for_the_credentials(make_street):
    world = make_street(1)
    world.platform.faults({"at": "put_catalog", **FORBIDDEN})
    with pytest.raises(ConfigurationError, match="shelfsync_platform"):
        world.sync("delta")


@pytest.mark.slow
def test_a_store_whose_export_is_forbidden_stops_no_other(make_street):
    world = make_street()
    world.platform.faults({"at": "export", "vendor": VENDORS[0], **FORBIDDEN})
    summary = world.app.export("export/1", (), progress=lambda *_: None)
    assert [row["vendor"] for row in summary["vendors"] if row["error"]] == [VENDORS[0]]
