"""Pages of a list, whatever their size, filter and order, have each row once and in its order; the groups count what the pages have."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shelfsync.errors import DataError
from shelfsync.store.keyset_list import KeysetList, Order, every_page, groups, key, page

ROWS = [(number, kind, (number * 7) % 5) for number, kind in enumerate("abbacabba")]
LISTED = KeysetList(
    f"(VALUES {', '.join(str(row) for row in ROWS)}) AS listed (number, kind, weight)",
    ("number", "kind", "weight"),
    {"kind": "kind = :kind", "least": "weight >= CAST(:least AS integer)"},
    {
        "number": Order((("number", "integer"),)),
        "heavy": Order((("weight", "integer"), ("number", "integer")), newest_first=True),
        "kind": Order((("kind", "text"), ("number", "integer"))),
    },
)
SORTED = {
    "": lambda row: row["number"],
    "number": lambda row: row["number"],
    "heavy": lambda row: (-row["weight"], -row["number"]),
    "kind": lambda row: (row["kind"], row["number"]),
}


@given(
    order=st.sampled_from([*SORTED]),
    most=st.integers(1, 12),
    asked=st.fixed_dictionaries({}, optional={"kind": st.sampled_from("abcz"), "least": st.sampled_from("0359")}),
)
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_pages_have_each_row_once_and_in_order(engine, order, most, asked):
    wanted = [
        {"number": number, "kind": kind, "weight": weight}
        for number, kind, weight in ROWS
        if asked.get("kind", kind) == kind and weight >= int(asked.get("least", 0))
    ]
    pages = list(every_page(engine.connect, LISTED, asked, order=order, most=most))
    assert [row for rows in pages for row in rows] == sorted(wanted, key=SORTED[order])
    assert all(len(rows) <= most for rows in pages)
    every = [row for row in ROWS if row[2] >= int(asked.get("least", 0))]
    with engine.connect() as connection:
        counted = groups(connection, LISTED, asked, "kind", also={"sum": "sum(weight)"}, most=9)
    assert {row["kind"]: row["rows"] for row in counted} == Counter(row[1] for row in every)
    assert sum(row["sum"] for row in counted) == sum(row[2] for row in every)


def test_a_key_or_an_order_of_another_list_is_refused(engine):
    with engine.connect() as connection:
        assert key(LISTED, {"number": 1, "weight": 2}, "heavy") == ["2", "1"]
        with pytest.raises(DataError, match="names no row to go on behind"):
            page(connection, LISTED, {}, order="heavy", after=["1"], most=1)
        with pytest.raises(DataError, match="it has no order 'price'"):
            page(connection, LISTED, {}, order="price", most=1)


def test_a_filter_that_is_not_asked_for_is_not_in_the_statement():
    assert LISTED.where({}) == LISTED.where({"kind": "", "other": "x"}) == "true"
    assert LISTED.where({"kind": "a"}) == "(kind = :kind)"
