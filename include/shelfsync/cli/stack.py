"""`shelfsync up`, `down` and `demo`: everything on this machine."""

from __future__ import annotations

import typer


def up() -> None:
    """Start everything on this machine and leave it running: database, Airflow, receiver, sandbox, sample ERP."""
    from shelfsync.stack import up as stack

    raise typer.Exit(stack.main())


def down() -> None:
    """Stop what `up` started."""
    from shelfsync.stack import down as stack

    raise typer.Exit(stack.main())


def demo() -> None:
    """A full sync, a change in the ERP, a delta sync, on a real Airflow; prints what came of it and stops everything."""
    from shelfsync.stack import demo as stack

    raise typer.Exit(stack.main())
