from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from shelfsync.erp.text import MARK, decode, series_texts, text, texts

anything = st.one_of(
    st.none(),
    st.text(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.decimals(),
    st.binary(max_size=20),
    st.dates(),
    st.datetimes(),
)
broken_text = st.text(st.characters(codec=None, categories=None), max_size=20)


@settings(deadline=None)
@given(st.lists(anything))
def test_a_column_of_anything_is_the_texts_of_its_values(values):
    column = texts(values)
    assert column.to_pylist() == [text(value) for value in values]
    column.validate(full=True)


@settings(deadline=None)
@given(st.decimals(allow_nan=False, allow_infinity=False))
def test_a_decimal_keeps_its_value_and_its_scale(value):
    written = text(value)
    assert Decimal(written) == value
    exponent = value.as_tuple().exponent
    if -1000 < exponent < 1000:
        assert "E" not in written
        assert len(written.partition(".")[2]) == max(0, -exponent)


@settings(deadline=None)
@given(st.floats(allow_nan=False))
def test_a_float_is_written_so_that_it_reads_back_as_itself(value):
    assert float(text(value)) == value
    assert text(value) == text(np.float64(value)) == repr(value)


@settings(deadline=None)
@given(st.floats(width=32, allow_nan=False))
def test_a_narrow_float_is_written_at_its_own_width(value):
    single = np.float32(value)
    written = text(single)
    assert np.float32(written) == single
    assert texts(pa.array([single, None], pa.float32())).to_pylist() == [written, None]


@settings(deadline=None)
@given(broken_text)
def test_any_text_becomes_text_that_parquet_can_hold_and_whole_text_stays_itself(value):
    [written] = texts([value]).to_pylist()
    written.encode()
    whole = not any("\ud800" <= character <= "\udfff" for character in value)
    assert (written == value) is whole
    assert whole or MARK in written


@settings(deadline=None)
@given(st.binary(max_size=30), st.binary(max_size=30))
def test_two_different_broken_texts_stay_different(one, other):
    assume(one != other)
    assume(MARK.encode() not in one + other)
    assert decode(one) != decode(other)


@settings(deadline=None)
@given(st.binary(max_size=30))
def test_bytes_are_marked_exactly_where_they_are_not_utf8(data):
    assume(MARK.encode() not in data)
    try:
        expected = data.decode()
    except UnicodeDecodeError:
        assert MARK in decode(data)
    else:
        assert decode(data) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Decimal("1.10"), "1.10"),
        (Decimal("32.9670"), "32.9670"),
        (Decimal("1E+2"), "100"),
        (Decimal("-0.0004"), "-0.0004"),
        (Decimal("NaN"), "NaN"),
        (Decimal("1E+999999"), "1E+999999"),
        (4006381333931.0, "4006381333931.0"),
        (0.1 + 0.2, "0.30000000000000004"),
        (float("nan"), "nan"),
        (True, "true"),
        (np.bool_(False), "false"),
        (np.int64(7), "7"),
        (np.str_("07"), "07"),
        (np.datetime64("2024-02-14"), "2024-02-14"),
        (pd.Timestamp("2024-02-14 10:00"), "2024-02-14T10:00:00"),
        (dt.date(2024, 2, 14), "2024-02-14"),
        (b"Caf\xe9", "Caf\ufffd\\xe9"),
        ("x\ud800", "x\ufffd\\ud800"),
        ("a\0b", "a\0b"),
        (" 007 ", " 007 "),
        ({"a": 1}, "{'a': 1}"),
        pytest.param(10**5000, hex(10**5000), id="a number beyond any use"),
        (None, None),
    ],
)
def test_each_kind_of_value_has_one_text(value, expected):
    assert text(value) == expected
    assert texts([value, None]).to_pylist() == [expected, None]


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pa.array([1, None, 2**63 - 1]), ["1", None, "9223372036854775807"]),
        (pa.array([2**64 - 1], pa.uint64()), ["18446744073709551615"]),
        (pa.array([Decimal("1.1000000"), Decimal("-0.0000001")], pa.decimal128(38, 7)), ["1.1000000", "-0.0000001"]),
        (pa.array([1.0, 1e22, None]), ["1.0", "1e+22", None]),
        (pa.array([True, None]), ["true", None]),
        (pa.array(["a", None], pa.large_string()), ["a", None]),
        (pa.array(["a", "b", "a"]).dictionary_encode(), ["a", "b", "a"]),
        (pa.nulls(2), [None, None]),
        (pa.array([dt.date(2024, 2, 14)]), ["2024-02-14"]),
        (pa.array([b"Caf\xe9", b"ok"]).view(pa.string()), ["Caf\ufffd\\xe9", "ok"]),
        (pa.chunked_array([pa.array([0.1], pa.float16()), pa.array([None], pa.float16())]), ["0.1", None]),
    ],
)
def test_an_arrow_column_keeps_every_value_exactly(column, expected):
    assert texts(column).to_pylist() == expected


@pytest.mark.parametrize(
    ("series", "expected"),
    [
        (pd.Series(["a", None]), ["a", None]),
        (pd.Series([1.5, np.nan]), ["1.5", None]),
        (pd.Series([1, None], dtype="Int64"), ["1", None]),
        (pd.Series([True, None], dtype="boolean"), ["true", None]),
        (pd.Series(["a", "b"], dtype="category"), ["a", "b"]),
        (
            pd.Series([Decimal("1.10"), None, np.nan, pd.NA, pd.NaT, "x"], dtype=object),
            ["1.10", None, None, None, None, "x"],
        ),
        (pd.Series([Decimal("1.10")], dtype=pd.ArrowDtype(pa.decimal128(5, 2))), ["1.10"]),
        (pd.Series([pd.Timestamp("2024-02-14"), None]), ["2024-02-14T00:00:00", None]),
        (pd.Series([pd.Period("2024-02")]), ["2024-02"]),
        (pd.Series([np.float32(0.1)]), ["0.1"]),
        (pd.Series(["x\ud800"], dtype=object), ["x\ufffd\\ud800"]),
    ],
)
def test_a_pandas_column_keeps_every_value_and_missing_is_null(series, expected):
    assert series_texts(series).to_pylist() == expected
