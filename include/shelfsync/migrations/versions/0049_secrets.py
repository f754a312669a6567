"""No fast hash of a secret stays in the database; a picking result knows which store's secret brought it."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0049"
down_revision = "0045"

_CUSTOMER = "Name, phone, address and whatever else may tell of a person, encrypted with SHELFSYNC_ORDERS__PERSONAL_KEY"
_COMMENTS: tuple[tuple[str, str, str, Any, bool, str, str], ...] = (
    ("ledger", "platform_check", "fingerprint", sa.Text(), False,
     "Hash of address, chain and credentials",
     "Derived slowly (scrypt) from address, chain and credentials"),
    ("ledger", "token", "fingerprint", sa.Text(), False,
     "Hash of address, chain and client",
     "Derived slowly (scrypt) from address, chain, client and its secret"),
    ("ledger", "token", "sealed", sa.LargeBinary(), True,
     "The access token, encrypted with a key made from the client secret; null: none is held",
     "The access token, encrypted with a key derived slowly from the client secret; null: none is held"),
    ("warehouse", "order_customer", "sealed", sa.LargeBinary(), False,
     _CUSTOMER, f"{_CUSTOMER}; empty: forgotten on request"),
)  # fmt: skip


def upgrade() -> None:
    op.execute("DELETE FROM ledger.token")  # fetched again at the next request
    op.execute("DELETE FROM ledger.platform_check")  # asked again at the next check
    for schema, table, column, kind, nullable, before, after in _COMMENTS:
        _comment(schema, table, column, kind, nullable=nullable, before=before, after=after)
    op.add_column(
        "picking_result",
        sa.Column(
            "vendor",
            sa.Text(),
            nullable=True,
            comment="The store whose secret brought it over HTTP; null: it came from the table or a command",
        ),
        schema="ledger",
    )


def downgrade() -> None:
    op.drop_column("picking_result", "vendor", schema="ledger")
    for schema, table, column, kind, nullable, before, after in _COMMENTS:
        _comment(schema, table, column, kind, nullable=nullable, before=after, after=before)


def _comment(
    schema: str, table: str, column: str, kind: sa.types.TypeEngine[object], *, nullable: bool, before: str, after: str
) -> None:
    op.alter_column(
        table,
        column,
        existing_type=kind,
        existing_nullable=nullable,
        existing_comment=before,
        comment=after,
        schema=schema,
    )
