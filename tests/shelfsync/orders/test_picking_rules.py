"""docs/how-to/orders.md names every rule that can reject a result, every column of the SELECT, and only existing settings."""

from __future__ import annotations

import re
from pathlib import Path

from order_cases import CASES, ROWS
from shelfsync.orders.picking_table import ROW_COLUMNS
from shelfsync.settings import OrdersSettings

PROJECT = Path(__file__).resolve().parents[3]
PAGE = (PROJECT / "docs/how-to/orders.md").read_text("utf-8")


def test_every_rule_is_in_the_table():
    sources = (PROJECT / "include/shelfsync/orders").rglob("*.py")
    code = "\n".join(file.read_text("utf-8") for file in sources)
    rules = set(re.findall(r'yield\s*\(?\s*"([a-z_]+)"', code)) | set(re.findall(r'Problem\("([a-z_]+)"', code))
    rules |= {
        f"{kind}_{what}" for kind in ("replacement", "addition") for what in re.findall(r'f"\{rule\}_([a-z]+)"', code)
    }
    assert len(rules) > 25
    assert [rule for rule in sorted(rules | {"sku", "item"}) if f"`{rule}`" not in PAGE] == []


def test_every_row_and_rule_has_a_case_or_a_test_and_every_case_a_row():
    named = [name for _, names in ROWS.values() for name in names]
    cases = [case.name for case in CASES]
    tests = {name for name in named if name.startswith("test_")}
    code = "\n".join(file.read_text("utf-8") for file in (PROJECT / "tests").rglob("test_order*.py"))
    code += "\n".join(file.read_text("utf-8") for file in (PROJECT / "tests/shelfsync/orders/steps").glob("test_*.py"))
    assert (sorted(cases), len(cases)) == (sorted(set(named) - tests), len(set(cases)))
    assert [name for name in tests if f"def {name}(" not in code] == []
    assert [f"4.8.{number}" for number in range(1, 10)] == sorted({row[:5] for row in ROWS if row.startswith("4.8.")})


def test_every_rule_that_a_store_can_break_is_broken_by_a_case():
    broken = {case.rule for case in CASES if case.rule}
    assert len(broken) >= 28, sorted(broken)


def test_every_column_of_a_table_of_results_is_named():
    assert [name for name in ROW_COLUMNS if f"`{name}`" not in PAGE] == []


def test_every_setting_on_the_page_exists():
    named = {name.lower() for name in re.findall(r"SHELFSYNC_ORDERS__([A-Z_]+)", PAGE)}
    assert named <= set(OrdersSettings.model_fields)
    assert {"encryption_key", "hand_over", "picking_secret", "read_new", "confirm_s"} <= named
