"""docs/how-to/connecting-your-erp.md is true."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pytest

from shelfsync.erp import sample
from shelfsync.erp.columns import CATALOG
from shelfsync.settings import ErpSettings, read_settings

HOW_TO = Path(__file__).parents[3] / "docs/how-to"
PAGE = (HOW_TO / "connecting-your-erp.md").read_text(encoding="utf-8")


def test_the_page_names_every_setting_of_the_erp_and_no_other():
    [changes] = re.findall(r"\(([\w-]+\.md)\)", PAGE.partition("**Late commits.**")[2].partition("\n- **")[0])
    text = PAGE + (HOW_TO / changes).read_text(encoding="utf-8")
    named = {name.lower() for name in re.findall(r"SHELFSYNC_ERP__(\w+)", text)}
    assert named == set(ErpSettings.model_fields)


def test_the_page_names_every_column():
    assert all(re.search(rf"\b{name}\b", PAGE) for name in CATALOG.names)


def test_the_first_commands_are_settings_that_shelfsync_reads(monkeypatch):
    commands = re.search(r"```sh\n(.*?)```", PAGE, re.DOTALL)[1]
    exported = dict(re.findall(r"^export (\w+)=('[^']*'|\S+)", commands, re.MULTILINE))
    assert len(exported) == len(re.findall(r"^export ", commands, re.MULTILINE))
    assert len(commands.splitlines()) <= 12
    for name, value in exported.items():
        monkeypatch.setenv(name, value.strip("'"))
    settings = read_settings().erp
    assert settings.columns == {"sku": "item_code", "price": "item_price"}
    assert settings.url is not None
    assert settings.mapping == "/etc/shelfsync/hooks.py:map"


def test_the_hook_of_the_page_does_what_the_page_describes(tmp_path, read):
    (tmp_path / "hooks.py").write_text(re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)[1])
    (tmp_path / "stock.parquet").write_bytes(
        pd.DataFrame(
            {
                "sku": ["a", "b", "c"],
                "branch": [1, 1, 2],
                "price_cents": [1005, 250, 25],
                "kind": ["food", "food", "deposit"],
            }
        ).to_parquet()
    )
    rows = read(files=str(tmp_path / "stock.parquet"), mapping=f"{tmp_path}/hooks.py:map").rows
    assert [(row["vendor"], row["sku"], Decimal(row["price"])) for row in rows] == [
        ("store-001", "a", Decimal("10.05")),
        ("store-001", "b", Decimal("2.5")),
    ]


def test_the_example_that_the_page_points_to_is_there():
    target = re.search(r"`(include/\S+sample\.sql)`", PAGE)[1]
    assert (Path(__file__).parents[3] / target).samefile(sample.SELECT_FILE)


@pytest.mark.slow
def test_the_worked_selects_give_what_the_page_describes(erp_url, erp_engine, read):
    reserve, only_stock = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)
    with erp_engine.begin() as connection:
        for statement in (
            "CREATE TABLE stock (store text, item text, item_group text, price numeric, pieces int)",
            "CREATE TABLE channel_reserve (channel text, item_group text, pieces int, PRIMARY KEY (channel, item_group))",
            "INSERT INTO stock VALUES ('v', 'a', 'bread', 1.5, 5), ('v', 'b', 'bread', 2, 1), ('v', 'c', 'fish', 3, 7), ('v', 'd', 'fish', 4, NULL)",
            "INSERT INTO channel_reserve VALUES ('delivery', 'bread', 2), ('web', 'bread', 4), ('web', 'fish', 4)",
        ):
            connection.exec_driver_sql(statement)
    rows = {row["sku"]: row for row in read(url=erp_url, sql=reserve).rows}
    assert {sku: (row["price"], row["quantity"]) for sku, row in rows.items()} == {
        "a": ("1.5", "3"),
        "b": ("2", "0"),
        "c": ("3", "7"),
        "d": ("4", None),
    }
    rows = read(url=erp_url, sql=only_stock).rows
    assert [(row["sku"], row["price"], row["quantity"], row["active"]) for row in rows] == [
        ("a", None, "5", None),
        ("b", None, "1", None),
        ("c", None, "7", None),
        ("d", None, None, None),
    ]
