"""Any content of one row or file of the ERP: the other vendor is read complete, or an error of one line explains why nothing is."""

from __future__ import annotations

import contextlib
import datetime as dt
import io
import itertools
import sqlite3
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sqlalchemy as sa
from hypothesis import example, given
from hypothesis import strategies as st

from fuzz_minute import BRIEFLY, for_a_minute
from shelfsync.catalog.snapshot import make_snapshot
from shelfsync.erp.open import open_source
from shelfsync.erp.text import CHARACTERS_MAX, texts
from shelfsync.errors import ShelfsyncError
from shelfsync.settings import ErpSettings, NormaliseSettings
from shelfsync.store.lake import Lake
from shelfsync.vendors.partition import Partition

if TYPE_CHECKING:
    from pathlib import Path

GOOD = {"vendor": "store-001", "sku": "good", "price": "1.00", "quantity": "4", "active": "1"}
NAMES = tuple(GOOD)
CORPUS = (
    "nul\0",
    "..",
    "\ud800",
    "x" * 20_000,
    b"\xff\xfe",
    float("nan"),
    float("inf"),
    1e300,
    2**63 - 1,
    -(2**63),
    "1e999999999",
    "-0",
    "9" * 5_000,
    "\u202e",
    "line\nbreak",
    '"',
    "",
    None,
)
_roots = itertools.count()

cells = st.one_of(
    st.none(),
    st.text(),
    st.binary(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(),
    st.sampled_from(CORPUS),
    st.sampled_from(["store-001", "store-002", "good", "1", "."]),
)
rows = st.lists(st.tuples(*[cells] * len(NAMES)), max_size=20)


class Unprintable:
    def __str__(self) -> str:
        raise RuntimeError("no text")


def sorted_out(source) -> dict[str, set[str]]:
    """Vendor -> the SKUs that could be sent; every row in it, equal to an earlier one of its SKU, or in quarantine."""
    lake = Lake(f"memory://any-erp-{next(_roots)}")
    found: dict[str, set[str]] = {}
    with Partition(lake) as partition, source.read() as extract:
        for chunk in extract:
            partition.add(chunk)
        total = extract.rows_out
        files = partition.finish()
        assert partition.nameless.num_rows == partition.nameless_rows
    assert partition.failed == {}
    counted = partition.nameless_rows
    for vendor, (path, _) in files.items():
        result = make_snapshot(lake.read_table(path), NormaliseSettings())
        counted += result.snapshot.num_rows + result.repeated + result.rows_quarantined
        found[vendor] = set(result.snapshot["sku"].to_pylist())
        assert max((len(row.encode()) for row in result.quarantine["raw"].to_pylist()), default=0) < 16_384
    assert counted == total
    return found


def by_sql(bad: list[tuple[Any, ...]], folder: Path) -> dict[str, set[str]]:
    file = folder / f"{next(_roots)}.db"
    with contextlib.closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(f"CREATE TABLE stock ({', '.join(NAMES)})")
        for row in bad:
            with contextlib.suppress(UnicodeEncodeError):  # half a character cannot even be written
                connection.execute("INSERT INTO stock VALUES (?, ?, ?, ?, ?)", row)
        connection.execute("INSERT INTO stock VALUES (?, ?, ?, ?, ?)", tuple(GOOD.values()))
    settings = ErpSettings(url=f"sqlite:///{file}", sql="SELECT * FROM stock")  # type: ignore[arg-type]
    try:
        return sorted_out(open_source(settings))
    finally:
        file.unlink()


def is_another(row: tuple[Any, ...]) -> bool:
    """Whether the row has another key than the good one; two rows with one key are both quarantined."""
    return not (str(row[0]).strip() == GOOD["vendor"] and str(row[1]).strip(" ") == GOOD["sku"])


@pytest.mark.slow
@BRIEFLY
@given(bad=rows)
@example(bad=[tuple([cell] * len(NAMES)) for cell in CORPUS])
@example(bad=[("store-001", cell, cell, cell, cell) for cell in CORPUS])
def test_any_rows_of_a_database_leave_the_good_one_as_it_is(tmp_path, bad):
    assert GOOD["sku"] in by_sql([row for row in bad if is_another(row)], tmp_path)[GOOD["vendor"]]


csv_pieces = st.sampled_from(
    [
        b",",
        b'"',
        b"\n",
        b"\r\n",
        b"\r",
        b"\0",
        b"\xff",
        b"\xef\xbb\xbf",
        b"a" * 2_000,
        b"store-001,x,1,1,1\n",
        b"\x1a",
        b";",
    ]
)
damage = st.lists(st.tuples(st.floats(0, 1), st.one_of(csv_pieces, st.binary(max_size=8))), max_size=8)
CSV = (
    "\n".join([",".join(NAMES), *(f"store-00{number % 3},s{number},1.5,2,1" for number in range(30))]).encode() + b"\n"
)


def damaged(whole: bytes, places: list[tuple[float, bytes]], *, cut: float = 1.0) -> bytes:
    for where, what in places:
        at = int(where * len(whole))
        whole = whole[:at] + what + whole[at + len(what) // 2 :]
    return whole[: int(cut * len(whole))]


def read_file(file: Path, content: bytes) -> None:
    """Reads the file to its end, or to an error of one line."""
    file.write_bytes(content)
    message = ""
    try:
        source = open_source(ErpSettings(files=str(file)))
        source.check()
        sorted_out(source)
    except ShelfsyncError as error:
        message = str(error)
    assert "\n" not in message


@BRIEFLY
@given(places=damage, cut=st.floats(0, 1))
@example(places=[(0.0, b"\0" * 50)], cut=1.0)
@example(places=[(0.5, b'"')], cut=1.0)
@example(places=[(0.0, b"," * 5_000)], cut=1.0)
def test_any_csv_file_is_read_or_raises_an_error_of_one_line(tmp_path, places, cut):
    read_file(tmp_path / "stock.csv", damaged(CSV, places, cut=cut))


def parquet(**columns: Any) -> bytes:
    count = len(next(iter(columns.values())))
    standard = {name: pa.array([GOOD[name]] * count) for name in NAMES}
    sink = io.BytesIO()
    pq.write_table(pa.table(standard | columns), sink)
    return sink.getvalue()


ODD = (
    pa.array([2**62], pa.timestamp("us")),
    pa.array([2**62], pa.timestamp("ns", tz="UTC")),
    pa.array([2**31 - 1], pa.date32()),
    pa.array([2**62], pa.int64()).cast(pa.duration("us")),
    pa.array([Decimal(10) ** 70], pa.decimal256(76, 0)),
    pa.array([[1, 2]]),
    pa.array([{"a": 1}]),
    pa.array([b"\xff\0"]),
    pa.array([None], pa.null()),
    pa.array([True]),
    pa.array([float("nan")], pa.float32()),
    pa.array(["x" * 1_000_000]),
    pa.array(["a"]).dictionary_encode(),
    pa.array([2**64 - 1], pa.uint64()),
    pa.array([dt.time(1)]),
)


@pytest.mark.parametrize("odd", ODD, ids=str)
def test_a_parquet_column_of_any_type_costs_its_rows_at_most(tmp_path, odd):
    file = tmp_path / "stock.parquet"
    folder = tmp_path / "stock"
    folder.mkdir()
    (folder / "1.parquet").write_bytes(parquet(sku=pa.array(["good"])))
    for number, name in enumerate(NAMES, start=2):
        bad = parquet(**({"sku": pa.array(["bad"])} | {name: odd}))
        read_file(file, bad)
        (folder / f"{number}.parquet").write_bytes(bad)
    assert "good" in sorted_out(open_source(ErpSettings(files=str(folder))))["store-001"]


@pytest.mark.slow
@BRIEFLY
@given(places=damage, cut=st.floats(0, 1), values=st.lists(st.one_of(st.text(), st.none()), min_size=1, max_size=5))
def test_any_parquet_file_is_read_or_raises_an_error_of_one_line(tmp_path, places, cut, values):
    with contextlib.suppress(UnicodeEncodeError):
        whole = parquet(sku=pa.array(values, pa.string()))
        read_file(tmp_path / "stock.parquet", whole)
        read_file(tmp_path / "stock.parquet", damaged(whole, places, cut=cut))


def test_a_value_that_cannot_be_written_is_one_broken_value():
    found = texts([Decimal(1), Unprintable(), None, "x" * 50_000, 2]).to_pylist()
    assert (found[0], found[2], found[4]) == ("1", None, "2")
    assert "\ufffd" in found[1]
    assert "\ufffd" in found[3]
    assert len(found[3]) < CHARACTERS_MAX


@pytest.mark.parametrize("driver", ["psycopg", "psycopg2"])
@pytest.mark.parametrize(
    "value",
    [
        "'infinity'::date",
        "'20000-01-01'::date",
        "'infinity'::timestamptz",
        "'4713-01-01 BC'::timestamp",
        "'NaN'::numeric",
        "10::numeric ^ 900",
        "'1000000 years'::interval",
    ],
)
def test_a_value_that_python_has_not_costs_its_row_alone(postgres, empty_database_url, driver, value):
    url = sa.make_url(empty_database_url).set(drivername=f"postgresql+{driver}").render_as_string(hide_password=False)
    sql = f"SELECT 'store-001' AS vendor, 'good' AS sku, 1::text AS price, NULL AS quantity UNION ALL SELECT 'store-001', 'bad', '1', ({value})::text"
    typed = f"SELECT 'store-001' AS vendor, 'good' || n AS sku, 1 AS price, CASE n WHEN 2 THEN {value} END AS quantity FROM generate_series(1, 3) AS n"
    for statement in (sql, typed):
        found = sorted_out(open_source(ErpSettings(url=url, sql=statement)))  # type: ignore[arg-type]
        assert {sku for sku in found["store-001"] if sku.startswith("good")} >= (
            {"good"} if statement == sql else {"good1", "good3"}
        )


@pytest.mark.proof
@pytest.mark.slow
@pytest.mark.parametrize(
    "law",
    [
        test_any_rows_of_a_database_leave_the_good_one_as_it_is,
        test_any_csv_file_is_read_or_raises_an_error_of_one_line,
        test_any_parquet_file_is_read_or_raises_an_error_of_one_line,
    ],
)
def test_for_a_minute(law, tmp_path):
    assert for_a_minute(law, tmp_path) > 0
