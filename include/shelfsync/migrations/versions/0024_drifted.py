"""Drift that no healing ends is a rejection for good: it was tried again after a quarter of an hour, for ever."""

from __future__ import annotations

from alembic import op

revision = "0024"
down_revision = "0023"

_BEFORE = "What they mean: unknown_sku or invalid_value (for good), for_now or unclear (for now)"
_SINCE = "What they mean: unknown_sku, invalid_value or drifted (for good), for_now or unclear (for now)"


def _change(kinds: tuple[str, ...], comment: str) -> None:
    op.drop_constraint(op.f("ck_rejection_kind"), "rejection", schema="ledger", type_="check")
    named = ", ".join(f"'{kind}'" for kind in kinds)
    op.create_check_constraint(op.f("ck_rejection_kind"), "rejection", f"kind IN ({named})", schema="ledger")
    op.alter_column("rejection", "kind", comment=comment, schema="ledger")


def upgrade() -> None:
    _change(("unknown_sku", "invalid_value", "drifted", "for_now", "unclear"), _SINCE)
    op.execute(
        "UPDATE ledger.rejection SET kind = 'drifted', next_try_at = NULL WHERE reason LIKE 'drift returned after % healings:%'"
    )


def downgrade() -> None:
    op.execute("UPDATE ledger.rejection SET kind = 'unclear', next_try_at = now() WHERE kind = 'drifted'")
    _change(("unknown_sku", "invalid_value", "for_now", "unclear"), _BEFORE)
