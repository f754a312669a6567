"""`state …`: what persons decided and what the platform acknowledged, as one file for a new database."""

from __future__ import annotations

import json
import zipfile
import zlib
from pathlib import Path
from typing import Annotated

import typer

from shelfsync.cli.acting_user import user_or
from shelfsync.cli.command import Answer, DryRun, Replace, User, command, opened, subgroup
from shelfsync.store.named_file import NamedFile

app = subgroup("Move decisions, pauses, orders and baselines into a new database, also from one of another version.")

Written = Annotated[Path, typer.Argument(metavar="FILE", help="The file to write; only its owner may read it.")]
Read = Annotated[Path, typer.Argument(metavar="FILE", help="A file that `state save` wrote.")]
Unfinished = Annotated[
    bool,
    typer.Option("--unfinished", help="Save although jobs are open or events of orders wait; then a full sync is due."),
]

WithoutCustomers = Annotated[
    bool,
    typer.Option("--without-customers", help="Leave the orders' customers out: the key that encrypts them is lost."),
]


@command(app, "shelfsync state save shelfsync.state", "shelfsync state save shelfsync.state --unfinished --json")
def save(file: Written, unfinished: Unfinished = False, replace: Replace = False) -> Answer:
    """Write the state of a database to a file: holds and decisions, pauses, restorations, promotions, orders, alerts, and baselines.

    It also reads a database that another version made, and changes nothing. Customers' data stays encrypted in the file.
    """
    from shelfsync.app import open_database
    from shelfsync.saved_state.save import save as write
    from shelfsync.settings import read_settings

    target = NamedFile(file, "FILE", "a saved state", _is_saved_state, replace, private=True)
    target.check()
    settings = read_settings()
    with open_database(settings) as (engine, lake), target.writing() as incomplete:
        manifest = write(engine, lake, incomplete, chain=settings.chain, unfinished=unfinished)
    rows = {table: found.rows for table, found in manifest.tables.items()}
    lines = [
        f"{file}: the state of revision {manifest.revision}",
        *_counts(rows),
        f"  {manifest.files:>12,}  files of the lake",
    ]
    lines += [f"{table}: this database has no such table" for table in manifest.absent]
    if manifest.missing:
        lines.append(f"{manifest.missing} files are not in the lake any more, and not in the file")
    if manifest.going_on:
        what = " and ".join(f"{count} {name}" for name, count in manifest.going_on.items())
        lines.append(f"{what}: stop the services before the new installation starts, or both go on with them")
    if not manifest.paused:
        lines.append(
            "the chain is not paused: what it sends from now on is not in the file; `shelfsync pause --all` stops it"
        )
    return Answer({**manifest.model_dump(mode="json", exclude={"sha256"}), "tables": rows}, lines)


@command(app, "shelfsync state load shelfsync.state --dry-run", "shelfsync state load shelfsync.state --user ada")
def load(file: Read, without_customers: WithoutCustomers = False, dry_run: DryRun = False, user: User = None) -> Answer:
    """Load a saved state into an empty database. The whole file is checked before one row is written; a second time does nothing.

    --dry-run checks file, database and lake, and creates nothing.
    """
    from shelfsync.app import open_for_dry_run
    from shelfsync.orders.encryption import CustomerCipher
    from shelfsync.saved_state.load import can_load, checked
    from shelfsync.saved_state.load import load as write
    from shelfsync.settings import read_settings

    settings = read_settings()
    reads = CustomerCipher(settings.orders).reads
    plan = checked(file, chain=settings.chain, reads=reads, without_customers=without_customers)
    if dry_run:
        with open_for_dry_run(settings) as (engine, lake):
            done = can_load(engine, lake, file, plan)
        if engine is None:
            plan.notes.append("the database has no tables of shelfsync yet: `state load` without --dry-run makes them")
    else:
        with opened(read_only=True, begins=True) as context:
            done = write(context.engine, context.lake, file, plan, who=user_or(user))
    data = {"loaded": done and not dry_run, "rows": plan.rows, "files": plan.manifest.files, "notes": plan.notes}
    if not done:
        return Answer(data, [f"{file} was loaded into this database before; nothing was done"])
    head = f"{file}, saved {plan.manifest.saved_at.isoformat()}, {'would be loaded' if dry_run else 'is loaded'}:"
    return Answer(data, [head, *_counts(plan.rows), f"  {plan.manifest.files:>12,}  files of the lake", *plan.notes])


def _counts(rows: dict[str, int]) -> list[str]:
    return [f"  {count:>12,}  {table}" for table, count in rows.items() if count]


def _is_saved_state(file: Path) -> bool:
    from shelfsync.saved_state.manifest import KIND, MANIFEST

    try:
        with zipfile.ZipFile(file) as archive:
            return bool(json.loads(archive.read(MANIFEST))["kind"] == KIND)
    except (
        OSError,
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        KeyError,
        ValueError,
        TypeError,
        RuntimeError,
    ):
        return False
