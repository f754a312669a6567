"""Files of changes: what became of each, written in the transaction that lands its rows (I14), so that each is taken once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from shelfsync.catalog.ledger import readings
from shelfsync.erp.change_file_state import DONE, REST_S, ChangeFile, FileState
from shelfsync.errors import Alarm, DataError
from shelfsync.store.bulk import among
from shelfsync.store.metadata import after, count, flag, instant, line, metadata, moment, number, text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy.engine import Connection

change_file = sa.Table(
    "change_file",
    metadata,
    text("file", "Where it is", primary_key=True),
    text("sequence", "The vendor in its address, or empty; files of one sequence are taken in order", nullable=False),
    text("stamp", "Its size and time, as last seen", nullable=False),
    text("state", "waiting, taken, quarantined or again", nullable=False),
    line("reason", "Why it waits or is quarantined"),
    count("rows", "How many rows were taken"),
    flag("closed", "A later reading of the whole has its rows"),
    number("run_id", "The run that saw it so"),
    moment("seen_at", "Since when it is so", nullable=False),
    schema="ledger",
    comment="Files of changes that were seen; only with SHELFSYNC_ERP__CHANGES_FILES",
)
_FILE = change_file.c


def known(connection: Connection) -> dict[str, ChangeFile]:
    """Every file that is known, by its path."""
    rested = sa.and_(_FILE.state == FileState.WAITING, _FILE.seen_at <= after(-REST_S))
    statement = sa.select(_FILE.file, _FILE.sequence, _FILE.stamp, _FILE.state, _FILE.reason, _FILE.rows, rested)
    return {
        row.file: ChangeFile(row.file, row.sequence, row.stamp, FileState(row.state), row.reason, row.rows, row[-1])
        for row in connection.execute(statement)
    }


def write(connection: Connection, run_id: int, before: Mapping[str, ChangeFile], now: Mapping[str, ChangeFile]) -> None:
    """Stores what a reading found; the time of a file whose stamp and state stay the same stays as well. Forgets what it leaves out."""
    connection.execute(change_file.delete().where(among(_FILE.file, before.keys() - now.keys())))
    for path, one in now.items():
        was = before.get(path)
        if was is not None and (was.stamp, was.state) == (one.stamp, one.state):
            continue
        values = {name: getattr(one, name) for name in ("sequence", "stamp", "state", "reason", "rows")}
        values |= {"closed": False, "run_id": run_id, "seen_at": instant()}
        statement = insert(change_file).values(file=path, **values)
        connection.execute(statement.on_conflict_do_update(index_elements=[_FILE.file], set_=values))


def close(connection: Connection, present: set[str], covered: set[str]) -> None:
    """A reading of the whole has the rows of the covered files. Forgets those that are gone, but for the last name of each sequence.

    By the last name a file that comes late is known. It is forgotten too if files are there and each has an earlier name: an ERP removes its
    oldest files first, so a person has removed this one, because its name was wrong. An empty folder shows nothing.
    """
    files = known(connection)
    last: dict[str, ChangeFile] = {}
    there: dict[str, ChangeFile] = {}
    for one in sorted(files.values(), key=lambda file: file.place):
        if one.state == FileState.TAKEN or one.rows:
            last[one.sequence] = one
        if one.path in present:
            there[one.sequence] = one
    kept = {one.path for one in last.values() if one.sequence not in there or there[one.sequence].place > one.place}
    gone = [
        one.path
        for one in files.values()
        if one.state in DONE and one.path in covered and one.path not in present and one.path not in kept
    ]
    connection.execute(change_file.delete().where(among(_FILE.file, gone)))
    mine = (_FILE.state != FileState.WAITING, among(_FILE.file, covered))
    connection.execute(change_file.update().where(*mine).values(closed=True))


def listed(connection: Connection, *, limit: int) -> list[dict[str, Any]]:
    """The last files, newest first, those that wait or are quarantined before the others."""
    columns = (_FILE.file, _FILE.state, _FILE.reason, _FILE.rows, _FILE.closed, _FILE.run_id, _FILE.seen_at)
    attention = sa.and_(_FILE.state != FileState.TAKEN, sa.not_(_FILE.closed))
    statement = sa.select(*columns).order_by(attention.desc(), _FILE.seen_at.desc(), _FILE.file.desc()).limit(limit)
    return [dict(row) for row in connection.execute(statement).mappings()]


def lines(connection: Connection, run_id: int | None = None) -> list[str]:
    """One alarm for the files that are quarantined and that no reading of the whole has made up for; `run_id`: by this run alone."""
    statement = sa.select(_FILE.file, _FILE.reason).where(_FILE.state == FileState.QUARANTINED, sa.not_(_FILE.closed))
    if run_id is not None:
        statement = statement.where(_FILE.run_id == run_id)
    rows = connection.execute(statement.order_by(_FILE.file)).all()
    if not rows:
        return []
    line = (
        f"{len(rows)} files of changes are quarantined, the first is {rows[0].file!r}: {rows[0].reason}."
        " Their changes wait for the full sync (`shelfsync change-files list` shows them, and `replay` takes one again)"
    )
    return [Alarm.CHANGES_MISSED.line(line)]


def again(connection: Connection, path: str, present: set[str]) -> list[str]:
    """Lets the next delta take this file again, and after it those of its sequence that were taken since: their rows are newer.

    Returns their paths. Raises DataError if that is not possible, with the reason.
    """
    files = known(connection)
    one = files.get(path)
    closed = connection.execute(sa.select(_FILE.closed).where(_FILE.file == path)).scalar_one_or_none()
    if one is None or one.state not in DONE:
        raise DataError(f"{path!r} is no file that was taken or quarantined; see `shelfsync change-files list`.")
    if closed:
        raise DataError(
            f"{path!r} is older than the last reading of the whole, which has its rows: nothing is missing."
        )
    behind = sorted(
        (file for file in files.values() if file.sequence == one.sequence and file.place >= one.place),
        key=lambda file: file.place,
    )
    taken = [file.path for file in behind if file.path == path or file.state == FileState.TAKEN]
    if gone := [name for name in taken if name not in present]:
        raise DataError(f"{gone[0]!r} is not in the folder any more. Run `shelfsync sync --full`: it reads everything.")
    values = {"state": FileState.AGAIN, "reason": None, "seen_at": instant()}
    connection.execute(change_file.update().where(among(_FILE.file, taken)).values(values))
    readings.unmark(connection, "files")
    return taken
