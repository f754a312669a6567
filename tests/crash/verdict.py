"""Conditions after the last kill: nothing lost, duplicated, stuck or unreported. Each violation is one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync.local import demo, sample_chain
from shelfsync.local.airflow_api import AirflowApi
from shelfsync.local.comparison import compare
from shelfsync.local.sandbox_control import SandboxControl
from shelfsync.store.engine import create_engine

if TYPE_CHECKING:
    from crash.crash_run import CrashRun

NO_ROWS = {
    "an outcome twice in one plan of run {0}: vendor {1}, SKU {2}, accepted {3} times": """
        SELECT b.run_id, o.vendor, o.sku, count(*) FROM warehouse.sku_outcome AS o JOIN ledger.job AS j USING (job_id)
        JOIN ledger.batch AS b USING (batch_id)
        WHERE o.state = 'accepted' GROUP BY b.run_id, o.vendor, o.sku, b.plan HAVING count(*) > 1""",
    "job {0}: {1} SKUs sent, {2} outcomes in the warehouse": """
        SELECT j.job_id, j.sent, count(o.sku) FROM ledger.job AS j LEFT JOIN warehouse.sku_outcome AS o USING (job_id)
        WHERE j.kind = 'catalog' AND j.accepted IS NOT NULL GROUP BY 1, 2 HAVING count(o.sku) <> j.sent""",
    "job {0}: state {1} in the ledger, {2} in the warehouse": """
        SELECT j.job_id, j.state, w.state FROM ledger.job AS j LEFT JOIN warehouse.catalog_job AS w USING (job_id)
        WHERE j.kind = 'catalog' AND j.state IN ('acknowledged', 'unconfirmed') AND (w.state, w.sent, w.accepted) IS DISTINCT FROM (j.state, j.sent, j.accepted)""",
    "job {0} of vendor {1} is still {2}": """
        SELECT job_id, vendor, state FROM ledger.job WHERE kind = 'catalog' AND state IN ('submitting', 'open', 'confirmed')""",
    "batch {0} of vendor {1} was planned and never sent": """
        SELECT batch_id, vendor FROM ledger.batch WHERE state = 'planned'""",
    "run {0} ({1}) is neither reported nor ended": """
        SELECT run_id, run_key FROM ledger.run WHERE state = 'running'""",
    "run {0} has failed and reports no error": """
        SELECT run_id FROM ledger.run WHERE state IN ('failed', 'partly_failed') AND coalesce(error, '') = ''""",
    "event {0} of job {1} was never used": """
        SELECT e.event_id, e.platform_job_id FROM inbox.event AS e JOIN ledger.job AS j USING (platform_job_id)
        WHERE e.kind = 'job' AND e.processed_at IS NULL AND j.state = 'acknowledged'""",
}
"""Queries that must return no row, and what a row means."""


def verdict(crash_run: CrashRun) -> list[str]:
    """All violations."""
    violations = list(crash_run.troubles)
    engine = create_engine(crash_run.stack.addresses.database_url)
    try:
        with engine.connect() as connection:
            for sentence, query in NO_ROWS.items():
                violations += [sentence.format(*row) for row in connection.execute(sa.text(query))]
            rejected = {
                (row.vendor, row.sku) for row in connection.execute(sa.text("SELECT vendor, sku FROM ledger.rejection"))
            }
            held = connection.execute(
                sa.text("SELECT coalesce(sum(changes_held), 0) FROM ledger.vendor_run")
            ).scalar_one()
    finally:
        engine.dispose()
    return violations + _lost(crash_run, rejected, held) + _stuck(crash_run) + _too_many(crash_run)


def _lost(crash_run: CrashRun, rejected: set[tuple[str, str]], held: int) -> list[str]:
    """Compares the sandbox's store with the tables of the ERP, without shelfsync's tables."""
    erp = sample_chain.open_erp(crash_run.stack)
    try:
        rows = sample_chain.rows(erp)
    finally:
        erp.dispose()
    sandbox = SandboxControl(crash_run.stack.addresses.sandbox_url)
    comparison = compare(rows, {vendor: sandbox.held(vendor) for vendor in rows})
    lines = [line for line in comparison.differences if tuple(line.split(":")[0].split(" ")) not in rejected]
    if not comparison.equal:
        lines.append("platform and ERP have no SKU in common")
    return (
        lines
        if not held
        else [*lines, f"{held} changes were held by a guard; the sample never does what would hold any"]
    )


def _stuck(crash_run: CrashRun) -> list[str]:
    with AirflowApi(crash_run.stack) as airflow:
        return [
            f"{dag_id}: {airflow_left} runs have not ended"
            for dag_id in (demo.FULL, demo.DELTA)
            if (airflow_left := len(_unended(airflow, dag_id)))
        ]


def _unended(airflow: AirflowApi, dag_id: str) -> list[object]:
    path = f"/api/v2/dags/{dag_id}/dagRuns"
    runs: list[object] = airflow._call("GET", path, params={"state": ["queued", "running"], "limit": 100})["dag_runs"]
    return runs


def _too_many(crash_run: CrashRun) -> list[str]:
    sandbox = SandboxControl(crash_run.stack.addresses.sandbox_url)
    most = sandbox._call("GET", f"/journal?after={10**9}")["max_requests_in_60s"]
    return [f"{most} requests in 60 s"] if most > 60 else []
