"""The whole path once, on a real Airflow: two syncs, a promotion, an order, an export, a summary; then everything stops."""

from __future__ import annotations

import datetime as dt
import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from shelfsync.catalog.ledger import batches
from shelfsync.catalog.ledger import jobs as catalog_jobs
from shelfsync.erp import sample
from shelfsync.errors import ConfigurationError, ShelfsyncError
from shelfsync.file_access import keep_private
from shelfsync.local import destination, figures, guide, sample_chain, services, switches
from shelfsync.local.airflow_api import AirflowApi, failure, run_dag, start, wait_ended
from shelfsync.local.comparison import compare
from shelfsync.local.figures import Figures
from shelfsync.local.mail_catcher import MailCatcher
from shelfsync.local.processes import resolved
from shelfsync.local.sandbox_control import SandboxControl
from shelfsync.local.services import STORE_HUB
from shelfsync.local.stack import StackOptions, running_stack
from shelfsync.local.state_folder import Place
from shelfsync.local.supervisor import ServiceFailedError
from shelfsync.secret_mask import mask_streams
from shelfsync.settings import read_settings
from shelfsync.settings.storage_fault import as_its_setting
from shelfsync.settings_file import local_command
from shelfsync.store.engine import create_engine

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import sqlalchemy as sa

    from shelfsync.local.stack import RunningStack
    from shelfsync.settings import Settings

FULL, DELTA, RECOVER = "catalog_full_sync", "catalog_delta_sync", "catalog_recover"
PROMOTIONS, EXPORT, ORDERS = "promotions_sync", "assortment_export", "orders_fulfilment"
STORE = "store-001"
RECOVERED_AFTER_RUNS = 10
FULFILLED_TIMEOUT_S = 1200.0
FULFILLED = frozenset({"READY_FOR_PICKUP", "DISPATCHED", "PICKED_UP"})
SHOWN_MAX = 10
MAILS = "mails.txt"
OPERATOR = "operator@example.com"
HELD_BY = "shifted_decimal"
"""The guard that holds a price a hundred times too high."""
REPORTED = ("shelfsync: warning: held changes wait", "shelfsync: over: held changes wait")
"""How the subjects of the operator's mails about the mistyped price begin."""
_OF_A_SYNC = ("put_catalog", "job_status", "log")
__all__ = ["DELTA", "FULL", "RECOVER", "demo", "demo_options", "main", "stack_options"]
UNSCHEDULED = (
    "FULL",
    "DELTA",
    "RECOVER",
    "HOLDS",
    "EXPORT",
    "PROMOTIONS",
    "PROMOTIONS_RECOVER",
    "HISTORY",
    "HOUSEKEEPING",
)
FIXED = {
    **{f"AIRFLOW__SHELFSYNC__{kind}_SCHEDULE": "none" for kind in UNSCHEDULED},
    "AIRFLOW__SHELFSYNC__ORDERS_SCHEDULE": "0 0 1 1 *",  # at news, and hardly ever else
    "AIRFLOW__SHELFSYNC__RETRY_DELAY_S": "10",
    "SHELFSYNC_LOCAL__PICKING_DELAY_S": "3",
}
"""What the demo sets, whatever the user's environment has: only what it starts runs, and every wait is short."""


def scenario(stack: RunningStack, catcher: MailCatcher, echo: Callable[[str], None]) -> Figures:
    """Runs the demo on a stack with the sample; independent parts run in parallel."""
    erp, ours = sample_chain.open_erp(stack), create_engine(stack.addresses.database_url)
    sandbox = SandboxControl(stack.addresses.sandbox_url)
    try:
        with AirflowApi(stack) as airflow:
            switches.wait_parsed(stack, airflow)
            _finish_leftovers(stack, airflow, ours, echo)
            before = sandbox.journal_end()
            order_id = _order(sandbox, sample.plentiful(erp, STORE, 3), echo)
            airflow.unpause(ORDERS)  # from here on news starts it
            runs = {FULL: start(stack, airflow, FULL, echo)}
            wait_ended(stack, airflow, runs, echo)
            between = sandbox.journal_end()
            happened = sample.tick(erp, seed=airflow.runs(FULL))
            echo(f"a quarter of an hour passes in the ERP: {happened.sold:,} products sold, {happened.restocked:,} restocked, "
                f"{happened.repriced + happened.repriced_in_store:,} repriced, {happened.listed} new, {happened.delisted} gone")  # fmt: skip
            name = f"Demo {dt.datetime.now(dt.UTC):%H:%M:%S}"
            sample.flash(erp, dt.datetime.now(dt.UTC), name=name)
            echo(f"the ERP has a new campaign: {name}")
            mistake = sample.mistype(erp, STORE, sample.plentiful(erp, STORE, 4)[-1])
            echo(f"a buyer mistypes a price: {mistake.sku} at {STORE} costs {mistake.amount:.2f} from now on")
            second = {dag_id: start(stack, airflow, dag_id, echo) for dag_id in (DELTA, PROMOTIONS)}
            wait_ended(stack, airflow, second, echo)
            after = sandbox.journal_end()
            runs |= second
            runs[EXPORT] = start(stack, airflow, EXPORT, echo)
            _look(stack, catcher, echo)
            sample.correct(erp, mistake)
            _command(
                stack,
                catcher,
                "holds",
                "decline",
                "--rule",
                HELD_BY,
                "--vendor",
                STORE,
                "--user",
                "demo",
                "--reason",
                "a slipped decimal point",
            )
            echo("the buyer corrects the price, and the operator declines what was held")
            _look(stack, catcher, echo)
            echo("comparing the sandbox with the ERP, SKU by SKU")
            rows = sample_chain.rows(erp)
            comparison = compare(rows, {vendor: sandbox.held(vendor) for vendor in rows})
            wait_ended(stack, airflow, {EXPORT: runs[EXPORT]}, echo)
            _wait_fulfilled(stack, airflow, ours, order_id, echo)
        with ours.connect() as connection:
            keys = {dag_id: f"{dag_id}/{run_id}" for dag_id, run_id in runs.items()}
            return Figures(
                full=(figures.run(connection, keys[FULL]), _of_a_sync(sandbox.requests_after(before, upto=between))),
                delta=(figures.run(connection, keys[DELTA]), _of_a_sync(sandbox.requests_after(between, upto=after))),
                promotions={
                    **figures.promotions(connection, keys[PROMOTIONS]),
                    "portal": [promotion for promotion in sandbox.promotions() if promotion["name"] == name],
                },
                order={**figures.order(connection, order_id), "platform": sandbox.order(order_id)},
                export=figures.export(connection, keys[EXPORT]),
                requests=sandbox.requests_after(before),
                tables=figures.tables(connection),
                comparison=comparison,
                mails=tuple(catcher.mails),
            )
    finally:
        erp.dispose()
        ours.dispose()
        sandbox.close()


def check(result: Figures) -> None:
    """Raises ShelfsyncError unless every SKU sent has one outcome, the platform equals the ERP, and each other step succeeded."""
    for run, _ in (result.full, result.delta):
        if not run["sent"] == run["skus_sent"] == run["outcomes"]:
            raise ShelfsyncError(
                f"run {run['run_id']}: {run['skus_sent']} SKUs were sent, and the warehouse holds {run['outcomes']} outcomes"
            )
    if result.comparison.differences:
        shown = "; ".join(result.comparison.differences[:SHOWN_MAX])
        raise ShelfsyncError(f"the sandbox differs from the ERP in {len(result.comparison.differences)} SKUs: {shown}")
    if not result.comparison.equal:
        raise ShelfsyncError("the sandbox and the ERP have no SKU in common")
    if [promotion["state"] for promotion in result.promotions["portal"]] != ["Running"] or not result.promotions[
        "portal"
    ][0]["pairs"]:
        raise ShelfsyncError(f"the ERP's new campaign is no running promotion: {result.promotions['portal']}")
    if result.order["platform"]["status"] not in FULFILLED or result.order["status"] not in FULFILLED:
        raise ShelfsyncError(
            f"order {result.order['order_id']} is not fulfilled: {result.order['platform']['status']} on the platform, "
            f"{result.order['status']} in the warehouse"
        )
    subjects = [mail.subject for mail in result.mails if "held changes" in mail.subject]
    if tuple(subject[: len(begin)] for subject, begin in zip(subjects, REPORTED, strict=False)) != REPORTED:
        raise ShelfsyncError(f"the mistyped price was not reported, and then as over: {subjects}")
    if result.export["vendors"] != result.full[0]["vendors"] or not result.export["rows"]:
        raise ShelfsyncError(
            f"the export shows {result.export['rows']} SKUs of {result.export['vendors']} vendors; {result.full[0]['vendors']} were synced"
        )


def _command(stack: RunningStack, catcher: MailCatcher, *words: str) -> None:
    """`shelfsync …` with the settings of this stack alone, and a route to the catcher."""
    foreign = services.split(os.environ, sample=True)[1]
    inherited = {name: value for name, value in os.environ.items() if name not in foreign}
    routes = json.dumps([{"name": "operator", "address": catcher.address(OPERATOR)}])
    config = str(stack.place.home / sample_chain.CONFIG)
    done = subprocess.run(  # noqa: S603  our own command
        [str(Path(sys.executable).with_name("shelfsync")), *words],
        env={**inherited, services.CONFIG: config, "SHELFSYNC_ALERTS__ROUTES": routes},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ShelfsyncError(f"shelfsync {' '.join(words)} ended with {done.returncode}: {done.stderr.strip()}")


def _look(stack: RunningStack, catcher: MailCatcher, echo: Callable[[str], None]) -> None:
    """One look of the watch, and what a person gets of it."""
    known = len(catcher.mails)
    _command(stack, catcher, "alerts", "watch")
    for mail in catcher.mails[known:]:
        echo(f"a mail to {mail.to}: {mail.subject}")


def _order(sandbox: SandboxControl, skus: list[str], echo: Callable[[str], None]) -> str:
    """A customer orders those of these SKUs that the app shows."""
    shown = {product["sku"] for product in sandbox.products(STORE) if product["app"]["active"]}
    items = [{"sku": sku, "quantity": 1} for sku in skus if sku in shown]
    if not items:
        raise ShelfsyncError(f"no customer can order at {STORE}: the app shows none of {', '.join(skus)}")
    placed = sandbox.place_order(STORE, items)
    echo(f"a customer orders {len(items)} products at {STORE}: {placed['order_id']}")
    return str(placed["order_id"])


def _wait_fulfilled(
    stack: RunningStack, airflow: AirflowApi, ours: sa.Engine, order_id: str, echo: Callable[[str], None]
) -> None:
    """Returns once the platform shows the order as picked; raises if a run for orders failed."""

    def fulfilled() -> bool:
        if failed := airflow.failed_run(ORDERS):
            raise failure(stack, airflow, ORDERS, failed)
        with ours.connect() as connection:
            return figures.order(connection, order_id)["status"] in FULFILLED

    stack.wait_for(
        fulfilled,
        what=f"order {order_id} to be fulfilled",
        timeout_s=FULFILLED_TIMEOUT_S,
        log_of="store-hub",
        every_s=1.0,
    )
    echo(f"order {order_id} is fulfilled")


def _finish_leftovers(stack: RunningStack, airflow: AirflowApi, ours: sa.Engine, echo: Callable[[str], None]) -> None:
    """Ends the remains of an interrupted demo: runs in Airflow that would continue, and jobs whose end no process has recorded."""
    for dag_id in (FULL, DELTA, RECOVER, PROMOTIONS, EXPORT, ORDERS):
        if left := airflow.fail_unfinished(dag_id):
            echo(f"{dag_id}: {left} unfinished runs of an earlier time are given up")
    for _ in range(RECOVERED_AFTER_RUNS):
        with ours.connect() as connection:
            lost = len(catalog_jobs.open_jobs(connection)) + len(batches.vendors_with_planned(connection))
        if not lost:
            return
        echo(f"{lost} jobs of an earlier time are still open")
        run_dag(stack, airflow, RECOVER, echo)


def _of_a_sync(requests: Mapping[str, int]) -> dict[str, int]:
    return {name: requests[name] for name in _OF_A_SYNC if name in requests}


def stack_options(settings: Settings, *, what: str) -> StackOptions:
    """The sample chain and the sandbox, whatever else is configured: it must never write to a real platform, ledger or lake."""
    program = services.SANDBOX_PROGRAM
    if not shutil.which(resolved((program,))[0]):
        raise ConfigurationError(
            program,
            "the sandbox of the platform is not installed",
            f"Run: pip install {program.replace('-', '_')}-{version('shelfsync')}-py3-none-any.whl, which lies beside the wheel of shelfsync.",
        )
    inherited, unused = services.split(os.environ, sample=True)
    secret = settings.webhook.secret
    return StackOptions(
        what=what,
        settings=sample_chain.settings(settings.home.absolute(), settings.local),
        environment=inherited,
        sandbox=True,
        sends_to=destination.SANDBOX,
        stand_ins=(STORE_HUB,),
        unused=unused,
        first_receiver_port=settings.webhook.port,
        webhook_secret=secret.get_secret_value() if secret else None,
    )


def demo_options(settings: Settings) -> StackOptions:
    """The sample chain of the demo, without customers that order by themselves."""
    wanted = stack_options(settings, what="make demo")
    other = [name for name, value in FIXED.items() if wanted.environment.get(name, value) != value]
    inherited = {name: value for name, value in wanted.environment.items() if name not in other}
    return replace(
        wanted,
        environment={**inherited, **FIXED},
        unused=sorted([*wanted.unused, *other]),
    )


def demo(settings: Settings, *, echo: Callable[[str], None]) -> tuple[Figures, list[str]]:
    """Runs the demo; returns its result and what to try next. Raises ShelfsyncError if a check fails."""
    place = Place(settings.home.absolute())
    options = demo_options(settings)
    with running_stack(place, options, echo=echo) as stack:
        stack.wait_ready()
        sample_chain.prepare(stack, echo)
        running = guide.running(stack, options)
        echo("everything is up, as long as this runs:")
        for line in guide.addresses(place, running):
            echo(f"  {line}")
        with MailCatcher(place.home / MAILS) as catcher:
            return scenario(stack, catcher, echo), list(guide.next_steps(place, running))


def main() -> int:
    """The command; returns its exit code."""
    keep_private()
    mask_streams()

    began_s = time.monotonic()

    def echo(text: str) -> None:
        print(f"demo {time.monotonic() - began_s:5.0f} s  {text}", flush=True)  # noqa: T201  this is what it is for

    try:
        with as_its_setting():
            result, steps = demo(read_settings(), echo=echo)
        check(result)
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
    for line in (
        *figures.lines(result),
        "",
        f"`{local_command('up')}` leaves all of it running; then",
        *steps,
    ):
        print(line)  # noqa: T201
    return 0
