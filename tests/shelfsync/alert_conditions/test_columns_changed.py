"""Alert `columns_changed`: the ERP has other columns than before, for a day."""

from __future__ import annotations

from alert_look import kinds, older, revision
from shelfsync.catalog.ledger import source_columns


def test_changed_columns_are_an_alert_for_a_day_and_each_change_is_reported(context):
    revisions = []
    for columns in ({"sku": "text"}, {"sku": "text", "shelf": "text"}, {"sku": "text", "shelf": "number"}):
        with context.engine.begin() as connection:
            source_columns.note(connection, 1, {None: columns}, dry_run=False)
        if kinds(context):
            revisions.append(revision(context, "columns_changed"))
    assert revisions == sorted(set(revisions))
    assert len(revisions) >= 2
    assert kinds(context) == {("columns_changed", "")}
    older(context, "ledger.source_columns", "seen_at", 60 * 24)
    assert kinds(context) == set()
