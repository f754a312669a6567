"""Any rows of promotions in the ERP: the campaign behind them is planned, and each row is sent, in quarantine, a repeat, or of no vendor."""

from __future__ import annotations

import contextlib
import itertools

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fuzz_minute import BRIEFLY, for_a_minute
from promotion_erp import COLUMNS

pytestmark = pytest.mark.slow

CORPUS = (
    "nul\0",
    "..",
    "x" * 20_000,
    b"\xff\xfe",
    float("inf"),
    1e300,
    2**63 - 1,
    "1e999999999",
    "-0",
    "9" * 5_000,
    "\u202e",
    "line\nbreak",
    "\x1f",
    '{"en_GB": "' + "x" * 5_000 + '"}',
    "{" * 5_000,
    r'{"en_GB": "\ud83c"}',
    "0001-01-01T00:00:00+23:59",
    "9999-12-31T23:59:59-23:59",
    "",
    None,
)
_numbers = itertools.count(1)
texts = st.text().filter(lambda text: "demo-secret" not in text)
"""hypothesis also tries the constants of the code, and this one is looked for in all that the tests leave behind."""
cells = st.one_of(
    st.none(),
    texts,
    st.binary().filter(lambda text: b"demo-secret" not in text),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(),
    st.sampled_from(CORPUS),
)
plausible = {
    "campaign": st.sampled_from(["c1", "c2"]),
    "vendor": st.sampled_from(["store-001", "store-002", "*", None]),
    "sku": st.sampled_from(["a", "b", "c", "nowhere"]),
    "price": st.sampled_from(["8", "0.001", "50"]),
    "discount_type": st.sampled_from(["", "PERCENTAGE", "ABSOLUTE"]),
    "name": st.sampled_from(["Spring", '{"en_GB": "Spring"}']),
    "start_time": st.sampled_from(["2026-01-01T00:00:00Z", "2100-01-01T00:00:00Z"]),
    "end_time": st.sampled_from(["2099-01-01T00:00:00Z", "2101-01-01T00:00:00Z"]),
    "type": st.sampled_from(["", "STRIKETHROUGH", "BUY_X_GET_Y"]),
    "overlap": st.sampled_from(["", "yes"]),
}
rows = st.lists(
    st.fixed_dictionaries({name: st.one_of(plausible.get(name, st.none()), cells) for name in COLUMNS}), max_size=12
)


def is_apart(row) -> bool:
    """Whether the row is not about the good campaign's SKU: two campaigns of one SKU rightly hold each other."""
    return not (isinstance(row["sku"], str) and row["sku"].strip() == "d")


@settings(BRIEFLY, max_examples=15)
@given(bad=rows)
@example(bad=[dict.fromkeys(COLUMNS, cell) for cell in CORPUS])
@example(bad=[dict.fromkeys(COLUMNS, cell) | {"vendor": "store-003", "sku": "a"} for cell in CORPUS])
@example(
    bad=[
        {
            "campaign": "c1",
            "vendor": "*",
            "sku": "a",
            "price": "8",
            "name": "n",
            "start_time": "2026-01-01T00:00:00Z",
            "end_time": "2099-01-01T00:00:00Z",
        }
        | {name: cell}
        for cell in CORPUS
        for name in ("price", "name", "start_time", "max_quantity", "cost", "vendor", "campaign")
    ]
)
def test_any_rows_leave_the_good_campaign_as_it_is(shop, bad):
    good = f"good-{next(_numbers)}"
    shop.world.erp.execute("DELETE FROM promotion")
    count = 0
    for row in filter(is_apart, bad):
        with contextlib.suppress(UnicodeEncodeError):  # half a character cannot even be written
            names, places = ", ".join(row), ", ".join("?" * len(row))
            shop.world.erp.execute(f"INSERT INTO promotion ({names}) VALUES ({places})", *row.values())
            count += 1
    shop.erp.put(good, "d", "8", vendor="store-003")
    path = shop.world.app.promotions
    run = path.open_run(good)
    assert path.extract(run)["rows"] == count + 1
    assert path.plan(run)["counts"]["rows"] == count + 1
    planned = shop.rows(f"SELECT DISTINCT state FROM ledger.promotion WHERE campaign = '{good}'")
    assert planned == [("new",)]


@pytest.mark.proof
def test_for_a_minute(shop):
    assert for_a_minute(test_any_rows_leave_the_good_campaign_as_it_is, shop) > 0
