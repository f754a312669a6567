"""What housekeeping needs: an index below every foreign key to a table it shortens, and no key from 10 million rows to a job."""

from __future__ import annotations

from alembic import op

revision = "0016"
down_revision = "0015"

_COMMENT = "The job that moved it last; its own row may have gone with its retention"


_PATH = "Lake, while ledger.observation has it: a row a SKU"


def upgrade() -> None:
    op.create_index(op.f("ix_vendor_run_extract_id"), "vendor_run", ["extract_id"], schema="ledger")
    op.create_index(op.f("ix_export_observation_id"), "export", ["observation_id"], schema="ledger")
    op.create_index(op.f("ix_healing_observation_id"), "healing", ["observation_id"], schema="ledger")
    op.alter_column("observation", "path", comment=_PATH, schema="warehouse")
    op.create_index(op.f("ix_rejection_job_id"), "rejection", ["job_id"], schema="ledger")
    op.drop_index("ix_restoration_vendor", "restoration", schema="ledger")
    op.create_index("ix_restoration_vendor_version", "restoration", ["vendor", "version"], schema="ledger")
    op.drop_constraint("fk_baseline_job_id", "baseline", schema="warehouse", type_="foreignkey")
    op.alter_column("baseline", "job_id", comment=_COMMENT, schema="warehouse")


def downgrade() -> None:
    op.drop_index(op.f("ix_healing_observation_id"), "healing", schema="ledger")
    op.drop_index(op.f("ix_export_observation_id"), "export", schema="ledger")
    op.alter_column("observation", "path", comment="Lake: what was shown, a row a SKU", schema="warehouse")
    op.alter_column("baseline", "job_id", comment="The job that moved it last", schema="warehouse")
    op.create_foreign_key(
        "fk_baseline_job_id",
        "baseline",
        "catalog_job",
        ["job_id"],
        ["job_id"],
        source_schema="warehouse",
        referent_schema="warehouse",
    )
    op.drop_index("ix_restoration_vendor_version", "restoration", schema="ledger")
    op.create_index("ix_restoration_vendor", "restoration", ["vendor", "restoration_id"], schema="ledger")
    op.drop_index(op.f("ix_rejection_job_id"), "rejection", schema="ledger")
    op.drop_index(op.f("ix_vendor_run_extract_id"), "vendor_run", schema="ledger")
