"""The whole of it once, on a real Airflow: a full sync, a quarter of an hour in the ERP, a delta sync, a summary; then everything stops."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from shelfsync.errors import ShelfsyncError
from shelfsync.ledger import batches, jobs
from shelfsync.stack import environment, sample_chain, summary
from shelfsync.stack.airflow_api import AirflowApi
from shelfsync.stack.comparison import Comparison, compare
from shelfsync.stack.dag_run import run_dag, wait_known
from shelfsync.stack.place import Place
from shelfsync.stack.sandbox_control import SandboxControl
from shelfsync.stack.services import STORE_HUB
from shelfsync.stack.stack import Wishes, running_stack
from shelfsync.stack.supervisor import ServiceFailedError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import sqlalchemy as sa

    from shelfsync.settings import Settings
    from shelfsync.stack.stack import RunningStack

FULL, DELTA, SETTLE = "catalog_full_sync", "catalog_delta_sync", "catalog_settle"
UNSCHEDULED = (
    "FULL",
    "DELTA",
    "SETTLE",
    "HOLDS",
    "EXPORT",
    "PROMOTIONS",
    "PROMOTIONS_SETTLE",
    "ORDERS",
    "HISTORY",
    "HOUSEKEEPING",
)
SETTLED_AFTER_RUNS = 10
SHOWN_MAX = 10


@dataclass(frozen=True)
class Told:
    """What came of a demo: figures and requests of both syncs, rows of the warehouse, the comparison."""

    full: tuple[dict[str, Any], Mapping[str, int]]
    delta: tuple[dict[str, Any], Mapping[str, int]]
    tables: dict[str, int]
    comparison: Comparison


def wishes(settings: Settings, *, what: str) -> Wishes:
    """The sample chain and the sandbox, whatever else is configured: a demo must never write to a real platform."""
    inherited, unused = environment.split(os.environ, sample=True)
    secret = settings.webhook.secret
    return Wishes(
        what=what,
        settings=sample_chain.settings(settings.home.absolute(), settings.local),
        environment=inherited,
        sandbox=True,
        stand_ins=(STORE_HUB,) if sample_chain.picks(settings.orders) else (),
        unused=unused,
        database_url=settings.database_url.get_secret_value() if settings.database_url else None,
        first_receiver_port=settings.webhook.port,
        webhook_secret=secret.get_secret_value() if secret else None,
    )


def demo_wishes(settings: Settings) -> Wishes:
    """The sample chain without schedules: nothing runs but what the demo starts."""
    wanted = wishes(settings, what="make demo")
    fixed = {f"AIRFLOW__SHELFSYNC__{kind}_SCHEDULE": "none" for kind in UNSCHEDULED}
    fixed["AIRFLOW__SHELFSYNC__RETRY_DELAY_S"] = "10"
    unused = [name for name, value in fixed.items() if wanted.environment.get(name, value) != value]
    return replace(wanted, environment={**wanted.environment, **fixed}, unused=sorted([*wanted.unused, *unused]))


def demo(settings: Settings, *, say: Callable[[str], None]) -> Told:
    """Runs it; a ShelfsyncError when anything is not as it should be."""
    with running_stack(Place(settings.home.absolute()), demo_wishes(settings), say=say) as stack:
        stack.wait_ready()
        say(f"all services answer; Airflow is at {stack.addresses.public_url}")
        return scenario(stack, say)


def scenario(stack: RunningStack, say: Callable[[str], None]) -> Told:
    """Both syncs on a running stack, and whether the platform holds what the ERP says afterwards."""
    from shelfsync.erp import sample
    from shelfsync.ledger.engine import create_engine

    sample_chain.prepare(stack, say)
    erp, ours = sample_chain.open_erp(stack), create_engine(stack.addresses.database_url)
    sandbox = SandboxControl(stack.addresses.sandbox_url)
    try:
        with AirflowApi(stack) as airflow:
            _finish_leftovers(stack, airflow, ours, say)
            full = _sync(stack, airflow, sandbox, FULL, say)
            happened = sample.tick(erp, seed=airflow.runs(FULL))
            say(f"a quarter of an hour passes in the ERP: {happened.sold:,} products sold, {happened.restocked:,} restocked, "
                f"{happened.repriced + happened.repriced_in_store:,} repriced, {happened.listed} new, {happened.delisted} gone")  # fmt: skip
            delta = _sync(stack, airflow, sandbox, DELTA, say)
        say("comparing the sandbox with the ERP, SKU by SKU")
        rows = sample_chain.rows(erp)
        comparison = compare(rows, {vendor: sandbox.products(vendor) for vendor in rows})
        with ours.connect() as connection:
            figures = [(summary.run_figures(connection, key), requests) for key, requests in (full, delta)]
            tables = summary.table_rows(connection)
    finally:
        erp.dispose()
        ours.dispose()
        sandbox.close()
    return Told(figures[0], figures[1], tables, comparison)


def _finish_leftovers(stack: RunningStack, airflow: AirflowApi, ours: sa.Engine, say: Callable[[str], None]) -> None:
    """What an interrupted demo left: runs in Airflow that would go on now, and jobs of which nobody heard the end."""
    for dag_id in (FULL, DELTA, SETTLE):
        wait_known(stack, airflow, dag_id)
        if left := airflow.fail_unfinished(dag_id):
            say(f"{dag_id}: {left} unfinished runs of an earlier time are given up")
    for _ in range(SETTLED_AFTER_RUNS):
        with ours.connect() as connection:
            lost = len(jobs.open_jobs(connection)) + len(batches.vendors_with_planned(connection))
        if not lost:
            return
        say(f"{lost} jobs of an earlier time are still open")
        run_dag(stack, airflow, SETTLE, say)


def check(told: Told) -> None:
    """A ShelfsyncError unless every SKU sent has one outcome and the platform equals the ERP."""
    for figures, _ in (told.full, told.delta):
        if not figures["sent"] == figures["skus_sent"] == figures["outcomes"]:
            raise ShelfsyncError(
                f"run {figures['run_id']}: {figures['skus_sent']} SKUs were sent, and the warehouse holds {figures['outcomes']} outcomes"
            )
    if told.comparison.differences:
        shown = "; ".join(told.comparison.differences[:SHOWN_MAX])
        raise ShelfsyncError(f"the sandbox differs from the ERP in {len(told.comparison.differences)} SKUs: {shown}")
    if not told.comparison.equal:
        raise ShelfsyncError("the sandbox and the ERP have no SKU in common")


def _sync(
    stack: RunningStack, airflow: AirflowApi, sandbox: SandboxControl, dag_id: str, say: Callable[[str], None]
) -> tuple[str, dict[str, int]]:
    """One DAG run to its end: the key of its run in the warehouse, and the requests it took."""
    before = sandbox.journal_end()
    run_id = run_dag(stack, airflow, dag_id, say)
    return f"{dag_id}/{run_id}", sandbox.requests_after(before)


def main() -> int:
    """The command; returns its exit code."""
    from shelfsync.settings import read_settings

    began_s = time.monotonic()

    def say(text: str) -> None:
        print(f"demo {time.monotonic() - began_s:5.0f} s  {text}", flush=True)  # noqa: T201  this is what it is for

    try:
        told = demo(read_settings(), say=say)
        check(told)
    except ServiceFailedError as error:
        for line in error.log_lines:
            print(f"    {line}", file=sys.stderr)  # noqa: T201
        print(f"demo failed: {error}", file=sys.stderr)  # noqa: T201
        return error.exit_code
    except ShelfsyncError as error:
        print(f"demo failed: {error}", file=sys.stderr)  # noqa: T201
        return error.exit_code
    except KeyboardInterrupt:
        print("demo: interrupted; everything is stopped", file=sys.stderr)  # noqa: T201
        return 130
    for line in summary.lines(
        [told.full, told.delta], told.tables, equal=told.comparison.equal, unknown=told.comparison.unknown_to_platform
    ):
        print(line)  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
