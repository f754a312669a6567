"""The runs of the catalog: what each did stage by stage, with the rows behind each number as a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from fastapi import HTTPException, Request
from starlette.responses import HTMLResponse, StreamingResponse
from starlette.status import HTTP_404_NOT_FOUND

from shelfsync.catalog.state import RunState
from shelfsync.catalog.steps import run_history
from shelfsync.catalog.steps.rows_of_run import COLUMNS, Stage, observed, rows_of_run
from shelfsync.errors import DataError
from shelfsync.pages.charts import Bar, Bars
from shelfsync.pages.lists import Column, Field, list_file, list_values
from shelfsync.pages.rows_file import ROWS as ROWS_OF_FILE
from shelfsync.pages.rows_file import rows_file
from shelfsync.pages.shell import Number, Page, Text, context, sentence, show, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

RUNS = Page("/runs", "Runs", ("catalog_full_sync", "catalog_delta_sync", "catalog_urgent_sync", "catalog_recover"))

ROWS = 50
"""Runs on a page: the numbers of each are counted over its stores."""
STORES = 200
"""Stores of a run that its page names, those with an error first."""
AGAIN_S = 10
"""After so many seconds the page of a run at work reads it again."""

_COUNTS = {
    Stage.EXTRACTED: "rows_read",
    Stage.CHANGED: "skus_changed",
    Stage.HELD: "skus_held",
    Stage.SENT: "sent",
    Stage.ACCEPTED: "accepted",
    Stage.REJECTED: "rejected",
    Stage.UNACCOUNTED: "unaccounted",
}
_TONES = {Stage.HELD: "note", Stage.ACCEPTED: "good", Stage.REJECTED: "bad", Stage.UNACCOUNTED: "note"}
_KINDS = {"full": "full", "delta": "delta"}
_STATES = {str(state): state.replace("_", " ") for state in RunState}
_FIELDS = (Field("kind", "kind", _KINDS), Field("state", "state", _STATES))
_COLUMNS = (
    Column("run_id", "run", "run"),
    Column("kind", "kind"),
    Column("state", "state", "state", _STATES),
    Column("began_at", "began", "when"),
    Column("took", "took", "age"),
    Column("vendors", "stores", "number"),
    Column("rows_read", "read", "number"),
    Column("skus_changed", "changed", "number"),
    Column("skus_held", "held", "number"),
    Column("sent", "sent", "number"),
    Column("accepted", "accepted", "number"),
    Column("rejected", "rejected", "number"),
    Column("error", "error", "long"),
)


@RUNS.router.get("/runs")
def runs(request: Request) -> HTMLResponse:
    """What `shelfsync runs list` has."""
    values = list_values(request, run_history.RUNS, RUNS.path, _FIELDS, _COLUMNS, most=ROWS)
    values["rows"] = [row | {"kind": _kind(row), "took": _took(row)} for row in values["rows"]]
    empty = "There is no such run." if values["asked"].filters else "There is no run yet."
    return show(request, "list.html", title=RUNS.title, chips=(), empty=empty, **values)


@RUNS.router.get("/runs.csv")
def runs_file(request: Request) -> StreamingResponse:
    """All runs that the page has with this filter."""
    return list_file(request, run_history.RUNS, "runs.csv")


@RUNS.router.get("/runs/{number}")
def run(request: Request, number: Number) -> HTMLResponse:
    """What `shelfsync runs show` has, and how many rows reached each stage."""
    app = context(request)
    try:
        found = run_history.shown(app, number)
    except DataError as error:
        raise HTTPException(HTTP_404_NOT_FOUND, sentence(error)) from None
    stores = sorted(found["of_vendors"], key=lambda row: (row["error"] is None, row["vendor"]))
    return show(
        request,
        "run.html",
        title=f"Run {number}",
        run=found,
        stores=stores[:STORES],
        more=len(stores) - STORES,
        funnel=funnel(found, observed(app, number, found["accepted"])),
        at_work=found["state"] == RunState.RUNNING and found["alive"],
        again_s=AGAIN_S,
        in_airflow=_in_airflow(found["run_key"]),
    )


@RUNS.router.get("/runs/{number}/rows.csv")
def rows(request: Request, number: Number, stage: Stage, vendor: Text = "") -> StreamingResponse:
    """The rows that reached a stage, of one store or of all. 404: there is no such run, or its rows are no longer kept."""
    app = context(request)
    try:
        run_history.shown(app, number)
        pages = rows_of_run(app, number, stage, vendor=vendor or None, most=ROWS_OF_FILE)
        return rows_file(app, COLUMNS, pages, f"run-{number}-{stage}.csv")
    except DataError as error:
        raise HTTPException(HTTP_404_NOT_FOUND, sentence(error)) from None


def funnel(found: dict[str, Any], seen: int | None) -> Bars:
    """From the rows that were read to what an observation showed."""
    path = f"/runs/{found['run_id']}/rows.csv?stage="
    bars = [
        Bar(stage, found[name], shown(found[name]), _TONES.get(stage, ""), path + stage)
        for stage, name in _COUNTS.items()
    ]
    bars.append(
        Bar(Stage.OBSERVED, seen or 0, "in the file" if seen is None else shown(seen), "good", path + Stage.OBSERVED)
    )
    note = "An observation is the platform's own export or listing after the change."
    return Bars("What became of the rows", ("stage", "rows"), tuple(bars), note=note)


def _kind(row: Mapping[str, Any]) -> str:
    return ", ".join([row["kind"], *(["urgent"] if row["urgent"] else []), *(["dry"] if row["dry_run"] else [])])


def _took(row: Mapping[str, Any]) -> float | None:
    """Seconds; None while it is at work."""
    return None if row["ended_at"] is None else (row["ended_at"] - row["began_at"]).total_seconds()


def _in_airflow(run_key: str) -> str | None:
    """The path of its run in Airflow; None: the command line has started it."""
    dag_id, _, run_id = run_key.partition("/")
    return f"/dags/{quote(dag_id, safe='')}/runs/{quote(run_id, safe='')}" if dag_id.startswith("catalog_") else None
