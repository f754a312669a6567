"""`shelfsync plan` and `shelfsync apply`: look first, then send exactly that."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Annotated

import typer

from shelfsync.cli.house import house
from shelfsync.cli.options import AsJson, Full, Vendors  # noqa: TC001  typer reads annotations
from shelfsync.cli.output import print_told, telling
from shelfsync.cli.run import end_with, reported

Out = Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write the plan to this file, for `apply`.")]
File = Annotated[Path, typer.Argument(metavar="FILE", help="A plan that `plan --out` wrote.")]


def plan(vendor: Vendors = None, full: Full = False, out: Out = None, as_json: AsJson = False) -> None:
    """Show what a sync would send. Sends nothing: its client cannot change the platform."""
    vendors = tuple(vendor or ())
    with house(read_only=True) as opened:
        opened.check(vendors)
        run_id = opened.open_run("full" if full else "delta", f"cli/{uuid.uuid4()}", vendors, dry_run=True)
        with telling() as tell:
            summary = reported(opened, run_id, lambda: opened.sync(run_id, dry_run=True, tell=tell))
    lines = summary.pop("lines")
    if out is not None:
        from shelfsync.flow.plan import write

        write(summary["plan"], out)
        lines.append(f"written to {out}; `shelfsync apply {out}` sends exactly this, or says what has moved")
    print_told(summary, as_json, lines)
    end_with(summary)


def apply(file: File, as_json: AsJson = False) -> None:
    """Send exactly what a plan says. When ERP, baseline or configuration have moved since, say what moved and send nothing."""
    from shelfsync.flow.plan import read

    document = read(file)
    vendors = tuple(found["vendor"] for found in document["vendors"])
    with house() as opened:
        opened.check(vendors)
        run_id = opened.open_run(document["kind"], f"cli/{uuid.uuid4()}", vendors)
        with telling() as tell:
            summary = reported(opened, run_id, lambda: opened.apply(document, run_id, tell))
    print_told(summary, as_json, summary.pop("lines"))
    end_with(summary)
