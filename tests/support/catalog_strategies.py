"""Shelves, deltas and ERP rows as hypothesis draws them: few SKUs, so that tables meet, and every kind of odd text."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import strategies as st

from catalog_rows import shelf

SKUS = st.sampled_from(["A1", "a1", "007", "7", "Ä", "😀", 'q"\\', "A1 b", "z" * 40, "1,5"])
PRICES = st.integers(0, 10**7).map(lambda thousandths: Decimal(thousandths) / 1000)
COUNTS = st.integers(0, 2**31 - 1)
BARCODES = st.sampled_from(["4006381333931", "96385074", "00000096385074", "5901234123457"])


MAYBE_BARCODES = st.none() | BARCODES


def fields(barcodes):
    return st.fixed_dictionaries(
        {
            "barcode": barcodes,
            "price": st.none() | PRICES,
            "quantity": st.none() | COUNTS | st.integers(0, 2),
            "active": st.none() | st.booleans(),
            "max_sales_quantity": st.none() | st.integers(0, 3),
        }
    )


def shelves(barcodes=MAYBE_BARCODES):
    """Snapshots and baselines of at most ten SKUs."""
    rows = st.dictionaries(SKUS, fields(barcodes), max_size=10)
    return rows.map(lambda found: shelf(*({"sku": sku, **values} for sku, values in found.items())))


NUMBERS_OF_ERPS = st.one_of(
    st.none(),
    st.decimals(allow_nan=True, allow_infinity=True).map(str),
    st.decimals(min_value=-10, max_value=10**6, places=5).map(lambda value: format(value, "f")),
    st.integers(-5, 2**33).map(str),
    st.floats().map(repr),
    st.sampled_from(
        [
            "",
            "  ",
            "1,99",
            "1.234,50",
            "1e400",
            "1E+2",
            "-0",
            "-0.0004",
            ".5",
            "5.",
            ".",
            "+",
            "e5",
            "٣",
            "1_0",
            " 4.5 ",
        ]
    ),
    st.text(max_size=8),
)
ROWS_OF_ERPS = st.fixed_dictionaries(
    {
        "sku": st.one_of(st.none(), SKUS, SKUS.map(lambda sku: f" {sku} "), st.text(max_size=6), st.just("x" * 300)),
        "barcode": st.one_of(
            st.none(), BARCODES, st.text("0123456789", max_size=16), st.sampled_from(["4.0E+12", "12a", " "])
        ),
        "price": NUMBERS_OF_ERPS,
        "quantity": NUMBERS_OF_ERPS,
        "active": st.one_of(st.none(), st.sampled_from(["true", "F", "Yes", "0", "2", "", "on"])),
        "max_sales_quantity": NUMBERS_OF_ERPS,
    }
)
