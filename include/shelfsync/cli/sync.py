"""`check`, `plan`, `apply`, `sync`, `recover`, `export`: the path of the catalog, without Airflow."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shelfsync.cli.command import Answer, Full, Replace, Skus, Vendors, opened, print_answer, print_error, progress
from shelfsync.cli.run_exit import failures, partly, summed
from shelfsync.errors import HeldError, ShelfsyncError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlalchemy.engine import Connection

    from shelfsync.catalog.column_reading import ColumnReadings
    from shelfsync.context import Context
    from shelfsync.terminal import FittedTable

Out = Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write the plan to this file, for `apply`.")]
Watch = Annotated[
    bool,
    typer.Option(
        "--watch", help="Go on: look for changes every few seconds and send them, until the process is ended."
    ),
]
File = Annotated[Path, typer.Argument(metavar="FILE", help="A plan that `plan --out` wrote.")]


def check(vendor: Vendors = None) -> Answer:
    """Try database, ERP and platform, and report in one line what is wrong with the configuration.

    It shows what it understands of each column in the ERP's first rows.
    """
    from shelfsync.catalog.column_reading import ColumnReadings
    from shelfsync.check import check as check_all
    from shelfsync.check import (
        column_warnings,
        file_warnings,
        lake_warnings,
        promotion_warnings,
        value_warnings,
        vendor_id_lines,
        vendor_warnings,
        warnings,
    )
    from shelfsync.receiver.database_role import older_role_lines

    vendors, columns = tuple(vendor or ()), ColumnReadings()
    with opened(reports=True, begins=True) as context:
        broken = check_all(context, vendors)
        stores = context.open_erp().stores()
        ids = vendor_id_lines(context, stores)
        found = [
            *vendor_warnings(context, stores, vendors),
            *file_warnings(context),
            *lake_warnings(context),
            *column_warnings(context),
            *value_warnings(context, columns),
            *promotion_warnings(context),
            *warnings(context),
            *older_role_lines(context.engine),
        ]
    lines: list[str | FittedTable] = [
        "database, ERP and platform answer; nothing was sent",
        *ids,
        *_columns_table(columns, "understood of the ERP's first {rows} rows"),
        *(f"store {store} fails: {why}" for store, why in broken.items()),
        *(f"warning: {line}" for line in found),
    ]
    answer = {"ok": not broken, "stores": stores, "failed": broken, "columns": columns.documents(), "warnings": found}
    return Answer(answer, lines, partly({"failed": broken}), failures(broken))


def plan(vendor: Vendors = None, full: Full = False, out: Out = None, replace: Replace = False) -> Answer:
    """Show what a sync would send, and what was understood of each column of the ERP.

    It sends nothing: its client cannot change the platform.
    """
    from shelfsync.catalog.column_reading import ColumnReadings
    from shelfsync.catalog.steps.plan import named, write
    from shelfsync.catalog.steps.sync import sync as run_steps
    from shelfsync.check import check as check_all
    from shelfsync.check import column_warnings, vendor_warnings

    vendors, columns = tuple(vendor or ()), ColumnReadings()
    if out is not None:
        named(out, replace=replace).check()
    with opened(read_only=True, reports=True) as context:
        check_all(context, vendors)
        found = [*vendor_warnings(context, context.open_erp().stores(), vendors), *column_warnings(context)]
        run_id = _open_run(context, _kind(full), vendors, dry_run=True)
        with progress() as report:
            summary = _reported(
                context, run_id, lambda: run_steps(context, run_id, dry_run=True, progress=report, columns=columns)
            )
    summary |= {"columns": columns.documents(), "warnings": found}
    table = _columns_table(columns, "understood of the {rows} rows that the ERP gave")
    lines: list[str | FittedTable] = [*summary.pop("lines"), *table, *(f"warning: {line}" for line in found)]
    if out is not None:
        write(summary["plan"], out, replace=replace)
        lines.append(f"written to {out}; `shelfsync apply {out}` sends exactly this, or reports what has changed since")
    return summed(summary, lines)


def apply(file: File) -> Answer:
    """Send exactly what a plan contains. If ERP, baseline or configuration changed since, report that and send nothing."""
    from shelfsync.catalog.steps.apply import apply as send
    from shelfsync.catalog.steps.plan import read
    from shelfsync.check import check as check_all

    plan = read(file)
    vendors = tuple(found.vendor for found in plan.vendors)
    with opened(reports=True) as context, showing_holds(context, _of_vendors(vendors)):
        with _beginning(context, plan.kind, vendors):
            check_all(context, vendors)
        run_id = _open_run(context, plan.kind, vendors)
        with progress() as report:
            summary = _reported(context, run_id, lambda: send(context, plan, run_id, report))
    return summed(summary)


def sync(vendor: Vendors = None, sku: Skus = None, full: Full = False, watch: Watch = False) -> Answer:
    """Make the platform equal to the ERP, and wait for the result of every SKU.

    With --sku: send only these SKUs of the vendors named, at once. Everything else waits for the next delta.
    With --watch: go on for ever. It needs SHELFSYNC_ERP__CHANGES_SQL or SHELFSYNC_ERP__CHANGES_FILES, and `shelfsync sync --full` once a day beside it.
    """
    from shelfsync.catalog.steps.sync import sync as run_steps
    from shelfsync.catalog.steps.urgent import clear_the_way
    from shelfsync.check import check as check_all

    vendors, skus = tuple(vendor or ()), tuple(sku or ())
    if watch:
        if vendors or skus or full:
            raise typer.BadParameter(
                "it is about every vendor and every change; leave out the others", param_hint="--watch"
            )
        return _watch()
    with opened(reports=True) as context, showing_holds(context, _of_vendors(vendors)):
        with _beginning(context, _kind(full), vendors, skus):
            check_all(context, vendors)
            if skus:
                asyncio.run(clear_the_way(context, vendors))
        run_id = _open_run(context, _kind(full), vendors, skus=skus)
        with progress() as report:
            summary = _reported(context, run_id, lambda: run_steps(context, run_id, dry_run=False, progress=report))
    return summed(summary)


@contextlib.contextmanager
def showing_holds(context: Context, waits: Callable[[Connection], dict[str, Any] | None]) -> Iterator[None]:
    """If the block raises an error, what waits for a person is a line beside it: no hold expires unseen while the ERP cannot be read."""
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except ShelfsyncError:
        with contextlib.suppress(SQLAlchemyError, ShelfsyncError):
            with context.engine.connect() as connection:
                found = waits(connection)
            if found is not None:
                print_error(HeldError(found["line"]))
        raise


def _of_vendors(vendors: tuple[str, ...]) -> Callable[[Connection], dict[str, Any] | None]:
    from shelfsync.catalog.steps import hold_lists

    return lambda connection: hold_lists.waits(connection, vendors, run_id=0)


def _watch() -> Answer:
    """Runs deltas until SIGTERM, which lets the run at hand end."""
    from shelfsync.catalog.steps.sync import sync as run_steps
    from shelfsync.catalog.steps.wait_limit import WAIT_S
    from shelfsync.catalog.steps.watch import watch as look
    from shelfsync.check import check as check_all

    ending: list[int] = []
    with opened() as context:
        with _beginning(context, "delta", ()):
            check_all(context)

        def start() -> dict[str, Any]:
            run_id = _open_run(context, "delta", ())
            return _reported(
                context,
                run_id,
                lambda: run_steps(context, run_id, dry_run=False, progress=lambda *_: None, wait_s=WAIT_S),
            )

        asked: list[Any] = []

        def ended(summary: dict[str, Any]) -> None:
            if summary["vendors"]:
                print_answer(Answer(summary, summary["lines"]), as_json=False)
            waits = summary["waits"]
            now = [waits[name] for name in ("holds", "newest", "expired")] if waits else []
            if waits and now != asked:  # else the same line would follow each run
                print_error(HeldError(waits["line"]))
            asked[:] = now

        before = signal.signal(signal.SIGTERM, lambda number, _: ending.append(number))
        try:
            number = look(
                context, start, every_s=context.settings.sync.watch_s, stopping=lambda: bool(ending), ended=ended
            )
        finally:
            signal.signal(signal.SIGTERM, before)
    return Answer({"runs": number}, [f"{number} runs; ended by a signal"])


def recover() -> Answer:
    """Finish what events, tasks and processes lost: open jobs, and batches never sent."""
    from shelfsync.catalog.steps.recover import recover as recover_all

    with opened() as context:
        result = recover_all(context)
    first = f"{result['confirmed']} jobs confirmed, {result['acknowledged']} acknowledged"
    line = f"{first}, {result['delivered']} batches sent, {result['open']} jobs open"
    return Answer(
        result,
        [line, *(f"vendor {vendor}: {reason}" for vendor, reason in result["failed"].items())],
        partly(result),
        failures(result["failed"]),
    )


def export(vendor: Vendors = None) -> Answer:
    """Fetch the platform's export, compare it with what is wanted, and let the next delta send what differs."""
    from shelfsync.catalog.steps.sync import export_all

    with opened(reports=True) as context, progress() as report:
        summary = export_all(context, _key(), tuple(vendor or ()), progress=report)
    return summed(summary)


def _columns_table(columns: ColumnReadings, title: str) -> list[FittedTable]:
    """One row for each column of the ERP, if any was read; `{rows}` in the title is their number."""
    from shelfsync.catalog.column_reading import HEADINGS, MAY_GO, table_rows
    from shelfsync.terminal import FittedTable

    found = columns.rows()
    rows = max((one.rows for one in found), default=0)
    return [FittedTable(HEADINGS, table_rows(found), title.format(rows=f"{rows:,}"), MAY_GO)] if rows else []


def _kind(full: bool) -> str:
    return "full" if full else "delta"


def _key() -> str:
    return f"cli/{uuid.uuid4()}"


def _open_run(
    context: Context, kind: str, vendors: tuple[str, ...], *, skus: tuple[str, ...] = (), dry_run: bool = False
) -> int:
    from shelfsync.catalog.steps.run import open_run

    return open_run(context, kind=kind, key=_key(), vendors=vendors, skus=skus, dry_run=dry_run)


def _beginning(
    context: Context, kind: str, vendors: tuple[str, ...], skus: tuple[str, ...] = ()
) -> contextlib.AbstractContextManager[None]:
    from shelfsync.catalog.steps.run import beginning

    return beginning(context, kind=kind, key=_key(), vendors=vendors, skus=skus, dry_run=False)


def _reported(context: Context, run_id: int, run_steps: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The run's summary. If the run raises an error, it is recorded as failed first."""
    from shelfsync.catalog.steps.run import report

    try:
        return run_steps()
    except ShelfsyncError:
        report(context, run_id)
        raise
