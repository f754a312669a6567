"""formats: files as ERPs write them to tables of texts, as the lake takes them: a CSV in three notations, and a workbook."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from benchmarks.stage import Stage, Target, Way, peers_on_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from benchmarks.chain import Chain
    from benchmarks.stage import Answer, Meter

WORKBOOK_VENDORS = 4
"""200,000 rows."""
NAMES = ("vendor", "sku", "price", "quantity", "active")
COMMA = {"decimal_mark": ","}
GROUPED = {"decimal_mark": ",", "thousands_mark": "."}
TEXTS = {"vendor": "str", "sku": "str"}


def plain_text(number: str) -> str:
    """1234.50."""
    return number


def comma_text(number: str) -> str:
    """1234,50."""
    return number.replace(".", ",")


def grouped_text(number: str) -> str:
    """1.234,50."""
    whole, point, part = number.partition(".")
    return f"{int(whole):,}".replace(",", ".") + point.replace(".", ",") + part


def rows(chain: Chain) -> Iterator[tuple[str, str, int, int, int]]:
    """As many rows as the chain has; the third is the price in cents. Every tenth price, and every fifth quantity, is above a thousand."""
    for number in range(chain.rows):
        cents = 100_000 + number % 99_991 if number % 10 == 0 else number % 9_973
        quantity = 1_000 + number % 97 if number % 5 == 0 else number % 97
        yield f"store-{number // 50_000:04}", f"{number % 50_000:08}", cents, quantity, int(number % 11 > 0)


def csv_file(chain: Chain, notation: Callable[[str], str]) -> Path:
    """The rows with ; between the cells, so that the numbers alone differ; made once."""
    path = chain.folder / f"{notation.__name__}-{chain.rows}.csv"
    if not path.exists():
        with path.open("w", encoding="utf-8") as file:
            file.write(";".join(NAMES) + "\n")
            for vendor, sku, cents, quantity, active in rows(chain):
                price = notation(f"{cents // 100}.{cents % 100:02}")
                file.write(f"{vendor};{sku};{price};{notation(str(quantity))};{active}\n")
    return path


def workbook_file(chain: Chain) -> Path:
    """The rows in a sheet: texts as texts, numbers as numbers; made once."""
    import openpyxl

    path = chain.folder / f"rows-{chain.rows}.xlsx"
    if not path.exists():
        book = openpyxl.Workbook(write_only=True)
        sheet = book.create_sheet()
        sheet.append(NAMES)
        for vendor, sku, cents, quantity, active in rows(chain):
            sheet.append((vendor, sku, cents / 100, quantity, active))
        book.save(path)
    return path


def ours(notation: Callable[[str], str], settings: dict[str, str], chain: Chain, meter: Meter) -> Answer:
    """The whole extract of a CSV."""
    return _extracted({"files": str(csv_file(chain, notation)), "csv_delimiter": ";", **settings}, meter)


def ours_workbook(chain: Chain, meter: Meter) -> Answer:
    """The whole extract of a workbook, with the search for broken cells in the sheet's own XML."""
    return _extracted({"files": str(workbook_file(chain))}, meter)


def _extracted(settings: dict[str, str], meter: Meter) -> Answer:
    """Only the reading is measured, not the sum that proves it right, nor the loading of modules, as with the others."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import python_calamine  # noqa: F401

    import shelfsync.erp.csvfile
    import shelfsync.erp.workbook  # noqa: F401
    from shelfsync.erp.open import open_source
    from shelfsync.settings import ErpSettings

    found, cents, pieces = 0, 0, 0
    with meter:
        reading = open_source(ErpSettings(**settings)).read()
        tables = iter(reading.__enter__())
    while True:
        with meter:
            table = next(tables, None)
        if table is None:
            break
        found += table.num_rows
        cents += int(pc.sum(table["price"].cast(pa.decimal128(18, 2))).as_py() * 100)
        pieces += pc.sum(table["quantity"].cast(pa.int64())).as_py()
    reading.__exit__(None, None, None)
    return {"rows": found, "cents": cents, "pieces": pieces}


def pandas(notation: Callable[[str], str], options: dict[str, str], chain: Chain, meter: Meter) -> Answer:
    """pandas.read_csv; prices are floats."""
    import pandas as pd

    path = csv_file(chain, notation)
    with meter:
        frame = pd.read_csv(path, sep=";", dtype=TEXTS, **options)
    return _of_frame(frame)


def pandas_workbook(chain: Chain, meter: Meter) -> Answer:
    """pandas.read_excel by the same calamine."""
    import pandas as pd

    path = workbook_file(chain)
    with meter:
        frame = pd.read_excel(path, engine="calamine", dtype=TEXTS)
    return _of_frame(frame)


def _of_frame(frame: Any) -> Answer:
    cents = int((frame["price"] * 100).round().sum())
    return {"rows": len(frame), "cents": cents, "pieces": int(frame["quantity"].sum())}


def polars(notation: Callable[[str], str], chain: Chain, meter: Meter) -> Answer:
    """polars.read_csv; it knows a decimal comma and no thousands mark, so such numbers are texts first."""
    peers_on_path()
    import polars as pl

    path = csv_file(chain, notation)
    schema = {"vendor": pl.String, "sku": pl.String}
    if notation is grouped_text:
        schema |= {"price": pl.String, "quantity": pl.String}
    with meter:
        frame = pl.read_csv(path, separator=";", schema_overrides=schema, decimal_comma=notation is comma_text)
        if notation is grouped_text:
            digits = (
                pl.col("price", "quantity").str.replace_all(".", "", literal=True).str.replace(",", ".", literal=True)
            )
            frame = frame.with_columns(digits).with_columns(
                pl.col("price").cast(pl.Float64), pl.col("quantity").cast(pl.Int64)
            )
    return {
        "rows": len(frame),
        "cents": int((frame["price"] * 100).round().sum()),
        "pieces": int(frame["quantity"].sum()),
    }


def duckdb(notation: Callable[[str], str], options: str, chain: Chain, meter: Meter) -> Answer:
    """DuckDB's read_csv to an Arrow table; prices are decimals."""
    peers_on_path()
    import duckdb as tool

    path = csv_file(chain, notation)
    types = "{'vendor': 'VARCHAR', 'sku': 'VARCHAR', 'price': 'DECIMAL(18,2)', 'quantity': 'BIGINT', 'active': 'INT'}"
    with tool.connect() as connection:
        with meter:
            table = connection.execute(
                f"SELECT * FROM read_csv('{path}', delim=';', header=true, columns={types}{options})"
            ).to_arrow_table()
        sums = connection.from_arrow(table).aggregate("sum(price * 100)::BIGINT, sum(quantity)::BIGINT")
        cents, pieces = sums.fetchall()[0]
    return {"rows": table.num_rows, "cents": cents, "pieces": pieces}


def calamine(chain: Chain, meter: Meter) -> Answer:
    """Calamine alone: every cell of the sheet as a Python value."""
    from python_calamine import CalamineWorkbook

    path = workbook_file(chain)
    found = -1  # the names
    with meter:
        for _ in CalamineWorkbook.from_path(path).get_sheet_by_index(0).iter_rows():
            found += 1
    return {"rows": found}


def _ways(name: str, title: str, notation: Callable[[str], str], settings: dict[str, str]) -> Iterator[Way]:
    options = {"decimal": ",", "thousands": "."} if settings == GROUPED else {"decimal": ","} if settings else {}
    marks = ", decimal_separator=','" * bool(settings) + ", thousands='.'" * (settings == GROUPED)
    yield Way(name, "ours", f"shelfsync: {title}", functools.partial(ours, notation, settings))
    of = functools.partial
    yield Way(f"{name}_pandas", "usual", f"pandas: {title}", of(pandas, notation, options), rounds_max=1)
    yield Way(f"{name}_polars", "peer", f"polars: {title}", of(polars, notation), rounds_max=1)
    yield Way(f"{name}_duckdb", "peer", f"DuckDB: {title}", of(duckdb, notation, marks), rounds_max=1)


def _agree(answers: Mapping[str, Answer]) -> None:
    """Each way has read the same rows, and the same sums; calamine alone counts its rows."""
    of_workbook = {"workbook", "workbook_pandas", "calamine"}
    for found in (
        [answer for way, answer in answers.items() if way not in of_workbook],
        [answer for way, answer in answers.items() if way in of_workbook],
    ):
        for part in ("rows", "cents", "pieces"):
            values = {answer[part] for answer in found if part in answer}
            assert len(values) == 1, f"{part} differ: {answers}"


_sheet = functools.partial(Way, vendors_max=WORKBOOK_VENDORS)

STAGE = Stage(
    name="formats",
    title="extract: an ERP's file to tables of texts, every number checked",
    ways=(
        *_ways("plain", "CSV, 1234.50", plain_text, {}),
        *_ways("comma", "CSV, 1234,50", comma_text, COMMA),
        *_ways("grouped", "CSV, 1.234,50", grouped_text, GROUPED),
        _sheet("workbook", "ours", "shelfsync: workbook", ours_workbook),
        _sheet("calamine", "bound", "calamine alone, each cell a Python value", calamine),
        _sheet("workbook_pandas", "usual", "pandas.read_excel by calamine", pandas_workbook, rounds_max=1),
    ),
    agree=_agree,
    targets=(
        Target.ratio(
            "CSV with a decimal comma: CPU against a plain one", "comma", "plain", at_most=1.3, from_rows=200_000
        ),
        Target.ratio("workbook: CPU against calamine alone", "workbook", "calamine", at_most=2.0, from_rows=200_000),
    ),
)
