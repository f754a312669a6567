from __future__ import annotations

import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from shelfsync.ledger.engine import create_engine
from shelfsync.migrations import upgrade
from shelfsync.warehouse.every_table import SCHEMAS, metadata


def test_the_migrations_make_exactly_the_tables_that_the_code_knows(engine):
    def ours(name, kind, _parents):
        return name in SCHEMAS if kind == "schema" else True

    with engine.connect() as connection:
        options = {"include_schemas": True, "include_name": ours, "version_table": "shelfsync_revision"}
        context = MigrationContext.configure(connection, opts=options)
        differences = compare_metadata(context, metadata)
    assert differences == []


def test_a_second_upgrade_does_nothing(engine):
    upgrade(engine)
    with engine.connect() as connection:
        assert connection.execute(sa.text("SELECT count(*) FROM public.shelfsync_revision")).scalar_one() == 1


def test_every_step_of_the_history_can_be_taken_back(empty_database_url):
    from alembic import command

    from shelfsync import migrations

    engine = create_engine(empty_database_url)
    upgrade(engine)
    config = migrations._config()
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, "base")
    with engine.connect() as connection:
        left = connection.execute(
            sa.text("SELECT count(*) FROM information_schema.tables WHERE table_schema = ANY(:schemas)"),
            {"schemas": list(SCHEMAS)},
        ).scalar_one()
    assert left == 0
    upgrade(engine)
    engine.dispose()


def test_every_table_and_column_says_what_it_is():
    silent = [
        f"{table.schema}.{table.name}.{column.name}"
        for table in metadata.tables.values()
        for column in table.columns
        if not column.comment
    ]
    assert silent == []
    assert [table.name for table in metadata.tables.values() if not table.comment] == []
    assert {table.schema for table in metadata.tables.values()} == set(SCHEMAS)
