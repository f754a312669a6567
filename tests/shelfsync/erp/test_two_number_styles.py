"""Numbers in two styles in one file: nothing of it is sent, and both cells are named."""

from __future__ import annotations

import pytest

from shelfsync.errors import DataError


def column(rows, name):
    return [row[name] for row in rows]


@pytest.mark.parametrize(
    ("prices", "marks"),
    [
        (["1.299", "4,99"], {}),
        (["4,99", "1.299"], {}),
        (["1.299,00", "2.500"], {}),
        (["1,299", "4.99"], {"decimal_mark": ","}),
        (["1.299", "3.99", "7,00"], {"decimal_mark": ",", "thousands_mark": "."}),
        (["4,99", *(f"1.{end}" for end in range(100, 120))], {}),
        (["4.99", *(f"1,{end}" for end in range(100, 120))], {"decimal_mark": ",", "thousands_mark": "."}),
    ],
)
@pytest.mark.parametrize("chunk_rows", [1, 50])
def test_two_styles_in_one_file_are_named_by_both_cells(read, tmp_path, prices, marks, chunk_rows):
    path = tmp_path / "erp.csv"
    path.write_text("vendor;sku;price\n" + "".join(f"v;{n};{price}\n" for n, price in enumerate(prices)))
    with pytest.raises(DataError, match=r"two styles: price '.*' of SKU '.*because price '.*' of SKU '.*DECIMAL_MARK"):
        read(files=str(path), csv_delimiter=";", chunk_rows=chunk_rows, **marks)


def test_one_style_and_a_slip_of_the_pen_cost_one_row_alone(read, tmp_path):
    path = tmp_path / "erp.csv"
    for prices in (["12.50", "4,99", "0.299", "1299"], ["4,99", "1.299", *(f"1.{end}" for end in range(10, 30))]):
        path.write_text("vendor;sku;price\n" + "".join(f"v;{n};{price}\n" for n, price in enumerate(prices)))
        assert column(read(files=str(path), csv_delimiter=";").rows, "price") == prices


def test_three_decimals_that_are_certain_make_one_style(read, tmp_path):
    prices = [*(f"1.{end}" for end in range(100, 140)), "0.950", "4,99"]
    path = tmp_path / "erp.csv"
    path.write_text("vendor;sku;price\n" + "".join(f"v;{n};{price}\n" for n, price in enumerate(prices)))
    assert column(read(files=str(path), csv_delimiter=";").rows, "price") == prices
