"""Alerts `run_failed` and `campaigns_failed`: the newest run of a kind failed."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from alert_look import having, kinds, older
from shelfsync import outages


@pytest.mark.slow
@pytest.mark.parametrize("state", ["failed", "partly_failed"])
def test_a_run_that_failed_at_every_store_is_one_alert_and_an_older_outage_hides_nothing(world, context, state):
    outages.failed(context.engine, outages.PLATFORM, "503")
    outages.answered(context.engine, outages.PLATFORM)
    for column in ("began_at", "failed_at", "ended_at"):
        older(context, "ledger.outage", column, 60)
    with context.engine.begin() as connection:
        connection.execute(
            sa.text("UPDATE ledger.vendor_run SET state = 'failed', failed_step = 'diff', error = 'a bug'")
        )
        connection.execute(sa.text("UPDATE ledger.run SET state = :state, error = 'a bug'"), {"state": state})
    assert kinds(context) == {("run_failed", "full") if state == "failed" else ("store_failed", "store-001")}


@pytest.mark.parametrize("state", ["failed", "partly_failed"])
def test_a_failed_run_of_campaigns_is_an_alert_until_one_succeeds(context, state):
    run = "INSERT INTO ledger.promotion_run (run_key, state, error, finished_at) VALUES (:key, :state, :error, now())"
    offers = having(context, "promotions", sql="SELECT 1")
    with context.engine.begin() as connection:
        connection.execute(sa.text(run), {"key": "1", "state": state, "error": "no rows"})
    assert kinds(offers) == {("campaigns_failed", "")}
    assert kinds(context) == set(), "without promotions in the settings none is sent"
    assert kinds(offers) == {("campaigns_failed", "")}
    with context.engine.begin() as connection:
        connection.execute(sa.text(run), {"key": "2", "state": "succeeded", "error": None})
    assert kinds(offers) == set()
