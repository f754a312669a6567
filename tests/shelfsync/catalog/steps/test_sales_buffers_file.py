"""Where sales buffers come from: the ERP, the settings, or a file of buffers."""

from __future__ import annotations

import pytest

from catalog_rows import active_by_sku as active
from shelfsync.errors import ConfigurationError

A = {"barcodes": [], "title": "A", "price": 9.99, "active": True, "sales_buffer": 3}


@pytest.fixture
def shop(buffered_shop):
    return buffered_shop


@pytest.mark.slow
def test_without_a_word_about_buffers_everything_is_sent(make_world, shop):
    plain = make_world()
    plain.erp.put("store-001", "a", "1.00", 9, 1, 5)
    assert plain.sync("delta")["sent"] == 1


@pytest.mark.slow
def test_a_file_sets_buffers_by_sku_category_and_vendor(make_world, shop, tmp_path):
    file = tmp_path / "buffers.csv"
    file.write_text("vendor,category,sku,sales_buffer\n,,,3\n,,b,9\n", "utf-8")
    by_file = make_world(suppression={"buffers_file": file})
    by_file.platform.put_products("store-001", [{**A, "sku": "b", "price": 1.0, "sales_buffer": 9}, {**A, "sku": "a"}])
    by_file.erp.put("store-001", "a", "1.00", 8, 1, 5)
    by_file.erp.put("store-001", "b", "1.00", 8, 1, 5)
    by_file.sync("delta", "store-001")
    assert active(by_file)["b"] is False


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sku,sales_buffer\na,three\n", "line 2: 'three' is no whole number"),
        ("sku,sales_buffer\na,4006381333931000000001\n", "line 2: '4006381333931000000001' is no whole number"),
        ("sku,buffer\na,3\n", "has no column sales_buffer"),
        ("sku,sales_buffer,shop\na,3,1\n", "has a column 'shop'"),
        (None, "cannot be read"),
    ],
)
def test_a_wrong_buffers_file_is_reported_before_anything_is_compared(make_world, shop, tmp_path, text, message):
    file = tmp_path / "buffers.csv"
    if text is not None:
        file.write_text(text, "utf-8")
    wrong = make_world(suppression={"buffers_file": file})
    with pytest.raises(ConfigurationError, match=message):
        wrong.sync("delta")
