"""Which events of a job count."""

from __future__ import annotations

from shelfsync.catalog.ledger import jobs as catalog_jobs
from shelfsync.platform.jobs import job_event
from waiting_events import arrive


def test_an_event_of_another_vendor_or_from_before_the_request_is_quarantined_and_the_others_count(world):
    world.platform.put_webhook(catalog_url="http://127.0.0.1:1/nowhere", secret="canary-webhook-1")
    world.erp.put("store-001", "a", "2.00")
    world.begin("full", upto="deliver")
    context = world.app.context
    [(job_id, number)] = world.rows("SELECT job_id, platform_job_id FROM ledger.job")
    arrive(world, {"job_id": number, "job_status": "FAILED"})
    with context.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE ledger.job SET after_event = (SELECT max(event_id) FROM inbox.event)")
    arrive(world, {"job_id": number, "job_status": "FAILED", "vendor_id": "store-002"})
    [counts] = arrive(world, {"job_id": number, "job_status": "COMPLETED"})
    with context.engine.connect() as connection:
        job = catalog_jobs.read(connection, job_id)
        rows = job_event.received(context, connection, job)
    assert [each.event_id for each in job_event.believable(context, job, rows)] == [counts]
    reasons = world.rows("SELECT quarantine_reason FROM inbox.event WHERE quarantine_reason IS NOT NULL ORDER BY 1")
    assert reasons == [
        ("it came before the request that its job belongs to was sent",),
        ("it names vendor store-002, and its job is one of vendor store-001",),
    ]
