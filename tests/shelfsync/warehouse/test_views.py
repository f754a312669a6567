"""Every view has its comments, from which the page of the warehouse is made."""

from __future__ import annotations

import sqlalchemy as sa

from shelfsync.warehouse.views import VIEWS


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
    from shelfsync.migrations.upgrade import upgrade

    with engine.begin() as connection:
        connection.execute(sa.text("DROP VIEW warehouse.acceptance"))
        connection.execute(sa.text("COMMENT ON SCHEMA warehouse IS 'views of yesterday'"))
    upgrade(engine)
    with engine.connect() as connection:
        assert connection.execute(sa.text("SELECT count(*) FROM warehouse.acceptance")).scalar_one() == 0
