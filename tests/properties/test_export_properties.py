"""Reading an export: every form of a file gives the same assortment, and a truncated file is never taken for a whole one."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from catalog_strategies import PRICES, SKUS
from shelfsync.catalog.export import parse_export
from shelfsync.errors import DataError
from shelfsync.schemas import OBSERVED

_rows = st.dictionaries(
    SKUS,
    st.fixed_dictionaries(
        {
            "barcode": st.none() | st.sampled_from(["4006381333931", "96385074", "5901234123457"]),
            "price": st.none() | PRICES,
            "active": st.none() | st.booleans(),
            "max_sales_quantity": st.none() | st.integers(0, 2**31),
        }
    ),
    max_size=8,
)
_NAMES = {"max_sales_quantity": ("maximum_sales_quantity", "max_sales_quantity")}
_shapes = st.fixed_dictionaries(
    {
        "mark": st.booleans(),
        "packed": st.booleans(),
        "line_end": st.sampled_from(["\n", "\r\n"]),
        "quoting": st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
        "limit": st.sampled_from(["maximum_sales_quantity", "max_sales_quantity", "Maximum_Sales_Quantity"]),
        "order": st.permutations(["sku", "barcode", "price", "active", "max_sales_quantity", "shelf"]),
        "turned": st.booleans(),
    }
)


def _file(rows, shape):
    """The rows as the platform might write them, with an unknown column."""
    out = io.StringIO()
    writer = csv.writer(out, quoting=shape["quoting"], lineterminator=shape["line_end"])
    writer.writerow([shape["limit"] if name == "max_sales_quantity" else name for name in shape["order"]])
    skus = sorted(rows, reverse=shape["turned"])
    for sku in skus:
        cells = {**rows[sku], "sku": sku, "shelf": f"of {sku}"}
        cells["active"] = {True: "1", False: "0", None: ""}[cells["active"]]
        cells["barcode"] = (cells["barcode"] or "").rjust(14, "0") if cells["barcode"] else ""
        cells["price"] = "" if cells["price"] is None else f"{cells['price']:.3f}"
        writer.writerow(["" if cells[name] is None else cells[name] for name in shape["order"]])
    data = (b"\xef\xbb\xbf" if shape["mark"] else b"") + out.getvalue().encode()
    return gzip.compress(data, mtime=0) if shape["packed"] else data


@given(rows=_rows, shape=_shapes)
def test_an_assortment_is_the_same_in_every_shape_of_its_file(rows, shape):
    read = parse_export(io.BytesIO(_file(rows, shape)))
    assert read.rows.schema == OBSERVED
    assert read.problems == ()
    found = read.rows.to_pylist()
    assert [row["sku"] for row in found] == sorted(rows, key=str.encode)
    assert {row.pop("sku"): row for row in found} == rows
    assert {row["sku"] for row in read.extra.to_pylist()} == rows.keys()


@given(rows=_rows, shape=_shapes, cut=st.floats(0, 1))
def test_a_truncated_file_is_rejected_or_ends_with_a_whole_line(rows, shape, cut):
    whole = _file(rows, shape)
    part = whole[: int(len(whole) * cut)]
    try:
        read = parse_export(io.BytesIO(part))
    except DataError:
        return
    found = {row.pop("sku"): row for row in read.rows.to_pylist()}
    assert {sku: rows.get(sku) for sku in found} == found
    if shape["packed"]:
        assert part == whole
    else:
        assert part.endswith((b"\n", b"\r")) or not found


@given(data=st.binary(max_size=300))
def test_any_bytes_are_read_or_rejected(data):
    with contextlib.suppress(DataError):
        assert parse_export(io.BytesIO(data)).rows.schema == OBSERVED


@given(rows=_rows.filter(bool), shape=_shapes)
def test_a_barcode_comes_back_in_the_spelling_of_the_erp(rows, shape):
    read = parse_export(io.BytesIO(_file(rows, shape)))
    known = read.rows.select(["sku", "barcode"])
    spelt = [None if one is None else one.zfill(13) for one in known["barcode"].to_pylist()]
    padded = pa.table({"sku": known["sku"], "barcode": pa.array(spelt, pa.string())})
    again = parse_export(io.BytesIO(_file(rows, shape)), padded)
    assert again.rows["barcode"].to_pylist() == padded["barcode"].to_pylist()


def test_a_sku_keeps_the_blanks_that_it_is_sent_with():
    """normalise removes spaces around a SKU, and no other blank: `a` and `a` with a no-break space are two products."""
    read = parse_export(io.BytesIO("sku,price,active\na,1,1\na\u00a0,2,1\n\u3000b,3,1\n d ,4,1\n".encode()))
    assert read.rows["sku"].to_pylist() == ["a", "a\u00a0", "d", "\u3000b"]
    assert not read.problems
