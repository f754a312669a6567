"""Rows of the ERP that name no store are an alert until a reading has none."""

from __future__ import annotations

from alert_look import kinds, lines


def test_rows_without_a_store_are_an_alert_until_a_reading_has_none(world, context):
    world.erp.put(" ", "b", "1.00")
    world.sync("delta")
    assert kinds(context) == {("rows_of_no_store", "")}
    assert "Runbook" not in lines(context)["rows_of_no_store"], "the kind has it"
    world.erp.execute("DELETE FROM stock WHERE sku = 'b'")
    world.sync("delta")
    assert kinds(context) == set()
