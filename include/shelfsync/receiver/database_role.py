"""The database role of the receiver: it may insert events and picking results, and read the columns that its answers need.

So a caller that controls the receiver's connection can read no order, customer, token or event body, and can change or
remove nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from psycopg import sql

from shelfsync.inbox.events import event
from shelfsync.orders.ledger.tables import picking_result

if TYPE_CHECKING:
    import psycopg
    import sqlalchemy as sa

CONNECTIONS = 20
RIGHTS: dict[sa.Table, dict[str, tuple[str, ...]]] = {
    event: {
        "INSERT": ("kind", "identity", "platform_job_id", "vendor", "body"),
        "SELECT": ("kind", "identity", "platform_job_id"),
    },
    picking_result: {
        "INSERT": ("order_id", "result_id", "source", "vendor", "digest", "body", "action"),
        "SELECT": (
            *("result_no", "order_id", "result_id", "vendor", "digest"),
            *("action", "state", "problems", "feedback", "error"),
        ),
    },
}
"""Table -> right -> columns."""


def grant(connection: psycopg.Connection[tuple[object, ...]], role: str, password: str | None = None) -> bool:
    """Gives the role exactly these rights, whatever it had; True if the role is new. The caller owns the tables and commits.

    `password`: the new password; only its SCRAM verifier leaves this process.
    """
    existing = connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role]).fetchone()
    name = sql.Identifier(role)
    if existing is None:
        connection.execute(sql.SQL("CREATE ROLE {}").format(name))
    bounds = "ALTER ROLE {} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS CONNECTION LIMIT {}"
    connection.execute(sql.SQL(bounds).format(name, sql.Literal(CONNECTIONS)))
    if password is not None:
        verifier = connection.pgconn.encrypt_password(password.encode(), role.encode(), b"scram-sha-256").decode()
        connection.execute(sql.SQL("ALTER ROLE {} PASSWORD {}").format(name, sql.Literal(verifier)))
    from shelfsync.warehouse.every_table import metadata  # the receiver imports this module without all tables

    schemas = sorted({str(table.schema) for table in metadata.tables.values()})
    for schema in (*schemas, "public"):
        place = sql.Identifier(schema)
        if connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", [schema]).fetchone() is None:
            continue
        for things in ("TABLES", "SEQUENCES", "FUNCTIONS"):
            connection.execute(
                sql.SQL("REVOKE ALL ON ALL {} IN SCHEMA {} FROM {}").format(sql.SQL(things), place, name)
            )
        connection.execute(sql.SQL("REVOKE ALL ON SCHEMA {} FROM {}").format(place, name))
    for table, rights in RIGHTS.items():
        place = sql.Identifier(str(table.schema))
        connection.execute(sql.SQL("GRANT USAGE ON SCHEMA {} TO {}").format(place, name))
        for right, columns in rights.items():
            connection.execute(
                sql.SQL("GRANT {} ({}) ON {} TO {}").format(
                    sql.SQL(right),
                    sql.SQL(", ").join(map(sql.Identifier, columns)),
                    sql.Identifier(str(table.schema), table.name),
                    name,
                )
            )
    return existing is None
