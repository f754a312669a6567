"""What has to be true when the kills are over: nothing lost, nothing twice, nothing stuck, nothing unsaid. One line for each that is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync.ledger.engine import create_engine
from shelfsync.stack import demo, sample_chain
from shelfsync.stack.airflow_api import AirflowApi
from shelfsync.stack.comparison import compare
from shelfsync.stack.sandbox_control import SandboxControl

if TYPE_CHECKING:
    from kills.course import Course

NONE = {
    "an outcome twice in one run: run {0}, vendor {1}, SKU {2}, accepted {3} times": """
        SELECT j.run_id, o.vendor, o.sku, count(*) FROM warehouse.sku_outcome AS o JOIN warehouse.catalog_job AS j USING (job_id)
        WHERE o.state = 'accepted' GROUP BY 1, 2, 3 HAVING count(*) > 1""",
    "job {0}: {1} SKUs sent, {2} outcomes in the warehouse": """
        SELECT j.job_id, j.sent, count(o.sku) FROM ledger.job AS j LEFT JOIN warehouse.sku_outcome AS o USING (job_id)
        WHERE j.accepted IS NOT NULL GROUP BY 1, 2 HAVING count(o.sku) <> j.sent""",
    "job {0}: ledger says {1}, warehouse {2}": """
        SELECT j.job_id, j.state, w.state FROM ledger.job AS j LEFT JOIN warehouse.catalog_job AS w USING (job_id)
        WHERE j.state IN ('acknowledged', 'unconfirmed') AND (w.state, w.sent, w.accepted) IS DISTINCT FROM (j.state, j.sent, j.accepted)""",
    "job {0} of vendor {1} is still {2}": """
        SELECT job_id, vendor, state FROM ledger.job WHERE state IN ('submitting', 'open', 'confirmed')""",
    "batch {0} of vendor {1} was planned and never sent": """
        SELECT batch_id, vendor FROM ledger.batch WHERE state = 'planned'""",
    "run {0} ({1}) is neither reported nor ended": """
        SELECT run_id, run_key FROM ledger.run WHERE state = 'running'""",
    "run {0} has failed and says nothing": """
        SELECT run_id FROM ledger.run WHERE state IN ('failed', 'partly_failed') AND coalesce(error, '') = ''""",
    "event {0} of job {1} was never used": """
        SELECT e.event_id, e.platform_job_id FROM inbox.event AS e JOIN ledger.job AS j USING (platform_job_id)
        WHERE e.kind = 'job' AND e.processed_at IS NULL AND j.state = 'acknowledged'""",
}
"""Queries that have to find nothing, and what a row of them means."""


def verdict(course: Course) -> list[str]:
    """Everything that is not as it has to be."""
    found = list(course.troubles)
    engine = create_engine(course.stack.addresses.database_url)
    try:
        with engine.connect() as connection:
            for sentence, query in NONE.items():
                found += [sentence.format(*row) for row in connection.execute(sa.text(query))]
            rejected = {
                (row.vendor, row.sku) for row in connection.execute(sa.text("SELECT vendor, sku FROM ledger.rejection"))
            }
            held = connection.execute(
                sa.text("SELECT coalesce(sum(changes_held), 0) FROM ledger.vendor_run")
            ).scalar_one()
    finally:
        engine.dispose()
    return found + _lost(course, rejected, held) + _stuck(course) + _too_many(course)


def _lost(course: Course, rejected: set[tuple[str, str]], held: int) -> list[str]:
    """The platform's own memory against the ERP's own tables, past all of ours."""
    erp = sample_chain.open_erp(course.stack)
    try:
        rows = sample_chain.rows(erp)
    finally:
        erp.dispose()
    sandbox = SandboxControl(course.stack.addresses.sandbox_url)
    told = compare(rows, {vendor: sandbox.products(vendor) for vendor in rows})
    lines = [line for line in told.differences if tuple(line.split(":")[0].split(" ")) not in rejected]
    if not told.equal:
        lines.append("platform and ERP have no SKU in common")
    return (
        lines
        if not held
        else [*lines, f"{held} changes were held by a guard; the sample never does what would hold any"]
    )


def _stuck(course: Course) -> list[str]:
    with AirflowApi(course.stack) as airflow:
        return [
            f"{dag_id}: {airflow_left} runs have not ended"
            for dag_id in (demo.FULL, demo.DELTA)
            if (airflow_left := len(_unended(airflow, dag_id)))
        ]


def _unended(airflow: AirflowApi, dag_id: str) -> list[object]:
    path = f"/api/v2/dags/{dag_id}/dagRuns"
    found: list[object] = airflow._call("GET", path, params={"state": ["queued", "running"], "limit": 100})["dag_runs"]
    return found


def _too_many(course: Course) -> list[str]:
    sandbox = SandboxControl(course.stack.addresses.sandbox_url)
    most = sandbox._call("GET", f"/journal?after={10**9}")["max_requests_in_60s"]
    return [f"{most} requests in 60 s"] if most > 60 else []
