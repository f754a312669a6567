"""confirm: the log of a job, CSV of 50,000 lines, to one outcome for every SKU in PostgreSQL."""

from __future__ import annotations

import csv
import functools
import io
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.chain import full_delta
from benchmarks.server import copy_in, copy_out, cpu_of, cpu_of_process, database, open_jobs
from benchmarks.stage import Stage, Target, Way, peers_on_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    import pyarrow as pa
    from sqlalchemy.engine import Connection

    from benchmarks.chain import Chain
    from benchmarks.stage import Answer, Meter

JOBS_SHARE = 0.2
JOBS_MAX = 8
SLOW_ROWS = 5_000
_REJECTED = 'price is too high; see section 4.1, "prices"'


def ours(chain: Chain, meter: Meter) -> Answer:
    """Parse, match, COPY, a job after the other, a transaction each."""
    from shelfsync.catalog.warehouse.record import load_outcomes

    def load(connection: Connection, job_id: int, vendor: str, items: pa.Table, log: bytes) -> None:
        load_outcomes(connection, job_id, vendor, _outcomes(items, log))

    return _loaded(chain, meter, load)


def parse(chain: Chain, meter: Meter) -> Answer:
    """Of that, the part before the database: CSV to outcomes."""
    lines = 0
    for _, items, log in _jobs(chain):
        with meter:
            lines += _outcomes(items, log).num_rows
    return {"rows": lines}


def plain_copy(chain: Chain, meter: Meter) -> Answer:
    """The same rows as ready CSV bytes by COPY into the same table: keys, indexes and all."""
    return _copied(chain, meter, "warehouse.sku_outcome")


def bare_copy(chain: Chain, meter: Meter) -> Answer:
    """The same bytes into a table without any key or index."""
    return _copied(chain, meter, "bare")


def adbc(chain: Chain, meter: Meter) -> Answer:
    """ADBC's ingest instead of CSV and COPY, after the same parsing; into a table that it makes itself, without keys."""
    peers_on_path()
    from adbc_driver_postgresql import dbapi

    rows = 0
    with database(chain.folder) as engine:
        address = engine.url.set(drivername="postgresql").render_as_string(hide_password=False)
        with dbapi.connect(address) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            meter.others = cpu_of_process(cursor.fetchone()[0])
            for _, items, log in _jobs(chain):
                with meter:
                    found = _outcomes(items, log)
                    table = found.set_column(found.column_names.index("price"), "price", found["price"].cast("string"))
                    cursor.adbc_ingest("ingested", table, mode="create_append")
                    connection.commit()
                rows += found.num_rows
    return {"rows": rows}


def core(chain: Chain, meter: Meter) -> Answer:
    """csv.DictReader and SQLAlchemy Core's executemany, a dictionary a row, on the first lines of one log."""
    from shelfsync.catalog.warehouse import tables

    def load(connection: Connection, job_id: int, vendor: str, items: pa.Table, log: bytes) -> None:
        lines = {line["sku"]: line for line in csv.DictReader(io.StringIO(log.decode()))}
        ended_at = connection.exec_driver_sql("SELECT transaction_timestamp()").scalar_one()
        rows = []
        for row in (
            items.select(["sku", "change", "price", "quantity", "active", "max_sales_quantity"])
            .slice(0, SLOW_ROWS)
            .to_pylist()
        ):
            line = lines.get(row["sku"], {"state": "", "errors": "nothing"})
            state = {"success": "accepted", "failed": "rejected"}.get(line["state"], "unaccounted")
            reason = None if state == "accepted" else line["errors"]
            rows.append(
                {**row, "job_id": job_id, "vendor": vendor, "state": state, "reason": reason, "known_at": ended_at}
            )
        connection.execute(tables.sku_outcome.insert(), rows)

    found = _loaded(chain.first(1), meter, load)
    return {"rows": SLOW_ROWS, "bytes": found["bytes"]}


def check(chain: Chain, meter: Meter) -> Answer:
    """The first log by the csv module and a dictionary."""
    _, items, log = next(_jobs(chain))
    with meter:
        lines = {line["sku"]: line for line in csv.DictReader(io.StringIO(log.decode()))}
        rows = []
        for sku in items["sku"].to_pylist():
            line = lines.get(sku)
            if line is None:
                rows.append((sku, "unaccounted", "the log has no line about this SKU"))
            elif line["state"] == "success":
                rows.append((sku, "accepted", None))
            else:
                rows.append((sku, "rejected", line["errors"]))
    return {"rows": 1, "sample": _checksum(rows)}


def _outcomes(items: pa.Table, log: bytes) -> pa.Table:
    """What the warehouse takes: the outcome of every SKU beside what was sent, as `confirm` writes it."""
    import pyarrow as pa

    from shelfsync.catalog.log_reader import parse_log
    from shelfsync.catalog.outcome import match
    from shelfsync.schemas import FIELDS

    outcomes = match(items, parse_log(io.BytesIO(log), whole=True))
    columns = {"sku": items["sku"], "state": outcomes["state"], "reason": outcomes["reason"], "change": items["change"]}
    return pa.table(columns | {name: items[name] for name in FIELDS})


def _jobs(chain: Chain) -> Iterator[tuple[str, pa.Table, bytes]]:
    """Vendor, items and log of one job after the other: one line in fifty rejected, one in a thousand missing, in any order."""
    chance = np.random.default_rng(7)
    for shelf, snapshot, _ in chain.first(JOBS_MAX).tables():
        items = full_delta(snapshot)
        skus = items["sku"].to_pylist()
        quoted = _REJECTED.replace('"', '""')
        lines = [
            f'"{skus[row]}","failed","{quoted}"' if row % 50 == 0 else f'"{skus[row]}","success",""'
            for row in chance.permutation(len(skus)).tolist()
            if row % 1000 != 1
        ]
        yield shelf.vendor, items, ("\n".join(['"sku","state","errors"', *lines]) + "\n").encode()


def _loaded(chain: Chain, meter: Meter, load: Callable[[Connection, int, str, pa.Table, bytes], None]) -> Answer:
    """Loads each job in a transaction of its own; returns what stands in the table then."""
    log_bytes = 0
    with database(chain.folder) as engine:
        numbers = open_jobs(engine, [shelf.vendor for shelf in chain.first(JOBS_MAX).shelves], 1)
        with engine.connect() as connection:
            meter.others = cpu_of(connection)
            connection.commit()
            for vendor, items, log in _jobs(chain):
                with meter, connection.begin():
                    load(connection, numbers[vendor], vendor, items, log)
                log_bytes += len(log)
            return {**_counts(connection, min(numbers.values())), "bytes": log_bytes}


def _copied(chain: Chain, meter: Meter, table: str) -> Answer:
    """The rows that ours writes, taken out as CSV, rolled back, and put there again by a plain COPY."""
    from shelfsync.catalog.warehouse.record import load_outcomes

    ready, rows = [], 0
    with database(chain.folder) as engine:
        numbers = open_jobs(engine, [shelf.vendor for shelf in chain.first(JOBS_MAX).shelves], 1)
        with engine.connect() as connection:
            connection.exec_driver_sql("CREATE TABLE bare (LIKE warehouse.sku_outcome)")
            meter.others = cpu_of(connection)
            connection.commit()
            for vendor, items, log in _jobs(chain):
                load_outcomes(connection, numbers[vendor], vendor, _outcomes(items, log))
                query = f"SELECT * FROM warehouse.sku_outcome WHERE job_id = {numbers[vendor]}"
                ready.append(copy_out(connection, query))
                connection.rollback()
                rows += items.num_rows
            # what was rolled back leaves dead entries in every index, and would make the plain COPY look slow
            connection.exec_driver_sql("TRUNCATE warehouse.sku_outcome")
            connection.commit()
            for one in ready:
                with meter, connection.begin():
                    copy_in(connection, table, one)
            if table == "bare":
                return {"rows": rows}
            return _counts(connection, min(numbers.values()))


def _counts(connection: Connection, first_job: int) -> Answer:
    rows = connection.exec_driver_sql(
        "SELECT sku, state, reason FROM warehouse.sku_outcome WHERE job_id = %s", (first_job,)
    )
    count = connection.exec_driver_sql("SELECT count(*) FROM warehouse.sku_outcome").scalar_one()
    return {"rows": count, "sample": _checksum((row.sku, row.state, row.reason) for row in rows)}


def _checksum(rows: Iterable[tuple[Any, ...]]) -> str:
    return f"{zlib.crc32(repr(sorted(rows, key=lambda row: row[0])).encode()):08x}"


def _agree(answers: Mapping[str, Answer]) -> None:
    assert answers["ours"]["rows"] == answers["plain_copy"]["rows"]


_way = functools.partial(Way, share=JOBS_SHARE)
STAGE = Stage(
    name="outcomes",
    title="confirm: logs of 50,000 lines to outcomes in PostgreSQL; CPU of client and server together",
    ways=(
        _way("ours", "ours", "shelfsync: CSV to Arrow, match, COPY", ours),
        _way("parse", "ours", "of that, CSV to outcomes", parse),
        _way("plain_copy", "bound", "a plain COPY of the same rows, same table", plain_copy),
        _way("bare_copy", "bound", "the same into a table without keys or indexes", bare_copy, rounds_max=1),
        _way("adbc", "peer", "same parsing, ADBC ingest, no keys or indexes", adbc, rounds_max=1),
        _way("core", "usual", "csv and executemany, 5,000 rows", core, rounds_max=1),
        Way("slow", "check", "the csv module, on one log", check, rounds_max=1),
    ),
    targets=(
        Target.ratio(
            "log CSV to outcomes: rows a second of wall against a plain COPY",
            "plain_copy",
            "ours",
            "wall_s",
            at_least=0.7,
        ),
        Target.ratio(
            "log CSV to outcomes: rows a second of CPU against a plain COPY", "plain_copy", "ours", at_least=0.7
        ),
    ),
    same={"sample": "the outcomes of the first job"},
    agree=_agree,
)
