"""Numbers in two styles in one file: nothing of it is sent, and both cells are named."""

from __future__ import annotations

import pytest

from shelfsync.erp.open import open_source
from shelfsync.erp.two_number_styles import Styles
from shelfsync.errors import DataError
from shelfsync.settings import ErpSettings


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


def test_the_two_cells_may_stand_in_different_blocks_of_a_large_file(read, tmp_path):
    path = tmp_path / "erp.csv"
    prices = ["1.299", *["7"] * 400_000, "4,99"]
    for order in (prices, prices[::-1]):
        path.write_text("vendor;sku;price\n" + "".join(f"v;{n:06};{price}\n" for n, price in enumerate(order)))
        with pytest.raises(DataError, match=r"price '1.299' of SKU '\d+' may be .* price '4,99' of SKU"):
            read(files=str(path), csv_delimiter=";")


def test_what_is_a_slip_is_judged_by_the_whole_file(read, tmp_path):
    path = tmp_path / "erp.csv"
    prices = ["4,99", "1.299", *(f"1.{end}" for end in range(10, 30))]
    path.write_text("vendor;sku;price\n" + "".join(f"v;{n};{price}\n" for n, price in enumerate(prices)))
    assert column(read(files=str(path), csv_delimiter=";", chunk_rows=1).rows, "price") == prices


FILES = {"a": ["1.299", "12"], "b": ["4,99", "3"], "c": ["1.299", "4.99"], "d": ["5", "6"]}


@pytest.fixture
def folder(tmp_path):
    for name, prices in FILES.items():
        rows = "".join(f"{name}{n};{price}\n" for n, price in enumerate(prices))
        (tmp_path / f"{name}.csv").write_text(f"sku;price\n{rows}")
    return tmp_path


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_the_two_cells_may_stand_in_two_files_of_one_source(read, folder, order):
    for name, new in zip("ab", order, strict=True):
        (folder / f"{name}.csv").rename(folder / f"{new}.dat")
    files = {"files": f"{folder}/*.dat", "csv_delimiter": ";", "constants": {"vendor": "v"}, "file_format": "csv"}
    with pytest.raises(
        DataError, match=r"two styles: price '1.299' of SKU 'a0' .* price '4,99' of SKU 'b0' in the file"
    ):
        read(**files)


def test_of_stores_with_files_of_their_own_the_one_in_doubt_fails_alone(folder):
    settings = ErpSettings(files=f"{folder}/{{vendor}}.csv", csv_delimiter=";")
    with open_source(settings).read() as extract:
        list(extract)
        assert list(extract.failed) == ["a"]
        assert "price '4,99' of SKU 'b0'" in extract.failed["a"]
        assert extract.proof().rows == 6


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


def test_the_files_of_a_source_are_compared_once_and_not_each_with_each(monkeypatch, tmp_path):
    for number in range(40):
        (tmp_path / f"{number:02}.csv").write_text(f"sku;price\na{number};1.299\n")
    asked = []
    monkeypatch.setattr(Styles, "other_style", _counted(Styles.other_style, asked))
    with open_source(ErpSettings(files=f"{tmp_path}/{{vendor}}.csv", csv_delimiter=";")).read() as extract:
        list(extract)
    assert extract.failed == {}
    assert len(asked) <= 2 * 40


def _counted(method, calls):
    def counted(self):
        calls.append(self)
        return method(self)

    return counted
