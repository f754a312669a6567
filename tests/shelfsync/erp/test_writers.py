"""Any table that a program of the field writes, in any style that it can, is read back exactly."""

from __future__ import annotations

import bz2
import csv
import gzip
import itertools
import json
import zipfile
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import duckdb
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
import xlwt
from hypothesis import given
from hypothesis import strategies as st

from ods_file import write_ods
from shelfsync.erp.open import open_source
from shelfsync.settings import ErpSettings

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

NAMES = ("vendor", "sku", "price", "quantity", "active")
TYPES = pa.schema(
    [
        ("vendor", pa.string()),
        ("sku", pa.string()),
        ("price", pa.decimal128(12, 3)),
        ("quantity", pa.int64()),
        ("active", pa.bool_()),
    ]
)
_places = itertools.count()
_texts = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Cn", "Zl", "Zp")), min_size=1, max_size=12
)
_skus = _texts.filter(lambda text: text == text.strip() and not text.startswith("=") and text != "-")
"""Without the word that some of these files have for an absent value."""
_rows = st.fixed_dictionaries(
    {
        "vendor": st.just("store-001"),
        "sku": _skus,
        "price": st.none() | st.decimals(0, 10**6, places=3),
        "quantity": st.none() | st.integers(-(10**6), 10**9),
        "active": st.none() | st.booleans(),
    }
)
tables = st.lists(_rows, min_size=1, max_size=6)


def by_csv(path: Path, rows: list[dict[str, Any]], draw: Any) -> dict[str, Any]:
    """Python's own writer, in every style of its own."""
    delimiter, encoding = draw(st.sampled_from(",;|\t")), draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
    mark, end = draw(st.sampled_from(".,")), draw(st.sampled_from(["\n", "\r\n"]))
    quoting = draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]))
    true, false = draw(st.sampled_from([("true", "false"), ("1", "0"), ("J", "N"), ("ja", "nein")]))
    words = {None: "", True: true, False: false}
    with path.with_suffix(".csv").open("w", encoding=encoding, newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, quoting=quoting, lineterminator=end)
        writer.writerow(NAMES)
        for row in rows:
            price = "" if row["price"] is None else str(row["price"]).replace(".", mark)
            quantity = "" if row["quantity"] is None else row["quantity"]
            writer.writerow([row["vendor"], row["sku"], price, quantity, words[row["active"]]])
    truths = {"true_words": [true], "false_words": [false]} if true in {"J", "ja"} else {}
    return {"csv_delimiter": delimiter, "csv_encoding": encoding, "decimal_mark": mark, **truths}


def by_pandas(path: Path, rows: list[dict[str, Any]], draw: Any) -> dict[str, Any]:
    """Floats and nullable columns, as a script of a chain writes them."""
    mark, delimiter = draw(st.sampled_from([(".", ","), (",", ";"), (",", "\t")]))
    frame = pd.DataFrame(rows, columns=list(NAMES))
    frame["price"] = pd.array([None if row["price"] is None else float(row["price"]) for row in rows], dtype="Float64")
    frame["quantity"] = pd.array([row["quantity"] for row in rows], dtype="Int64")
    frame["active"] = pd.array([row["active"] for row in rows], dtype="boolean")
    null = draw(st.sampled_from(["", "NULL", "\\N"]))
    frame.to_csv(path.with_suffix(".csv"), sep=delimiter, decimal=mark, index=draw(st.booleans()), na_rep=null)
    return {"csv_delimiter": delimiter, "decimal_mark": mark, "null_words": [null] if null else []}


def by_arrow(path: Path, rows: list[dict[str, Any]], draw: Any) -> dict[str, Any]:
    """Arrow's writer of CSV, which quotes what it likes."""
    options = pa.csv.WriteOptions(quoting_style=draw(st.sampled_from(["needed", "all_valid"])))
    pa.csv.write_csv(pa.Table.from_pylist(rows, TYPES), path.with_suffix(".csv"), options)
    return {}


def by_parquet(path: Path, rows: list[dict[str, Any]], draw: Any) -> dict[str, Any]:
    """Typed columns: decimals, dictionaries, large texts."""
    table = pa.Table.from_pylist(rows, TYPES)
    if draw(st.booleans()):
        table = table.set_column(1, "sku", table["sku"].dictionary_encode())
    if draw(st.booleans()):
        table = table.set_column(2, "price", table["price"].cast(pa.decimal128(20, 6)))
    compression = draw(st.sampled_from(["snappy", "zstd", "gzip", "none"]))
    pq.write_table(table, path.with_suffix(".parquet"), compression=compression, row_group_size=draw(st.integers(1, 6)))
    return {}


def by_duckdb(path: Path, rows: list[dict[str, Any]], draw: Any) -> dict[str, Any]:
    """A COPY of DuckDB, as CSV or Parquet."""
    rows_of_sql = pa.Table.from_pylist(rows, TYPES)
    ending, options = draw(st.sampled_from([("csv", "HEADER, DELIMITER '|'"), ("csv", "HEADER"), ("parquet", "")]))
    with duckdb.connect() as connection:
        connection.register("rows_of_sql", rows_of_sql)
        how = f"FORMAT {ending}" + (f", {options}" if options else "")
        connection.execute(f"COPY rows_of_sql TO '{path.with_suffix('.' + ending)}' ({how})")
    return {"csv_delimiter": "|"} if "|" in options else {}


def by_excel(path: Path, rows: list[dict[str, Any]], draw: Any) -> dict[str, Any]:
    """A workbook: numbers, truth values and empty cells."""
    book, above = openpyxl.Workbook(), draw(st.integers(0, 2))
    for line in [["Prices of the day"]] * above + [NAMES, *[[row[name] for name in NAMES] for row in rows]]:
        book.active.append(line)
    book.save(path.with_suffix(".xlsx"))
    return {"header_row": above + 1}


def by_old_excel(path: Path, rows: list[dict[str, Any]], draw: Any) -> dict[str, Any]:
    """An .xls: it cannot tell an error from an empty cell, so a value that is missing is a text for it."""
    book, above = xlwt.Workbook(), draw(st.integers(0, 2))
    sheet = book.add_sheet("Stock")
    lines = [["Prices of the day"]] * above + [list(NAMES), *_for_old_formats(rows)]
    for place, line in enumerate(lines):
        for column, value in enumerate(line):
            sheet.write(place, column, value)
    book.save(str(path.with_suffix(".xls")))
    return {"header_row": above + 1, "null_words": ["-"]}


def by_libreoffice(path: Path, rows: list[dict[str, Any]], draw: Any) -> dict[str, Any]:
    """An .ods, with the same gap."""
    above = draw(st.integers(0, 2))
    lines = [["Prices of the day"]] * above + [list(NAMES), *_for_old_formats(rows)]
    write_ods(path.with_suffix(".ods"), lines)
    return {"header_row": above + 1, "null_words": ["-"]}


def _for_old_formats(rows: list[dict[str, Any]]) -> list[list[object]]:
    words = {None: "-", True: "true", False: "false"}
    return [
        [
            row["vendor"],
            row["sku"],
            "-" if row["price"] is None else float(row["price"]),
            "-" if row["quantity"] is None else row["quantity"],
            words[row["active"]],
        ]
        for row in rows
    ]


def by_json(path: Path, rows: list[dict[str, Any]], draw: Any) -> dict[str, Any]:
    """Python's own writer of JSON, an object a line: numbers as numbers or as texts, an absent value as null or no key at all."""
    ascii_alone, spaced, texts = draw(st.booleans()), draw(st.booleans()), draw(st.booleans())
    lines = []
    for place, row in enumerate(rows):
        price = None if row["price"] is None else str(row["price"]) if texts else float(row["price"])
        found = {**row, "price": price}
        if place and not spaced:
            found = {name: value for name, value in found.items() if value is not None}
        lines.append(json.dumps(found, ensure_ascii=ascii_alone, separators=None if spaced else (",", ":")) + "\n")
    data = "".join(lines).encode()
    ending, pack = draw(
        st.sampled_from([(".jsonl", bytes), (".jsonl.gz", gzip.compress), (".jsonl.bz2", bz2.compress)])
    )
    path.with_suffix(ending).write_bytes(pack(data))
    return {}


def by_places(path: Path, rows: list[dict[str, Any]], draw: Any) -> dict[str, Any]:
    """Columns of fixed width, as old programs write them: texts left, numbers left or right."""
    right = draw(st.booleans())
    widths = {"vendor": 12, "sku": 14, "price": 13, "quantity": 13, "active": 6}
    lines = ["".join(name.ljust(width) for name, width in widths.items())]
    for row in rows:
        words = {name: "" if row[name] is None else str(row[name]) for name in widths}
        at = {"price": right, "quantity": right}
        cells = (word.rjust(widths[name]) if at.get(name) else word.ljust(widths[name]) for name, word in words.items())
        lines.append("".join(cells))
    path.with_suffix(".txt").write_bytes("".join(f"{line}\r\n" for line in lines).encode())
    ends = list(itertools.accumulate(widths.values()))
    places = {name: f"{end - width + 1}-{end}" for (name, width), end in zip(widths.items(), ends, strict=True)}
    return {"fixed_width": places, "header_row": 1}


def by_zip(path: Path, rows: list[dict[str, Any]], draw: Any) -> dict[str, Any]:
    """A file of another writer, alone in a zip."""
    inside = path.with_name("inside")
    inside.mkdir()
    write = draw(st.sampled_from([by_csv, by_excel, by_places]))
    found = write(inside / path.name, rows, draw)
    [file] = inside.iterdir()
    with zipfile.ZipFile(f"{path}{''.join(file.suffixes)}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(file, file.name)
    file.unlink()
    inside.rmdir()
    return found


WRITERS = (
    by_csv,
    by_pandas,
    by_arrow,
    by_parquet,
    by_duckdb,
    by_excel,
    by_old_excel,
    by_libreoffice,
    by_zip,
    by_json,
    by_places,
)


def value_of(row: dict[str, Any]) -> tuple[Any, ...]:
    """A row as it was read: numbers by their value, a truth value by any of its words."""
    price, quantity = (None if row[name] is None else Decimal(row[name]) for name in ("price", "quantity"))
    active = {None: None, "true": True, "1": True, "false": False, "0": False}[row["active"] and row["active"].lower()]
    return row["vendor"], row["sku"], price, quantity, active


@pytest.mark.parametrize("write", WRITERS, ids=lambda write: write.__name__)
@given(rows=tables, data=st.data())
def test_a_table_comes_back_as_it_was_written(tmp_path_factory, write, rows, data):
    folder = tmp_path_factory.getbasetemp() / f"writers-{next(_places)}"
    folder.mkdir()
    settings = write(folder / "stock", rows, data.draw)
    with open_source(ErpSettings(files=str(folder), **settings)).read() as extract:
        read = pa.concat_tables(extract).to_pylist()
    assert [value_of(row) for row in read] == [tuple(row[name] for name in NAMES) for row in rows]
