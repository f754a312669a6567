from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from shelfsync.erp.number_notation import Notation
from shelfsync.errors import ConfigurationError
from shelfsync.rows import number

GROUPS = {"": [""], ".": ["."], ",": [","], "'": ["'", "\u2019"], "space": [" ", "\u00a0", "\u202f", "\u2009"]}
MARKS = [(mark, group) for mark in ".," for group in GROUPS if group != mark]


@st.composite
def written_numbers(draw):
    """A notation, a number, and its text as a careful ERP of that notation writes it."""
    mark, group = draw(st.sampled_from(MARKS))
    minus = draw(st.sampled_from(["leading", "any"]))
    currencies = draw(st.lists(st.sampled_from(["€", "EUR", "$", "R$", "kr.", "лв"]), unique=True, max_size=3))
    whole, part = draw(st.integers(0, 10**12)), draw(st.text("0123456789", max_size=4))
    digits = f"{whole:,}".replace(",", draw(st.sampled_from(GROUPS[group]))) if draw(st.booleans()) else str(whole)
    text = f"{digits}{mark}{part}" if part or draw(st.booleans()) else digits
    behind = [] if text.endswith(mark) else ["{}-", "{} -"]  # `19,-` has a dash in place of decimals
    value = Decimal(f"{whole}.{part or 0}")
    space = draw(st.sampled_from(["", " ", "\u00a0"]))
    if currencies and draw(st.booleans()):
        sign = draw(st.sampled_from(currencies))
        text = draw(st.sampled_from([f"{sign}{space}{text}", f"{text}{space}{sign}"]))
    if draw(st.booleans()):
        forms = ["-{}", "\u2212{}"] + ([*behind, "({})"] if minus == "any" else [])
        text, value = draw(st.sampled_from(forms)).format(text), -value
    return Notation(mark, group, minus, tuple(currencies)), value, draw(st.sampled_from(["", " "])) + text


@given(written_numbers())
def test_a_number_of_the_notation_is_read_exactly(case):
    notation, value, text = case
    [plain] = notation.numbers(pa.array([text])).to_pylist()
    assert Decimal(plain) == value


@given(written_numbers(), st.sampled_from(MARKS))
def test_no_other_notation_reads_it_as_another_number_unless_digits_are_grouped_by_three(case, marks):
    _, value, text = case
    [plain] = Notation(*marks, "any").numbers(pa.array([text])).to_pylist()
    read = number.read(pa.array([plain]))
    if read.magnitude[0].is_valid:
        exact = Decimal(plain)
        assert exact == value or exact * 1000 == value or value * 10**3 == exact or grouped(text, marks)


def grouped(text, marks):
    """Whether a mark of the notation stands before three digits: such a text is a number of both."""
    return any(mark and text.count(mark) >= 1 for mark in {marks[0], *GROUPS[marks[1]]})


@pytest.mark.parametrize(
    "text",
    [
        "4.99",
        "12.34,5",
        "1.2345",
        "1,2,3",
        "--3",
        "-3-",
        "(3",
        "3)",
        "-(3)",
        "4,99 USD",
        "€€4",
        "1 234",
        "4,9 9",
        "19,-",
        "19, -",
        "€ 19,-",
    ],
)
def test_what_is_not_of_the_notation_is_no_number_for_any_step(text):
    notation = Notation(",", ".", "any", ("€",))
    read = number.read(notation.numbers(pa.array([text])))
    assert (read.garbled | read.comma).all()


def test_the_sign_is_read_where_the_setting_says():
    texts = pa.array(["3-", "(3)", "-3"])
    assert Notation(minus="any").numbers(texts).to_pylist() == ["-3"] * 3
    leading = number.read(Notation(currencies=("€",)).numbers(texts))
    assert leading.garbled.tolist() == [True, True, False]


def test_marks_and_words_that_contradict_each_other_are_rejected():
    with pytest.raises(ConfigurationError, match="THOUSANDS_MARK"):
        Notation(",", ",")
    with pytest.raises(ConfigurationError, match="FALSE_WORDS"):
        Notation(true_words=("N",), false_words=("n ",))


def column(rows, name):
    return [row[name] for row in rows]


HEADER = "vendor,sku,barcode,price,quantity,active,max_sales_quantity"


def test_a_file_is_read_as_its_settings_say(read, tmp_path):
    path = tmp_path / "erp.csv"
    path.write_text(
        f"{HEADER}\nv;1;NULL;1.234,50 €;3-;ja;\\N\nv;2;-;0,99;1.200;Nein;#N/A\n".replace(",", ";", HEADER.count(",")),
        encoding="utf-8",
    )
    rows = read(
        files=str(path),
        csv_delimiter=";",
        decimal_mark=",",
        thousands_mark=".",
        minus="any",
        currencies=["€"],
        null_words=["NULL", r"\N", "#N/A", "-"],
        true_words=["ja"],
        false_words=["nein"],
    ).rows
    assert column(rows, "price") == ["1234.50", "0.99"]
    assert column(rows, "quantity") == ["-3", "1200"]
    assert column(rows, "active") == ["true", "false"]
    assert column(rows, "barcode") == column(rows, "max_sales_quantity") == [None, None]


def test_numbers_that_the_source_has_as_numbers_have_one_meaning_already(read, tmp_path, erp_url):
    """A decimal 1.299 is no 1299 and no `4.99 (decimal mark ,)`, beside texts of a German notation."""
    table = pa.table(
        {
            "vendor": ["v", "v"],
            "sku": ["1", "2"],
            "price": pa.array([Decimal("1.299"), Decimal("4.990")]),
            "quantity": ["1.200", "3-"],
        }
    )
    path = tmp_path / "erp.parquet"
    pq.write_table(table, path)
    german = {"decimal_mark": ",", "thousands_mark": ".", "minus": "any"}
    select = (
        "SELECT 'v' AS vendor, sku, price, quantity FROM (VALUES ('1', 1.299, '1.200'), ('2', 4.990, '3-')) AS t"
        " (sku, price, quantity)"
    )
    sqlite = f"sqlite:///{tmp_path / 'erp.db'}"
    with sa.create_engine(sqlite).begin() as connection:
        connection.exec_driver_sql("CREATE TABLE t (vendor, sku, price, quantity)")
        connection.exec_driver_sql("INSERT INTO t VALUES ('v', '1', 1.299, '1.200'), ('v', '2', 4.99, '3-')")
    for source in ({"files": str(path)}, {"url": erp_url, "sql": select}, {"url": sqlite, "sql": "SELECT * FROM t"}):
        rows = read(**source, **german).rows
        assert [Decimal(text) for text in column(rows, "price")] == [Decimal("1.299"), Decimal("4.99")]
        assert column(rows, "quantity") == ["1200", "-3"]


def test_money_of_postgresql_is_a_text_with_its_own_marks(read, erp_url):
    select = "SELECT 'v' AS vendor, '1' AS sku, '1234.50'::numeric::money AS price"
    with sa.create_engine(erp_url, poolclass=sa.pool.NullPool).connect() as connection:
        [text] = connection.exec_driver_sql("SELECT '1234.50'::numeric::money::text").scalars()
    sign = text[0] if not text[0].isdigit() else "$"
    rows = read(url=erp_url, sql=select, thousands_mark=",", currencies=[sign]).rows
    assert column(rows, "price") == ["1234.50"]
