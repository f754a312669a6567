"""docs/orders.md names every rule that can refuse a result, every column of the SELECT, and every setting it speaks of."""

from __future__ import annotations

import re
from pathlib import Path

from shelfsync.orders.lines import COLUMNS
from shelfsync.settings import OrdersSettings

PROJECT = Path(__file__).resolve().parents[3]
PAGE = (PROJECT / "docs" / "orders.md").read_text("utf-8")


def test_every_rule_stands_in_the_table():
    sources = [
        *(PROJECT / "include/shelfsync/orders").rglob("*.py"),
        *(PROJECT / "include/shelfsync/flow/orders").rglob("*.py"),
    ]
    code = "\n".join(file.read_text("utf-8") for file in sources)
    rules = set(re.findall(r'yield\s*\(?\s*"([a-z_]+)"', code)) | set(re.findall(r'Problem\("([a-z_]+)"', code))
    rules |= {
        f"{kind}_{what}" for kind in ("replacement", "addition") for what in re.findall(r'f"\{rule\}_([a-z]+)"', code)
    }
    assert len(rules) > 25
    assert [rule for rule in sorted(rules | {"sku", "item"}) if f"`{rule}`" not in PAGE] == []


def test_every_column_of_a_table_of_results_is_named():
    assert [name for name in COLUMNS if f"`{name}`" not in PAGE] == []


def test_no_setting_is_named_that_there_is_not():
    named = {name.lower() for name in re.findall(r"SHELFSYNC_ORDERS__([A-Z_]+)", PAGE)}
    assert named <= set(OrdersSettings.model_fields)
    assert {"personal_key", "hand_over", "picking_secret", "read_new", "confirm_s"} <= named
