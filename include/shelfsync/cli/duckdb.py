"""`shelfsync duckdb`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shelfsync.cli.house import house
from shelfsync.cli.options import AsJson  # noqa: TC001
from shelfsync.cli.output import print_told

File = Annotated[Path, typer.Argument(help="The file to write; one that is there is replaced.")]


def duckdb(file: File, as_json: AsJson = False) -> None:
    """Write the warehouse as one DuckDB file, with the same tables and views: for notebooks, and where there is no server."""
    with house() as opened:
        told = opened.write_duckdb(file)
    print_told(told, as_json, [f"{file}:", *(f"  {rows:>12,}  {name}" for name, rows in told.items())])
