"""What fails while a service is away is the same condition as the outage, and no alert of its own."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from alert_look import kinds, older
from shelfsync import outages


@pytest.mark.slow
def test_what_fails_while_the_platform_is_away_is_one_alert_from_begin_to_end(world, context):
    world.erp.put("store-001", "a", "1.02")
    places = ("put_catalog", "token", "job_status", "list_catalog")
    world.platform.faults(*({"at": place, "kind": "status_503", "probability": 1} for place in places))
    assert world.sync("delta")["state"] == "failed"
    older(context, "ledger.outage", "began_at", 2)
    assert kinds(context) == {("platform_away", "")}
    world.platform.faults()
    world.sync("delta")
    assert kinds(context) == set()


def test_what_failed_in_a_short_outage_is_reported_if_nothing_has_repeated_it(context):
    outages.failed(context.engine, outages.ERP, "no connection")
    with context.engine.begin() as connection:
        connection.execute(sa.text("UPDATE ledger.run SET state = 'failed', error = 'no connection'"))
        connection.execute(sa.text("UPDATE ledger.run SET finished_at = clock_timestamp()"))
    outages.answered(context.engine, outages.ERP)
    assert kinds(context) == set(), "the next run of an hour's schedule will repeat it"
    for column in ("began_at", "failed_at", "ended_at"):
        older(context, "ledger.outage", column, 121)
    for column in ("started_at", "finished_at"):
        older(context, "ledger.run", column, 121)
    assert kinds(context) == {("run_failed", "full")}
