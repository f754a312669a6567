"""`config`, `up`, `down`, `demo`: this machine, its settings and everything that runs on it."""

from __future__ import annotations

import typer

from shelfsync.cli.command import command
from shelfsync.cli.output import Answer

config = typer.Typer(help="The settings of this machine.", no_args_is_help=True)


@command(config, "shelfsync config show", "shelfsync config show --json")
def show() -> Answer:
    """Every setting with its value and where it comes from. Secrets are shown as ***."""
    from shelfsync.settings.reading import shown_settings

    found = shown_settings()
    return Answer({"settings": found}, [_line(**row) for row in found])


def up() -> None:
    """Start everything on this machine and leave it running: database, Airflow, receiver, sandbox, sample ERP."""
    from shelfsync.local import up as stack

    raise typer.Exit(stack.main())


def down() -> None:
    """Stop what `up` started."""
    from shelfsync.local import down as stack

    raise typer.Exit(stack.main())


def demo() -> None:
    """Run a full sync, a change in the ERP and a delta sync on a real Airflow; print the result and stop everything."""
    from shelfsync.local import demo as stack

    raise typer.Exit(stack.main())


def _line(*, name: str, value: object, source: str, connection: str | None, **_: object) -> str:
    given = "not set" if value is None else "yes" if value is True else "no" if value is False else value
    more = f"; in Airflow the connection {connection}, if there is one" if connection and source == "default" else ""
    return f"{name} = {given}  ({source}{more})"
