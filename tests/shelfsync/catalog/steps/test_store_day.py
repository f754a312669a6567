"""A store's day: what is about the store alone or about all stores, within the day of the chain's zone, the newest first."""

from __future__ import annotations

import datetime as dt

import pytest

from shelfsync import outages
from shelfsync.catalog.steps import store_day as module
from shelfsync.catalog.steps.store_day import store_day
from shelfsync.errors import DataError


@pytest.fixture
def store(world):
    world.erp.put("store-001", "a", "1.00")
    world.begin("full")
    return world


def kinds(world, day=None):
    return [event.kind for event in store_day(world.app.context, "store-001", day)["events"]]


def test_a_pause_of_the_chain_and_an_outage_are_of_every_store(store):
    for act in (store.app.pause, store.app.resume):
        act("all", None, why="wrong prices", who="ada")
    store.app.pause("vendor", "store-001", why="stocktaking", who="ada")
    outages.failed(store.app.context.engine, outages.PLATFORM, "no answer")
    found = store_day(store.app.context, "store-001")["events"]
    assert sorted(event.kind for event in found) == ["outage", "pause", "pause", "pause", "reading"]
    assert [event.at for event in found] == sorted((event.at for event in found), reverse=True)
    assert "ada paused everything: wrong prices" in {event.text for event in found}


def test_another_day_has_nothing_of_this_one(store):
    today = store_day(store.app.context, "store-001")["day"]
    assert kinds(store, today) == ["reading"]
    assert kinds(store, today - dt.timedelta(days=1)) == []
    assert kinds(store, today + dt.timedelta(days=1)) == []


def test_a_day_with_very_many_events_has_the_last_ones(store, monkeypatch):
    monkeypatch.setattr(module, "MOST", 2)
    for number in range(3):
        store.app.pause("vendor", "store-001", why=f"reason {number}", who="ada")
    shown = [event.text for event in store_day(store.app.context, "store-001")["events"] if event.kind == "pause"]
    assert shown == [f"ada paused this store: reason {number}" for number in (2, 1)]


def test_an_unknown_store_is_no_empty_day(world):
    with pytest.raises(DataError, match="shelfsync knows no store 'nowhere'"):
        store_day(world.app.context, "nowhere")


def test_a_hold_that_a_newer_reading_superseded_names_no_person():
    at = dt.datetime(2026, 3, 1, 9, tzinfo=dt.UTC)
    row = {"at": at, "rule": "price_change", "state": "superseded", "rows": 1, "hold_id": 1, "decided_at": at}
    assert "None" not in module._hold(row | {"decided_by": None}).text
    assert " by ada at " in module._hold(row | {"decided_by": "ada"}).text
