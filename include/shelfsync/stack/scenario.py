"""What the demo does on a running stack: both syncs, and beside them an order, a promotion and an export."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shelfsync.errors import ShelfsyncError
from shelfsync.ledger import batches, jobs
from shelfsync.stack import figures, sample_chain, switches
from shelfsync.stack.airflow_api import AirflowApi
from shelfsync.stack.comparison import Comparison, compare
from shelfsync.stack.dag_run import failure, run_dag, start, wait_ended
from shelfsync.stack.sandbox_control import SandboxControl

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import sqlalchemy as sa

    from shelfsync.stack.stack import RunningStack

FULL, DELTA, SETTLE = "catalog_full_sync", "catalog_delta_sync", "catalog_settle"
PROMOTIONS, EXPORT, ORDERS = "promotions_sync", "assortment_export", "orders_fulfilment"
STORE = "store-001"
SETTLED_AFTER_RUNS = 10
FULFILLED_TIMEOUT_S = 240.0
FULFILLED = frozenset({"READY_FOR_PICKUP", "DISPATCHED", "PICKED_UP"})
SHOWN_MAX = 10
_OF_A_SYNC = ("put_catalog", "job_status", "log")


@dataclass(frozen=True)
class Told:
    """What came of a demo: figures and requests of both syncs, of the order, the promotion and the export, and the comparison."""

    full: tuple[dict[str, Any], Mapping[str, int]]
    delta: tuple[dict[str, Any], Mapping[str, int]]
    promotions: dict[str, Any]
    order: dict[str, Any]
    export: dict[str, Any]
    requests: Mapping[str, int]
    tables: dict[str, int]
    comparison: Comparison


def scenario(stack: RunningStack, say: Callable[[str], None]) -> Told:
    """All of it on a stack whose sample is made, side by side where nothing waits for the other."""
    from shelfsync.erp import sample
    from shelfsync.ledger.engine import create_engine

    erp, ours = sample_chain.open_erp(stack), create_engine(stack.addresses.database_url)
    sandbox = SandboxControl(stack.addresses.sandbox_url)
    try:
        with AirflowApi(stack) as airflow:
            switches.wait_parsed(stack, airflow)
            _finish_leftovers(stack, airflow, ours, say)
            before = sandbox.journal_end()
            order_id = _order(sandbox, sample.plentiful(erp, STORE, 3), say)
            airflow.unpause(ORDERS)  # from here on news starts it
            runs = {FULL: start(stack, airflow, FULL, say)}
            wait_ended(stack, airflow, runs, say)
            between = sandbox.journal_end()
            happened = sample.tick(erp, seed=airflow.runs(FULL))
            say(f"a quarter of an hour passes in the ERP: {happened.sold:,} products sold, {happened.restocked:,} restocked, "
                f"{happened.repriced + happened.repriced_in_store:,} repriced, {happened.listed} new, {happened.delisted} gone")  # fmt: skip
            name = f"Demo {dt.datetime.now(dt.UTC):%H:%M:%S}"
            sample.flash(erp, dt.datetime.now(dt.UTC), name=name)
            say(f"the ERP has a new campaign: {name}")
            second = {dag_id: start(stack, airflow, dag_id, say) for dag_id in (DELTA, PROMOTIONS)}
            wait_ended(stack, airflow, second, say)
            after = sandbox.journal_end()
            runs |= second
            runs[EXPORT] = start(stack, airflow, EXPORT, say)
            say("comparing the sandbox with the ERP, SKU by SKU")
            rows = sample_chain.rows(erp)
            comparison = compare(rows, {vendor: sandbox.products(vendor) for vendor in rows})
            wait_ended(stack, airflow, {EXPORT: runs[EXPORT]}, say)
            _wait_fulfilled(stack, airflow, ours, order_id, say)
        with ours.connect() as connection:
            keys = {dag_id: f"{dag_id}/{run_id}" for dag_id, run_id in runs.items()}
            return Told(
                full=(figures.run(connection, keys[FULL]), _of_a_sync(sandbox.requests_after(before, upto=between))),
                delta=(figures.run(connection, keys[DELTA]), _of_a_sync(sandbox.requests_after(between, upto=after))),
                promotions={
                    **figures.promotions(connection, keys[PROMOTIONS]),
                    "portal": [one for one in sandbox.promotions() if one["name"] == name],
                },
                order={**figures.order(connection, order_id), "platform": sandbox.order(order_id)},
                export=figures.export(connection, keys[EXPORT]),
                requests=sandbox.requests_after(before),
                tables=figures.tables(connection),
                comparison=comparison,
            )
    finally:
        erp.dispose()
        ours.dispose()
        sandbox.close()


def check(told: Told) -> None:
    """A ShelfsyncError unless every SKU sent has one outcome, the platform equals the ERP, and the rest has happened too."""
    for run, _ in (told.full, told.delta):
        if not run["sent"] == run["skus_sent"] == run["outcomes"]:
            raise ShelfsyncError(
                f"run {run['run_id']}: {run['skus_sent']} SKUs were sent, and the warehouse holds {run['outcomes']} outcomes"
            )
    if told.comparison.differences:
        shown = "; ".join(told.comparison.differences[:SHOWN_MAX])
        raise ShelfsyncError(f"the sandbox differs from the ERP in {len(told.comparison.differences)} SKUs: {shown}")
    if not told.comparison.equal:
        raise ShelfsyncError("the sandbox and the ERP have no SKU in common")
    if [one["state"] for one in told.promotions["portal"]] != ["Running"] or not told.promotions["portal"][0]["pairs"]:
        raise ShelfsyncError(f"the ERP's new campaign is no running promotion: {told.promotions['portal']}")
    if told.order["platform"]["status"] not in FULFILLED or told.order["status"] not in FULFILLED:
        raise ShelfsyncError(
            f"order {told.order['order_id']} is not fulfilled: {told.order['platform']['status']} on the platform, "
            f"{told.order['status']} in the warehouse"
        )
    if told.export["vendors"] != told.full[0]["vendors"] or not told.export["rows"]:
        raise ShelfsyncError(
            f"the export shows {told.export['rows']} SKUs of {told.export['vendors']} vendors; {told.full[0]['vendors']} were synced"
        )


def _order(sandbox: SandboxControl, skus: list[str], say: Callable[[str], None]) -> str:
    """A customer orders some of these in the app, as far as the app shows them."""
    shown = {one["sku"] for one in sandbox.products(STORE) if one["app"]["active"]}
    items = [{"sku": sku, "quantity": 1} for sku in skus if sku in shown]
    if not items:
        raise ShelfsyncError(f"no customer can order at {STORE}: the app shows none of {', '.join(skus)}")
    placed = sandbox.place_order(STORE, items)
    say(f"a customer orders {len(items)} products at {STORE}: {placed['order_id']}")
    return str(placed["order_id"])


def _wait_fulfilled(
    stack: RunningStack, airflow: AirflowApi, ours: sa.Engine, order_id: str, say: Callable[[str], None]
) -> None:
    """Returns once the platform has said that the order is picked; raises where a run for orders failed."""

    def fulfilled() -> bool:
        if failed := airflow.failed_run(ORDERS):
            raise failure(stack, airflow, ORDERS, failed)
        with ours.connect() as connection:
            return figures.order(connection, order_id)["status"] in FULFILLED

    stack.wait_for(
        fulfilled,
        what=f"order {order_id} to be fulfilled",
        timeout_s=FULFILLED_TIMEOUT_S,
        guilty="store-hub",
        every_s=1.0,
    )
    say(f"order {order_id} is fulfilled")


def _finish_leftovers(stack: RunningStack, airflow: AirflowApi, ours: sa.Engine, say: Callable[[str], None]) -> None:
    """What an interrupted demo left: runs in Airflow that would go on now, and jobs of which nobody heard the end."""
    for dag_id in (FULL, DELTA, SETTLE, PROMOTIONS, EXPORT, ORDERS):
        if left := airflow.fail_unfinished(dag_id):
            say(f"{dag_id}: {left} unfinished runs of an earlier time are given up")
    for _ in range(SETTLED_AFTER_RUNS):
        with ours.connect() as connection:
            lost = len(jobs.open_jobs(connection)) + len(batches.vendors_with_planned(connection))
        if not lost:
            return
        say(f"{lost} jobs of an earlier time are still open")
        run_dag(stack, airflow, SETTLE, say)


def _of_a_sync(requests: Mapping[str, int]) -> dict[str, int]:
    return {name: requests[name] for name in _OF_A_SYNC if name in requests}
