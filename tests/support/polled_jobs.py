"""Jobs whose status call the platform rejects."""

from __future__ import annotations

VENDORS = ("store-001", "store-002", "store-003")
JSON = {"content_type": "application/json", "body": '{"code":"FORBIDDEN","message":"Missing Authentication Token"}'}
REJECTED = {
    "401": {"kind": "status_401", **JSON},
    "403 of the platform": {"kind": "status_403", **JSON},
    "403 without a body": {"kind": "status_403", "body": ""},
    "403 as a page": {"kind": "block_page"},
}
SHORT = {"poll_first_s": 0.05, "poll_max_s": 0.2, "job_deadline_s": 1.5}
PAUSES = {"requests_per_minute": 60_000, "pause_max_s": 0.2}


def states(world):
    """The states of all jobs, in their order."""
    return [row.state for row in world.rows("SELECT state FROM ledger.job ORDER BY job_id")]


def asked(world, operation="job_status"):
    """The statuses that the platform answered such calls with."""
    return [entry["status"] for entry in world.platform.journal()["entries"] if entry["operation"] == operation]


def put_at_the_deadline(world):
    """Ends the time of every job."""
    with world.app.context.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE ledger.job SET deadline_at = now() - interval '1 second'")
