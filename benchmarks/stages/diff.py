"""diff: which SKUs of a chain changed, from both tables in the lake. The engines answer the same question, each its best way."""

from __future__ import annotations

import zlib
from collections import Counter
from typing import TYPE_CHECKING, Any

from benchmarks import slow
from benchmarks.stage import Stage, Target, Way, peers_on_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pyarrow as pa

    from benchmarks.chain import Chain
    from benchmarks.stage import Answer, Meter

IN_MEMORY_ROWS_MAX = 10_000_000
VENDORS_AT_ONCE = 20
SAMPLED = 2
FIELDS = slow.FIELDS
"""Of a row `n` of the snapshot and `b` of the baseline, in SQL."""


def ours(chain: Chain, meter: Meter) -> Answer:
    """The step as the path runs it, a vendor after the other."""
    from shelfsync.catalog.delta import compute_delta

    with meter:
        changed = _counts(compute_delta(snapshot, baseline, full=False) for _, snapshot, baseline in chain.tables())
    sample = [
        (shelf.vendor, row["sku"], row["change"])
        for shelf, snapshot, baseline in chain.first(SAMPLED).tables()
        for row in compute_delta(snapshot, baseline, full=False).select(["sku", "change"]).to_pylist()
    ]
    return _answer(chain, changed, sample)


def read(chain: Chain, meter: Meter) -> Answer:
    """Both files of every vendor, decoded and thrown away."""
    rows = 0
    with meter:
        for _, snapshot, baseline in chain.tables():
            rows += snapshot.num_rows + baseline.num_rows
    return {"rows": chain.rows, "read": rows}


def duckdb(chain: Chain, meter: Meter) -> Answer:
    """A full join in SQL, some vendors at a time, so that memory stays bounded."""
    peers_on_path()
    import duckdb as engine

    connection = engine.connect()
    with meter:
        changed = _counts(connection.execute(query).to_arrow_table() for query in _queries(chain))
    rows = connection.execute(next(iter(_queries(chain.first(SAMPLED))))).fetchall()
    return _answer(chain, changed, [(vendor, sku, change) for vendor, sku, change, *_ in rows])


def duckdb_read(chain: Chain, meter: Meter) -> Answer:
    """What DuckDB takes to decode every column of both files."""
    peers_on_path()
    import duckdb as engine

    connection = engine.connect()
    columns = ", ".join(f"count({name})" for name in ("sku", "barcode", *FIELDS))
    with meter:
        for kind in ("snapshot", "baseline"):
            connection.execute(f"SELECT {columns} FROM read_parquet({chain.files(kind)})").fetchall()
    return {"rows": chain.rows}


def polars(chain: Chain, meter: Meter) -> Answer:
    """A lazy full join over the whole chain, in Polars' streaming engine."""
    peers_on_path()
    import polars as pl

    def scan(kind: str) -> Any:
        files = pl.scan_parquet(chain.files(kind), include_file_paths="vendor")
        return files.with_columns(pl.col("vendor").str.extract(r"(store-\d+)"), here=True)

    with meter:
        both = scan("snapshot").join(
            scan("baseline"), on=["vendor", "sku"], how="full", coalesce=True, suffix="_before"
        )
        differs = pl.any_horizontal(
            [pl.col(n).is_not_null() & pl.col(n).ne_missing(pl.col(f"{n}_before")) for n in FIELDS]
        )
        change = (
            pl.when(pl.col("here").is_null() & pl.col("active_before").fill_null(value=True))
            .then(pl.lit("removed"))
            .when(pl.col("here").is_not_null() & pl.col("here_before").is_null())
            .then(pl.lit("new"))
            .when(pl.col("here").is_not_null() & differs)
            .then(pl.lit("changed"))
        )
        found = both.select("vendor", "sku", *FIELDS, change=change).drop_nulls("change").collect(engine="streaming")
    counts = dict(found["change"].value_counts().iter_rows())
    names = [shelf.vendor for shelf in chain.first(SAMPLED).shelves]
    return _answer(
        chain, counts, found.filter(pl.col("vendor").is_in(names)).select("vendor", "sku", "change").iter_rows()
    )


def table_join(chain: Chain, meter: Meter) -> Answer:
    """The hash join of pyarrow itself over the whole chain."""
    import pyarrow as pa
    import pyarrow.compute as pc

    with meter:
        now, before = _whole(chain, "snapshot"), _whole(chain, "baseline")
        both = now.join(before, ["vendor", "sku"], join_type="full outer", right_suffix="_before")
        here, there = both["here"].is_valid(), both["here_before"].is_valid()
        news = None
        for name in FIELDS:
            one, other = both[name], both[f"{name}_before"]
            differs = pc.and_(one.is_valid(), pc.fill_null(pc.not_equal(one, other), True))
            news = differs if news is None else pc.or_(news, differs)
        gone = pc.and_(pc.invert(here), both["active_before"].fill_null(True))
        change = pc.case_when(
            pc.make_struct(gone, pc.and_(here, pc.invert(there)), pc.and_(here, news)),
            pa.scalar("removed"),
            pa.scalar("new"),
            pa.scalar("changed"),
        )
        found = (
            both.append_column("change", change).filter(change.is_valid()).select(["vendor", "sku", *FIELDS, "change"])
        )
    return _whole_answer(chain, found)


def pandas(chain: Chain, meter: Meter) -> Answer:
    """What a team writes first: both tables into frames, an outer merge, a comparison column by column."""
    from benchmarks.stages import tools

    with meter:
        found = tools.pandas_changes(tools.pandas_table(chain, "snapshot"), tools.pandas_table(chain, "baseline"))
    counts = found["change"].value_counts().to_dict()
    sampled = found[found["vendor"].isin([shelf.vendor for shelf in chain.first(SAMPLED).shelves])]
    return _answer(chain, counts, sampled[["vendor", "sku", "change"]].itertuples(index=False, name=None))


def _queries(chain: Chain) -> Iterable[str]:
    for start in range(0, len(chain.shelves), VENDORS_AT_ONCE):
        shelves = chain.shelves[start : start + VENDORS_AT_ONCE]
        now, before = ([str(chain.folder / getattr(one, kind)) for one in shelves] for kind in ("snapshot", "baseline"))
        vendor = "regexp_extract(filename, 'store-[0-9]+')"
        yield (
            f"WITH n AS (SELECT *, {vendor} AS vendor FROM read_parquet({now}, filename = true)),"
            f" b AS (SELECT *, {vendor} AS vendor FROM read_parquet({before}, filename = true))"
            " SELECT vendor, sku, CASE WHEN n.filename IS NULL THEN 'removed' WHEN b.filename IS NULL THEN 'new' ELSE 'changed' END AS change,"
            " coalesce(n.barcode, b.barcode) AS barcode, n.price, n.quantity, n.active, n.max_sales_quantity"
            " FROM n FULL JOIN b USING (vendor, sku)"
            f" WHERE CASE WHEN n.filename IS NULL THEN coalesce(b.active, true) ELSE {slow.DIFFERS} END"
        )


def _whole(chain: Chain, kind: str) -> pa.Table:
    import pyarrow as pa

    table = chain.whole(kind)
    return table.append_column("here", pa.repeat(pa.scalar(value=True), table.num_rows))


def _counts(changes: Iterable[pa.Table]) -> Counter[str]:
    """How many rows of each kind of change."""
    counts: Counter[str] = Counter()
    for table in changes:
        counts.update({one["values"]: one["counts"] for one in table["change"].value_counts().to_pylist()})
    return counts


def _whole_answer(chain: Chain, found: pa.Table) -> Answer:
    import pyarrow as pa
    import pyarrow.compute as pc

    names = pa.array([shelf.vendor for shelf in chain.first(SAMPLED).shelves])
    sampled = found.filter(pc.is_in(found["vendor"], value_set=names)).select(["vendor", "sku", "change"])
    return _answer(chain, _counts([found]), [tuple(row.values()) for row in sampled.to_pylist()])


def _answer(chain: Chain, counts: Mapping[str, int], sample: Iterable[tuple[str, str, str]]) -> Answer:
    """Counts over the whole chain, and a checksum over every change of the first vendors."""
    text = "\n".join(sorted(f"{vendor} {sku} {change}" for vendor, sku, change in sample))
    counted = {change: int(counts.get(change, 0)) for change in ("new", "changed", "removed")}
    return {"rows": chain.rows, "changes": counted, "sample": f"{zlib.crc32(text.encode()):08x}"}


def slowly(chain: Chain) -> str:
    """The checksum that the rules alone give."""
    sample = [
        (shelf.vendor, sku, change)
        for shelf, snapshot, baseline in chain.first(SAMPLED).tables()
        for sku, (change, _) in slow.changes(snapshot, baseline).items()
    ]
    return str(_answer(chain, {}, sample)["sample"])


def check(chain: Chain, meter: Meter) -> Answer:
    """The slow way over the sampled vendors."""
    with meter:
        found = slowly(chain)
    return {"rows": SAMPLED, "sample": found}


STAGE = Stage(
    name="diff",
    title="diff: both files of every vendor to what changed",
    ways=(
        Way("ours", "ours", "shelfsync: pyarrow, a vendor at a time", ours),
        Way("read", "bound", "merely reading both files (pyarrow)", read),
        Way("duckdb", "peer", "DuckDB, full join of 20 vendors at a time", duckdb),
        Way("duckdb_read", "bound", "merely reading both files (DuckDB)", duckdb_read),
        Way("polars", "peer", "Polars, streaming full join", polars, rows_max=IN_MEMORY_ROWS_MAX, rounds_max=1),
        Way("table_join", "peer", "pyarrow Table.join", table_join, rows_max=IN_MEMORY_ROWS_MAX, rounds_max=1),
        Way("pandas", "usual", "pandas merge", pandas, rows_max=IN_MEMORY_ROWS_MAX, rounds_max=2),
        Way("slow", "check", "dictionaries, on a sample", check, rounds_max=1),
    ),
    targets=(
        Target.ratio("diff: CPU against reading both files with the same engine", "ours", "read", at_most=2.0),
        Target.ratio("diff: CPU against pandas merge", "ours", "pandas", at_most=0.40),
    ),
    same={"sample": "the changes of the sample", "changes": "the numbers of changes"},
)
