from __future__ import annotations

import hashlib

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateIndex, CreateTable

from shelfsync.migrations.upgrade import _config, upgrade
from shelfsync.store.engine import create_engine
from shelfsync.warehouse.every_table import SCHEMAS, metadata
from shelfsync.warehouse.views import VIEWS


@pytest.mark.slow
def test_the_migrations_make_exactly_the_tables_that_the_code_knows(engine):
    def ours(name, kind, _parents):
        return name in SCHEMAS if kind == "schema" else True

    with engine.connect() as connection:
        options = {"include_schemas": True, "include_name": ours, "version_table": "shelfsync_revision"}
        context = MigrationContext.configure(connection, opts=options)
        differences = compare_metadata(context, metadata)
    assert differences == []


def _declared() -> str:
    """Digest of the statements that make the database."""
    schema = ScriptDirectory.from_config(_config()).get_revision("head").module
    parts = [str(CreateTable(table).compile(dialect=postgresql.dialect())) for table in metadata.sorted_tables]
    parts += sorted(
        str(CreateIndex(index).compile(dialect=postgresql.dialect()))
        for table in metadata.sorted_tables
        for index in table.indexes
    )
    return hashlib.sha256("\n".join([*parts, *schema.FUNCTIONS, repr(VIEWS)]).encode()).hexdigest()[:8]


def test_the_revision_is_named_after_what_it_makes_so_that_no_older_database_is_taken_for_it():
    assert ScriptDirectory.from_config(_config()).get_current_head() == f"schema_{_declared()}", (
        "tables or views changed: give HEAD in migrations/upgrade.py this name"
    )


def test_a_second_upgrade_does_nothing(engine):
    upgrade(engine)
    with engine.connect() as connection:
        assert connection.execute(sa.text("SELECT count(*) FROM public.shelfsync_revision")).scalar_one() == 1


@pytest.mark.slow
def test_everything_that_was_made_can_be_taken_back(empty_database_url):
    from alembic import command

    engine = create_engine(empty_database_url)
    upgrade(engine)
    config = _config()
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


def test_every_table_and_column_has_a_comment():
    silent = [
        f"{table.schema}.{table.name}.{column.name}"
        for table in metadata.tables.values()
        for column in table.columns
        if not column.comment
    ]
    assert silent == []
    assert [table.name for table in metadata.tables.values() if not table.comment] == []
    assert {table.schema for table in metadata.tables.values()} == set(SCHEMAS)
