"""What a policy makes of columns that are not those of the reading before."""

from __future__ import annotations

import pytest

from catalog_rows import column_alarms as reported
from shelfsync.errors import DataError

pytestmark = pytest.mark.slow


@pytest.fixture
def stock(parquet_stock):
    return parquet_stock


def test_stop_sends_nothing_until_a_run_with_another_choice(stock):
    stock.write(price=["1.50"])
    stock().sync("full")
    careful = stock(changed_columns="stop")
    stock.write(price=["1.75"], colour=["red"])
    for _ in range(2):
        with pytest.raises(DataError, match=r"new: 'colour'.*Nothing was sent.*SHELFSYNC_ERP__CHANGED_COLUMNS=report"):
            careful.sync("full")
    assert careful.shown()["a"]["price"] == 9.99, "the products were put anew"
    stock(changed_columns="report").sync("full")
    stock.write(price=["2.50"], colour=["blue"])
    assert careful.sync("full")["state"] == "succeeded"


def test_ignore_keeps_and_reports_nothing(stock):
    world = stock(changed_columns="ignore")
    stock.write(price=["1.50"])
    world.sync("full")
    stock.write(price=["1.50"], colour=["red"])
    assert reported(world.sync("full")) == []
    assert world.rows("SELECT * FROM ledger.source_columns") == []
