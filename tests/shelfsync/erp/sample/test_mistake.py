from __future__ import annotations

import sqlalchemy as sa

from shelfsync.erp import sample
from shelfsync.store.engine import create_engine


def test_a_mistake_makes_one_price_a_hundred_times_as_high_until_it_is_corrected(empty_database_url):
    engine = create_engine(empty_database_url)
    sample.create(engine, vendors=2, skus_per_vendor=300)

    def prices():
        with engine.connect() as connection:
            rows = connection.execute(sa.text(sample.SELECT_FILE.read_text("utf-8").rstrip().rstrip(";"))).mappings()
            return {(row["vendor"], row["sku"]): row["price"] for row in rows}

    before = prices()
    (sku,) = sample.plentiful(engine, "store-001", 1)
    mistake = sample.mistype(engine, "store-001", sku)
    after = prices()
    assert {key for key in before if after[key] != before[key]} == {("store-001", sku)}
    assert after["store-001", sku] == mistake.amount
    assert mistake.amount > 50 * before["store-001", sku]
    sample.correct(engine, mistake)
    assert prices() == before
    engine.dispose()
