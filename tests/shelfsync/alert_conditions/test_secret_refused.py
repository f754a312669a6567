"""Alert `secret_refused`: which calls with a wrong secret are news of the platform's or the stores' secret."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from alert_look import kinds, older


def refused(context, endpoint, minutes):
    row = "INSERT INTO inbox.refusal (endpoint, calls, refused_at) VALUES (:endpoint, 3, now() - make_interval(mins => :m))"
    with context.engine.begin() as connection:
        connection.execute(sa.text(row), {"endpoint": endpoint, "m": minutes})


@pytest.mark.slow
def test_calls_with_a_wrong_secret_are_an_alert_once_events_are_missing_until_the_platform_has_it(world, context):
    older(context, "ledger.job", "ended_at", 30)
    for minutes in range(9, 3, -1):
        refused(context, "inbox", minutes)
    assert kinds(context) == set(), "strangers called, and no event of the platform is missing"
    world.erp.put("store-001", "a", "1.05")
    world.sync("delta")
    assert kinds(context) == {("secret_refused", "events")}, "a job ended, and its event did not come"
    event = "INSERT INTO inbox.event (kind, identity, body) VALUES ('unknown', 'x', '')"
    with context.engine.begin() as connection:
        connection.execute(sa.text(event))
    assert kinds(context) == set()


def test_calls_of_stores_with_a_wrong_secret_are_an_alert_once_they_go_on(context):
    for minutes in range(9, 5, -1):
        refused(context, "picking", minutes)
    assert kinds(context) == set(), "two strangers tried twice"
    refused(context, "picking", 1)
    event = "INSERT INTO inbox.event (kind, identity, body) VALUES ('unknown', 'x', '')"
    with context.engine.begin() as connection:
        connection.execute(sa.text(event))
    assert kinds(context) == {("secret_refused", "picking results")}, "an event of the platform says nothing of a store"
    older(context, "inbox.refusal", "refused_at", 60)
    assert kinds(context) == set()
