"""docs/reference/warehouse.md has the comments of every table and view."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import sqlalchemy as sa

from shelfsync.warehouse.views import VIEWS

PROJECT = Path(__file__).resolve().parents[3]


def _script():
    spec = importlib.util.spec_from_file_location("warehouse_page", PROJECT / "scripts" / "warehouse_page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_repeats_the_comments_of_every_table_and_view():
    text = (PROJECT / "docs/reference/warehouse.md").read_text("utf-8")
    assert text == _script().page(text), "run scripts/warehouse_page.py"


def test_every_column_of_every_view_has_a_comment(engine):
    statement = sa.text(
        "SELECT a.attname, col_description(a.attrelid, a.attnum) AS comment FROM pg_attribute AS a"
        " WHERE a.attrelid = CAST(:name AS regclass) AND a.attnum > 0 ORDER BY a.attnum"
    )
    with engine.connect() as connection:
        for view in VIEWS:
            rows = connection.execute(statement, {"name": f"warehouse.{view.name}"}).all()
            assert dict(rows) == view.columns, view.name
            assert list(dict(rows)) == list(view.columns), view.name


def test_a_view_that_changed_is_made_anew_without_a_migration(engine):
    from shelfsync.migrations import upgrade

    with engine.begin() as connection:
        connection.execute(sa.text("DROP VIEW warehouse.acceptance"))
        connection.execute(sa.text("COMMENT ON SCHEMA warehouse IS 'views of yesterday'"))
    upgrade(engine)
    with engine.connect() as connection:
        assert connection.execute(sa.text("SELECT count(*) FROM warehouse.acceptance")).scalar_one() == 0
