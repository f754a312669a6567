"""Alert `few_accepted`: the platform accepts too few SKUs of a store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.alert_conditions import JUDGED_SKUS
from shelfsync.catalog.warehouse.acceptance import acceptance

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from shelfsync.alert_conditions import Found
    from shelfsync.context import Context


def few_accepted(context: Context, connection: Connection) -> Found:
    """Stores of whose last results, of at least `JUDGED_SKUS`, too few SKUs were accepted."""
    share = context.settings.alerts.accepted_share
    return {
        (
            "few_accepted",
            one.vendor,
        ): f"{one.vendor}: the platform accepted {one.accepted:,} of the last {one.reported:,}"
        f" SKUs sent (`shelfsync rejections list --vendor {one.vendor}`)"
        for one in acceptance(connection, skus=JUDGED_SKUS, hours=24)
        if one.accepted < share * one.reported
    }
