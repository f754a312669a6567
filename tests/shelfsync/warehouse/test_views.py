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
