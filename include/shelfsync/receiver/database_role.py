"""The receiver's database role, which `shelfsync inbox grant` makes.

It may insert events, picking results and the number of rejected calls, and read the columns that the receiver's answers need. So a caller that
controls the receiver's connection can read no order, customer, token or event body, and can change or remove nothing.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import psycopg
import sqlalchemy as sa
from psycopg import sql

from shelfsync.errors import ConfigurationError
from shelfsync.inbox.events import event
from shelfsync.inbox.refusals import refusal
from shelfsync.orders.ledger.tables import picking_result
from shelfsync.store.engine import libpq_url

if TYPE_CHECKING:
    from sqlalchemy.engine import Engine

CONNECTIONS = 20
RIGHTS: dict[sa.Table, dict[str, tuple[str, ...]]] = {
    event: {
        "INSERT": ("kind", "identity", "platform_job_id", "vendor", "body"),
        "SELECT": ("kind", "identity", "platform_job_id"),
    },
    refusal: {"INSERT": ("endpoint", "calls")},
    picking_result: {
        "INSERT": ("order_id", "result_id", "source", "vendor", "digest", "body", "action"),
        "SELECT": (
            *("result_no", "order_id", "result_id", "vendor", "digest"),
            *("action", "state", "problems", "feedback", "error"),
        ),
    },
}
"""Table -> right -> columns."""


def grant(engine: Engine, role: str) -> bool:
    """Gives a database role exactly the rights that the receiver needs; True if the role is new.

    ConfigurationError: the user of the database URL may not do this; it has the statements that an administrator has to run first.
    """
    statements = ""
    try:
        with psycopg.connect(libpq_url(engine)) as connection:
            statements = "; ".join(one.as_string(connection) for one in role_statements(connection, role))
            return grant_rights(connection, role)
    except psycopg.errors.InsufficientPrivilege as error:
        remedy = "Run this command with the owner of the tables."
        if statements:
            remedy = f"Let an administrator of the server run `{statements};`, then run this command again."
        raise ConfigurationError(
            "SHELFSYNC_DATABASE_URL", f"names a user that may not do this: {error.diag.message_primary}", remedy
        ) from None


_HAS = """
SELECT role.rolname, bool_and(has_schema_privilege(role.oid, table_oid.relnamespace, 'USAGE')
    AND has_column_privilege(role.oid, table_oid.oid, needed.name, needed.privilege)) AS whole,
    string_agg(DISTINCT needed.place, ', ' ORDER BY needed.place)
        FILTER (WHERE NOT has_column_privilege(role.oid, table_oid.oid, needed.name, needed.privilege)) AS places
FROM pg_roles AS role, jsonb_to_recordset(CAST(:needed AS jsonb)) AS needed (place text, name text, privilege text)
JOIN pg_class AS table_oid ON table_oid.oid = to_regclass(needed.place)
WHERE role.oid IN (SELECT given.grantee FROM pg_attribute, aclexplode(attacl) AS given
    WHERE attrelid = to_regclass('inbox.event') AND attname = 'body' AND given.privilege_type = 'INSERT')
GROUP BY role.rolname
"""


def older_role_lines(engine: Engine) -> list[str]:
    """A line for each role that `inbox grant` has let store events and that lacks a right that the receiver of this version needs.

    A role that may write for another reason, such as a member of pg_write_all_data, is none of the receiver.
    """
    needed = [
        {"place": f"{table.schema}.{table.name}", "name": column, "privilege": right}
        for table, rights in RIGHTS.items()
        for right, columns in rights.items()
        for column in columns
    ]
    with engine.connect() as connection:
        found = list(connection.execute(sa.text(_HAS), {"needed": json.dumps(needed)}))
    return [
        f"the receiver's database role {row.rolname} is older than this version: it lacks rights on"
        f" {row.places or 'the schema'}, so the receiver rejects calls. Run `shelfsync inbox grant {row.rolname}`"
        for row in found
        if not row.whole
    ]


_ATTRIBUTES = """
SELECT rolcanlogin AS "LOGIN", NOT rolsuper AS "NOSUPERUSER", NOT rolcreatedb AS "NOCREATEDB", NOT rolcreaterole AS "NOCREATEROLE",
    NOT rolreplication AS "NOREPLICATION", NOT rolbypassrls AS "NOBYPASSRLS", rolconnlimit = %s AS "CONNECTION LIMIT {}"
FROM pg_roles WHERE rolname = %s
"""


def role_statements(connection: psycopg.Connection[tuple[object, ...]], role: str) -> list[sql.Composed]:
    """What makes the role, or changes those of its attributes that differ: a managed server lets nobody but its superuser set the others."""
    name = sql.Identifier(role)
    found = connection.execute(_ATTRIBUTES.format(CONNECTIONS), [CONNECTIONS, role])
    row = found.fetchone()
    if row is None:
        return [sql.SQL("CREATE ROLE {} LOGIN CONNECTION LIMIT {}").format(name, sql.Literal(CONNECTIONS))]
    columns = [column.name for column in found.description or ()]
    wrong = [column for column, right in zip(columns, row, strict=True) if not right]
    return [sql.SQL("ALTER ROLE {} {}").format(name, sql.SQL(" ".join(wrong)))] if wrong else []


def grant_rights(connection: psycopg.Connection[tuple[object, ...]], role: str, password: str | None = None) -> bool:
    """Gives the role exactly these rights, whatever it had; True if the role is new. The caller owns the tables and commits.

    `password`: the new password; only its SCRAM verifier leaves this process.
    """
    existing = connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role]).fetchone()
    name = sql.Identifier(role)
    for statement in role_statements(connection, role):
        connection.execute(statement)
    if password is not None:
        verifier = connection.pgconn.encrypt_password(password.encode(), role.encode(), b"scram-sha-256").decode()
        connection.execute(sql.SQL("ALTER ROLE {} PASSWORD {}").format(name, sql.Literal(verifier)))
    from shelfsync.warehouse.every_table import metadata  # the other actions need no table but their own

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
