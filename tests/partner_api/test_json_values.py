from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partner_api import json_values
from partner_api.catalog import CatalogPage
from partner_api.errors import InvalidRequestError
from partner_api.jobs import Job, JobStatus
from partner_api.json_values import dumps, instant_text
from partner_api.promotions import PromotionStatus

decimals = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**12), max_value=10**12, places=6)
plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | decimals
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=3)
    ),
    max_leaves=15,
)


@given(plain)
def test_what_is_written_is_read_back_to_the_last_digit(value):
    assert json_values.json_or_none(dumps(value)) == value


@given(decimals)
def test_a_price_keeps_its_text_both_ways(value):
    text = format(value, "f")
    assert dumps(value) == text.encode()
    assert json_values.decimal({"price": text}, "price") == value
    assert json_values.decimal(json_values.json_or_none(b'{"price": %s}' % text.encode()), "price") == value


@given(st.floats())
def test_a_float_is_never_sent(value):
    with pytest.raises(InvalidRequestError, match="Decimal"):
        dumps({"price": value})


@given(st.binary(max_size=200))
def test_any_bytes_are_json_or_none(body):
    json_values.json_or_none(body)


_any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "products",
                    "result",
                    "item_level_feedback",
                    "sku",
                    "price",
                    "barcodes",
                    "missing_skus",
                    "categories",
                    "details",
                    "name",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@pytest.mark.slow
@given(
    st.dictionaries(
        st.sampled_from(
            ["products", "result", "job_id", "job_status", "download_url", "duplicated_products", "page_number"]
        ),
        _any,
    )
)
def test_no_malformed_answer_breaks_a_model(raw):
    raw = json_values.json_or_none(json.dumps(raw).encode())
    for model in (CatalogPage.read(raw), Job.read(raw), JobStatus.read("j", raw), PromotionStatus.read("j", raw)):
        assert model.raw is raw


@pytest.mark.parametrize(
    ("value", "number"),
    [
        ("1.005", Decimal("1.005")),
        (1, Decimal(1)),
        (" 2 ", Decimal(2)),
        ("NaN", None),
        ("Infinity", None),
        ("1e999999999", None),
        ("9" * 101, None),
        ("1,99", None),
        ("", None),
        (True, None),
        ([], None),
        (None, None),
    ],
)
def test_only_a_finite_number_is_one(value, number):
    assert json_values.decimal({"x": value}, "x") == number


@pytest.mark.parametrize("body", [b'{"a": NaN}', b'{"a": Infinity}', b'{"a": -Infinity}', b'{"a": 1e999999}'])
def test_an_unreadable_number_becomes_null_and_leaves_the_rest_readable(body):
    assert json_values.json_or_none(body[:-1] + b', "b": 1}') == {"a": None, "b": 1}


def test_a_huge_number_costs_nothing():
    assert json_values.json_or_none(b'{"a": ' + b"9" * 1_000_000 + b"}") == {"a": None}


@pytest.mark.parametrize(
    ("value", "truth"),
    [(True, True), (0, False), ("1", True), ("FALSE", False), ("yes", None), (None, None), (2, None), ([], None)],
)
def test_a_flag_is_read_in_its_spellings_only(value, truth):
    assert json_values.boolean({"x": value}, "x") is truth


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2026-13-01", "now", "12"])
def test_an_instant_out_of_range_is_none(text):
    assert json_values.instant({"x": text}, "x") is None


@given(st.datetimes(min_value=dt.datetime(1990, 1, 1), max_value=dt.datetime(2100, 1, 1)), st.integers(-14, 14))
def test_an_instant_is_written_in_utc_and_read_back(naive, hours):
    value = naive.replace(microsecond=0, tzinfo=dt.timezone(dt.timedelta(hours=hours)))
    assert json_values.instant({"x": instant_text(value)}, "x") == value
