"""The file of rejections: the ERP's own names of columns, and which field each rejection is about."""

from __future__ import annotations

import pytest

from shelfsync.catalog.steps import rejection_file


@pytest.mark.parametrize(
    ("reason", "kind", "field"),
    [
        ("product not found", "unknown_sku", "sku"),
        ("invalid price: must be > 0", "invalid_value", "price"),
        ("EAN is malformed", "invalid_value", "barcode"),
        ("max_sales_quantity too large", "invalid_value", "max_sales_quantity"),
        ("drift returned after 3 resends: active (unknown)", "drifted", "active"),
        ("priceless", "unclear", None),
        ("try again", "for_now", None),
    ],
)
def test_the_field_is_the_one_that_the_text_names(reason, kind, field):
    assert rejection_file.field_of(reason, kind) == field


def test_page_and_command_have_the_same_rows_under_the_names_of_the_erp(world):
    world.erp.put("store-001", "00471", "1.00")
    world.sync("full")
    context = world.app.context
    context.settings.erp.columns.update({"sku": "item_code", "price": "item_price"})
    names = rejection_file.names(context)
    assert names[:5] == ["vendor", "item_code", "name", "barcode", "item_price"]
    [[row]] = rejection_file.pages(context, {})
    found = dict(zip(names, row, strict=True))
    assert (found["item_code"], found["field"], found["value"], found["code"]) == (
        "00471",
        "sku",
        "00471",
        "unknown_sku",
    )
    assert "Have the product created on the platform" in found["action"]


def test_no_two_columns_have_the_same_name(world):
    """A spreadsheet refuses them, and a program reads the last one alone."""
    context = world.app.context
    context.settings.erp.columns.update({"sku": "Code", "barcode": "code", "price": "value"})
    names = rejection_file.names(context)
    assert names[:5] == ["vendor", "Code", "name", "shelfsync barcode", "value"]
    assert {"shelfsync code", "shelfsync value"} < set(names)
    assert len({name.casefold() for name in names}) == len(names)
