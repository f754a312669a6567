"""What the rules and the sweep need of the tables: declared paths, and indexes for foreign keys."""

from __future__ import annotations

from datetime import timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

from lake_files import lake_files
from shelfsync.housekeeping.remove_expired import prune
from shelfsync.housekeeping.rules import rules
from shelfsync.housekeeping.unused_files import path_columns
from shelfsync.settings import HousekeepingSettings
from shelfsync.warehouse.every_table import metadata


def test_every_rule_can_be_asked_of_the_database(engine):
    for rule in rules(HousekeepingSettings(), customer_days=30):
        assert prune(engine, rule) == 0
        with engine.connect() as connection:
            assert connection.execute(sa.text("SELECT to_regclass(:table)"), {"table": rule.table}).scalar_one(), rule


def test_counts_go_after_the_rows_that_they_count():
    """A page leads from a count to its rows: rows without their count would be found by no one."""
    tables = [rule.table for rule in rules(HousekeepingSettings(), customer_days=30)]
    counts = [table for table in tables if table.endswith("_count")]
    assert counts == ["warehouse.drift_count"]
    assert all(tables.index(table.removesuffix("_count")) < tables.index(table) for table in counts)


def test_every_column_named_like_a_path_of_the_lake_declares_it():
    named = {
        column
        for table in metadata.tables.values()
        for column in table.columns
        if column.name.split("_")[-1] in {"path", "paths"}
    }
    declared = {column for table in metadata.tables.values() for column in table.columns if "lake" in column.info}
    assert {_full(column) for column in named} == {_full(column) for column in declared}
    assert {_full(column) for column in path_columns()} < {_full(column) for column in declared}
    assert all(isinstance(column.type, sa.Text) for column in declared), "the sweep reads one path a row"


@pytest.mark.slow
def test_no_other_column_names_a_file_of_the_lake(make_shop):
    """After syncs, a quarantined row, a hold, promotions, an export and a restoration: a column with a path in it declares it."""
    shop = make_shop()
    world = shop.world
    world.erp.put("store-001", "b", "oops")
    shop.erp.put("offer", "a", "8")
    shop.erp.put("offer", "c", "oops")
    shop.sync()
    before = world.app.explain("store-001", "a").at
    for price in ("11.00", "900.00"):
        world.erp.put("store-001", "a", price)
        world.sync("delta")
    world.app.export("test/export", ("store-001",), progress=lambda *_: None)
    order = {"span": timedelta(hours=1), "skus": None, "why": "a mistake", "who": "ada", "dry_run": False}
    world.app.restore("store-001", at=before, **order)
    world.sync("delta")
    found = _columns_that_name(world, sorted(lake_files(world)))
    story = ("vendor_run.raw_path", "vendor_run.quarantine_path", "hold.rows_path", "promotion_run.manifest_path")
    assert {f"ledger.{column}" for column in (*story, "observation.path", "restoration.path")} <= found
    declared = {
        _full(column) for table in metadata.tables.values() for column in table.columns if "lake" in column.info
    }
    assert found <= declared


def _full(column: sa.Column) -> str:
    return f"{column.table.fullname}.{column.name}"


def _columns_that_name(world, paths: list[str]) -> set[str]:
    """Columns of any type of which a value contains one of these paths."""
    found = set()
    asked = sa.func.unnest(sa.literal(paths, ARRAY(sa.Text))).table_valued("file", name="asked").render_derived()
    with world.app.context.engine.connect() as connection:
        for table in metadata.tables.values():
            named = [sa.func.bool_or(sa.cast(column, sa.Text).contains(asked.c.file)) for column in table.columns]
            output = connection.execute(sa.select(*named).select_from(table.join(asked, sa.true()))).one()
            found |= {_full(column) for column, names in zip(table.columns, output, strict=True) if names}
    return found


def test_no_foreign_key_makes_the_removal_of_a_row_read_a_whole_table(engine):
    """Removing a row searches every table that points to it; without an index that reads all its rows."""
    unindexed = sa.text(
        "SELECT c.conrelid::regclass::text || ' (' || c.conname || ')' FROM pg_constraint AS c"
        " WHERE c.contype = 'f' AND c.conparentid = 0 AND c.confrelid = to_regclass(:table) AND NOT EXISTS ("
        "   SELECT 1 FROM pg_index AS i WHERE i.indrelid = c.conrelid AND i.indpred IS NULL"
        "   AND (i.indkey::int2[])[0:array_length(c.conkey, 1) - 1] @> c.conkey)"
    )
    with engine.connect() as connection:
        found = {
            name
            for rule in rules(HousekeepingSettings(), customer_days=30)
            for name in connection.execute(unindexed, {"table": rule.table}).scalars()
        }
    assert found == set()
