"""`status`, `quarantine`, `runs`, `explain`, `doctor`: the state of every vendor, run and SKU, and the reasons."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from shelfsync import display
from shelfsync.cli.command import (
    Answer,
    At,
    Limit,
    OneVendor,
    Replace,
    Sku,
    Vendor,
    command,
    only_reading,
    opened,
    subgroup,
)
from shelfsync.store.named_file import ALL_MAY_READ, NamedFile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shelfsync.context import Context
    from shelfsync.terminal import FittedTable

runs = subgroup("The runs of the catalog: what each did, and what to run next.")

Run = Annotated[int, typer.Argument(metavar="RUN", help="Number of the run.")]
Kind = Annotated[Literal["full", "delta"] | None, typer.Option("--kind", help="Only runs of this kind.")]
Output = Annotated[
    Path | None,
    typer.Option("--output", metavar="FILE", help="The file, such as shelfsync.prom; else standard output."),
]
Gathered = Annotated[Path, typer.Argument(metavar="FILE", help="The file to write; only its owner may read it.")]
QuarantineReason = Annotated[
    str | None, typer.Option("--reason", metavar="KEYWORD", help="Only this reason, such as price_decimal_comma.")
]
State = Annotated[
    Literal["running", "succeeded", "partly", "partly_failed", "failed"] | None,
    typer.Option("--state", help="Only runs of this state."),
]


def status() -> Answer:
    """The state of every vendor: each row of the ERP in one column, and the age of the oldest change.

    Above it pauses, restorations, alarms, and that no route of alerts is set; below it the time to the acknowledgement, the forecast, the use of the request limit, and orders.
    """
    with opened() as context:
        result = read_status(context)
    return Answer(result, [*status_lines(result)])


def metrics(output: Output = None, replace: Replace = False) -> Answer:
    """Gauges for Prometheus: open alerts of each kind, SKUs in each state, the oldest change. --output writes a file for the node exporter."""
    from shelfsync import metrics as numbers
    from shelfsync.alert_conditions import watch as alert_watch
    from shelfsync.catalog.steps.status import report_gauges

    file = output and NamedFile(output, "--output", "a file of `shelfsync metrics`", _is_metrics, replace, ALL_MAY_READ)
    if file:
        file.check()
    with opened() as context:
        sink = numbers.Prometheus(context.settings.metrics.prefix, context.settings.chain)
        numbers.use(sink)
        alert_watch.report_gauges(context)
        report_gauges(context)
        numbers.use(None)
    if not file:
        return Answer(sink.values(), sink.text().splitlines())
    with file.writing() as incomplete:
        incomplete.write_text(sink.text(), "utf-8")
    return Answer(sink.values(), [f"{len(sink.values())} metrics are in {output}"])


def _is_metrics(file: Path) -> bool:
    """By its first line, which names the first metric."""
    with file.open("rb") as opened_file:
        return opened_file.read(7) == b"# HELP "


def doctor(file: Gathered, replace: Replace = False) -> Answer:
    """Gather what a maintainer needs into one file: versions, settings, check, sizes, runs, alerts, ends of logs.

    It has no secret, no content of an order, and of persons who decided no name after the word "by". Read it before you pass it on.
    """
    from shelfsync.app import open_database
    from shelfsync.doctor import gathered
    from shelfsync.settings import read_settings

    target = NamedFile(file, "FILE", "a file of `shelfsync doctor`", _is_gathered, replace, private=True)
    target.check()
    settings = read_settings()
    with only_reading():  # a migration would change what a maintainer wants to see, and may end older workers
        found = gathered(settings.home, opened, lambda: open_database(settings))
    with target.writing() as incomplete:
        incomplete.write_text(json.dumps(found, indent=1, default=str, ensure_ascii=False), "utf-8")
    failed = [f"{name}: {part['error']}" for name, part in found.items() if isinstance(part, dict) and "error" in part]
    return Answer({"file": str(file), "failed": failed}, [f"{file} is written: read it before you pass it on", *failed])


def _is_gathered(file: Path) -> bool:
    with file.open("rb") as opened_file:
        return b'"kind": "shelfsync doctor"' in opened_file.read(100)


def read_status(context: Context) -> dict[str, Any]:
    """What `catalog.steps.overview.overview` returns, `"orders": {...}` as `orders.steps.watch.order_gauges` returns it, and `"warnings"`."""
    from shelfsync.catalog.steps.overview import overview as of_catalog
    from shelfsync.check import no_route
    from shelfsync.orders.steps.watch import order_gauges

    with context.engine.connect() as connection:
        orders = order_gauges(connection, context.settings.orders)
    return {**of_catalog(context), "orders": orders, "warnings": no_route(context.settings)}


def quarantine(vendor: OneVendor = None, reason: QuarantineReason = None, limit: Limit = 1) -> Answer:
    """Rows and values of the ERP that cannot be sent, by vendor and reason, as the last run or plan of each vendor found them; --limit examples of each."""
    from shelfsync.catalog.warehouse import quarantine as of_warehouse

    with opened() as context, context.engine.connect() as connection:
        found = of_warehouse.groups(connection, vendor=vendor, reason=reason, examples=limit)
    return Answer({"quarantined": found}, [*of_warehouse.lines(found)] or ["nothing is quarantined"])


def explain(vendor: Vendor, sku: Sku, at: At = None) -> Answer:
    """Why the platform shows a SKU as it does, what customers pay, what comes next, and what happened."""
    from shelfsync.explain.explain import explain as explanation
    from shelfsync.terminal import timeline_table

    with opened() as context:
        result = explanation(context, vendor, sku, at=at)
    head = [f"{display.product(sku, result.name)}:"] if result.name else []
    return Answer(result.as_dict(), [*head, result.sentence, *result.promotions_wait, timeline_table(result.events)])


@command(runs, "shelfsync runs list", "shelfsync runs list --state failed --limit 5", name="list")
def list_runs(limit: Limit = 20, kind: Kind = None, state: State = None) -> Answer:
    """The last runs, newest first: kind, state, when each began and ended, and its counts."""
    from shelfsync.catalog.steps import run_history

    with opened() as context:
        found = run_history.listed(context, limit=limit, kind=kind, state=state)
    return Answer({"runs": found}, run_history.lines(found) or ["there is no run yet"])


@command(runs, "shelfsync runs show 12", "shelfsync runs show 12 --json")
def show(run: Run) -> Answer:
    """One run: its vendors with their states and errors, what it holds, and the next command to run."""
    from shelfsync.catalog.steps import run_history

    with opened() as context:
        found = run_history.shown(context, run)
    return Answer(found, run_history.details(found))


def status_lines(result: dict[str, Any]) -> Iterator[str | FittedTable]:
    """What `shelfsync status` prints of `read_status`."""
    from shelfsync import outages
    from shelfsync.terminal import orders_lines, status_tables

    yield result["sentence"]
    for label, found in (
        ("PAUSED", result["paused"]),
        ("RESTORED", result["restorations"]),
        ("ALARM", result["alarms"]),
        ("AWAY", outages.lines(result["outages"])),
        ("ABSENT", result["absent"]),
        ("WARNING", result["warnings"]),
    ):
        yield from (f"{label}: {line}" for line in found)
    yield from status_tables(result)
    if result["forecast"]["requests"] or result["forecast"]["waiting"]:
        yield f"on their way: {result['forecast']['sentence']}"
    if result["requests"]["requests"]:
        yield f"requests: {result['requests']['sentence']}"
    yield from orders_lines(result["orders"])
