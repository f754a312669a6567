"""observe: export files of 50,000 lines to the history of what the platform shows, in PostgreSQL; first, and the day after."""

from __future__ import annotations

import datetime as dt
import functools
import io
import zlib
from typing import TYPE_CHECKING

from benchmarks.server import copy_in, copy_out, cpu_of, database
from benchmarks.stage import Meter, Stage, Target, Way

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from sqlalchemy.engine import Connection

    from benchmarks.chain import Chain
    from benchmarks.stage import Answer
    from shelfsync.catalog.warehouse.assortment_history import Loaded

FIRST = dt.datetime(2026, 3, 2, 4, 0, tzinfo=dt.UTC)
NEXT = FIRST + dt.timedelta(days=1)
VENDORS_MAX = 4
_HEADER = b'"sku","barcode","price","active","maximum_sales_quantity"\n'


def first(chain: Chain, meter: Meter) -> Answer:
    """Parse, compare with nothing, COPY into the history: a vendor after the other, a transaction each."""
    with database(chain.folder) as engine, engine.connect() as connection:
        meter.others = cpu_of(connection)
        connection.commit()
        rows = 0
        for vendor, then, _ in _files(chain):
            rows += _load(connection, meter, vendor, then, FIRST, None)[0]
        return {"rows": rows, "sample": _state_hash(connection)}


def next_day(chain: Chain, meter: Meter) -> Answer:
    """The same a day later, when some 5 % of the rows have changed; only this load is measured."""
    with database(chain.folder) as engine, engine.connect() as connection:
        meter.others = cpu_of(connection)
        connection.commit()
        rows = 0
        for vendor, then, now in _files(chain):
            _, before = _load(connection, Meter(), vendor, then, FIRST, None)
            rows += _load(connection, meter, vendor, now, NEXT, before)[0]
        return {"rows": rows}


def plain_copy(chain: Chain, meter: Meter) -> Answer:
    """The same rows as ready CSV bytes by COPY into the same table, with its key."""
    return _copied(chain, meter, "warehouse.assortment_history")


def bare_copy(chain: Chain, meter: Meter) -> Answer:
    """The same bytes into a table without any key or index."""
    return _copied(chain, meter, "bare")


def _load(
    connection: Connection, meter: Meter, vendor: str, file: bytes, at: dt.datetime, before: Loaded | None
) -> tuple[int, Loaded]:
    from shelfsync.catalog.export import parse_export
    from shelfsync.catalog.ledger import observations, vendors
    from shelfsync.catalog.warehouse import assortment_history

    with meter, connection.begin():
        rows = parse_export(io.BytesIO(file)).rows
        vendors.remember(connection, vendor)
        number = observations.record(
            connection, vendor, how="export", path=f"{vendor}/{at:%d}", rows=rows.num_rows, observed_at=at, ended_at=at
        )
        assortment_history.load_observation(connection, observations.read(connection, number), rows, before=before)
    last = assortment_history.last_loaded(connection, vendor)
    connection.commit()
    assert last is not None
    return rows.num_rows, assortment_history.Loaded(last, rows)


def _copied(chain: Chain, meter: Meter, table: str) -> Answer:
    """The rows that ours writes, taken out as CSV, deleted, and put back by a plain COPY."""
    rows = 0
    with database(chain.folder) as engine, engine.connect() as connection:
        connection.exec_driver_sql("CREATE TABLE bare (LIKE warehouse.assortment_history)")
        meter.others = cpu_of(connection)
        connection.commit()
        for vendor, then, _ in _files(chain):
            rows += _load(connection, Meter(), vendor, then, FIRST, None)[0]
            ready = copy_out(connection, f"SELECT * FROM warehouse.assortment_history WHERE vendor = '{vendor}'")
            connection.exec_driver_sql(f"DELETE FROM warehouse.assortment_history WHERE vendor = '{vendor}'")
            connection.commit()
            with meter, connection.begin():
                copy_in(connection, table, ready)
        return {"rows": rows, "sample": _state_hash(connection)} if table != "bare" else {"rows": rows}


def _files(chain: Chain) -> Iterator[tuple[str, bytes, bytes]]:
    """Of each vendor its export on the first day (the acknowledged values) and on the next day (the ERP's values of then)."""
    for assortment_history, snapshot, baseline in chain.tables():
        yield assortment_history.vendor, _csv(baseline), _csv(snapshot)


def _csv(table: pa.Table) -> bytes:
    """A file as the platform writes it: barcodes padded to 14 digits, prices with three decimals, 1 and 0."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import csv

    shown = {
        "sku": table["sku"],
        "barcode": pc.ascii_lpad(table["barcode"].fill_null(""), width=14, padding="0"),
        "price": table["price"].cast(pa.string()).fill_null(""),
        "active": pc.if_else(table["active"].fill_null(False), "1", "0"),
        "limit": table["max_sales_quantity"].cast(pa.string()).fill_null(""),
    }
    sink = io.BytesIO(_HEADER)
    sink.seek(0, io.SEEK_END)
    csv.write_csv(pa.table(shown), sink, csv.WriteOptions(include_header=False, quoting_style="all_valid"))
    return sink.getvalue()


def _state_hash(connection: Connection) -> str:
    rows = connection.exec_driver_sql(
        "SELECT sku, price, active, max_sales_quantity FROM warehouse.assortment_history"
        " WHERE vendor = (SELECT min(vendor) FROM warehouse.assortment_history) ORDER BY sku"
    )
    return f"{zlib.crc32(repr([tuple(row) for row in rows]).encode()):08x}"


_way = functools.partial(Way, vendors_max=VENDORS_MAX)
STAGE = Stage(
    name="export",
    title="observe: exports of 50,000 lines to the history of the assortment; CPU of client and server together",
    ways=(
        _way("first", "ours", "shelfsync: CSV to Arrow, COPY into the history, nothing there before", first),
        _way("next_day", "ours", "the same a day later, 5 % changed", next_day),
        _way("plain_copy", "bound", "a plain COPY of the same rows, same table and key", plain_copy),
        _way("bare_copy", "bound", "the same into a table without keys or indexes", bare_copy, rounds_max=1),
    ),
    targets=tuple(
        Target.ratio(
            f"export file to history, {when}: wall against a plain COPY of the same rows, same table",
            way,
            "plain_copy",
            "wall_s",
            at_most=3,
        )
        for way, when in (("first", "first"), ("next_day", "a day later"))
    ),
    same={"sample": "the histories of the first vendor"},
)
