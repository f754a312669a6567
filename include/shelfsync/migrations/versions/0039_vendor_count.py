"""Where each vendor's rows stand is counted in one place; of a job's urgent SKUs it is kept how many were accepted."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0039"
down_revision = "0038"

NUMBERS = {
    "erp_rows": "Rows of the ERP, as it was read last",
    "not_in_erp": "SKUs without a row in the ERP that are counted too: on their way off sale, still carried, or kept by a restoration",
    "acknowledged": "The platform has all that the ERP says of them, by success lines or by what it was seen to show",
    "spared": "Only a quantity differs, which changes nothing for a customer and waits for the full sync",
    "pending": "To be sent",
    "in_flight": "Sent in a job that is open",
    "unconfirmed": "Sent, and the job ended without a result for them: unknown until they are sent again",
    "held": "Held by a guard, and not approved",
    "rejected_for_good": "Rejected by the platform, and not repeated until something changes",
    "rejected_for_now": "Rejected by the platform, and tried again by itself",
    "quarantined": "Rows that cannot be sent",
}


def upgrade() -> None:
    op.create_table(
        "vendor_count",
        sa.Column("vendor", sa.Text(), nullable=False, comment="The vendor"),
        sa.Column(
            "facts",
            sa.Text(),
            nullable=False,
            comment="Hash of the facts that were counted; another one: count again",
        ),
        *(sa.Column(name, sa.BigInteger(), nullable=False, comment=meaning) for name, meaning in NUMBERS.items()),
        sa.Column("counted_at", sa.DateTime(timezone=True), nullable=False, comment="When they were counted"),
        sa.CheckConstraint(
            "erp_rows + not_in_erp = acknowledged + spared + pending + in_flight + unconfirmed + held"
            " + rejected_for_good + rejected_for_now + quarantined",
            name="conservation",
        ),
        sa.ForeignKeyConstraint(["vendor"], ["ledger.vendor.vendor"]),
        sa.PrimaryKeyConstraint("vendor"),
        schema="ledger",
        comment="In which one column each row of a vendor stands, as counted last",
    )
    op.add_column(
        "job",
        sa.Column(
            "urgent_accepted",
            sa.BigInteger(),
            nullable=True,
            comment="SKUs of its lane with a success line; null: not ended, or ended before this was kept",
        ),
        schema="ledger",
    )


def downgrade() -> None:
    op.drop_column("job", "urgent_accepted", schema="ledger")
    op.drop_table("vendor_count", schema="ledger")
