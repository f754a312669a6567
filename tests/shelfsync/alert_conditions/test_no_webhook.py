"""Alert `no_webhook`: since when the webhook counts as silent."""

from __future__ import annotations

import datetime as dt

import pytest
import sqlalchemy as sa

from alert_look import kinds, older
from shelfsync.alert_conditions.no_webhook import POLLED


@pytest.mark.slow
def test_a_webhook_that_falls_silent_is_an_alert_until_its_next_event(world, context):
    event = "INSERT INTO inbox.event (kind, identity, platform_job_id, body, received_at) VALUES ('job', :job, :job, '', now() - :ago)"
    for cents in range(POLLED):
        world.erp.put("store-001", "a", f"1.0{cents + 1}")
        world.sync("delta")
    assert kinds(context) == set(), "this installation has no webhook"
    for job, ago, expected in (
        ("of a job before", dt.timedelta(days=8), set()),  # switched off long ago
        ("of a later job", dt.timedelta(hours=2), {("no_webhook", "")}),
        ("of the newest job", dt.timedelta(), set()),
    ):
        with context.engine.begin() as connection:
            connection.execute(sa.text(event), {"job": job, "ago": ago})
        assert kinds(context) == expected


@pytest.mark.slow
def test_jobs_that_ended_before_the_last_event_are_no_sign_of_a_silent_webhook(world, context):
    for cents in range(POLLED):
        world.erp.put("store-001", "a", f"1.0{cents + 1}")
        world.sync("delta")
    older(context, "ledger.job", "ended_at", 180)
    event = "INSERT INTO inbox.event (kind, identity, platform_job_id, body, received_at) VALUES ('job', 'x', 'x', '', now() - interval '2 hours')"
    with context.engine.begin() as connection:
        connection.execute(sa.text(event))
    assert kinds(context) == set()
