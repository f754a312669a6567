"""close_store: a person takes a closed store out. First its products go off sale, with the result of each; then it is forgotten.

A forgotten vendor is in no run, export, promotion or status; its history stays in the warehouse. The next extract with a row of it takes it in
again.
"""

from __future__ import annotations

import logging
import uuid
from typing import TYPE_CHECKING, Any

from shelfsync.catalog.ledger import jobs as catalog_jobs
from shelfsync.catalog.ledger import vendors
from shelfsync.catalog.steps.pause import give_up_old_plans, one_line, require_known
from shelfsync.catalog.steps.take_off_sale import on_sale, take_off_sale
from shelfsync.decisions.ledger import holds
from shelfsync.errors import PartlyFailedError

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from shelfsync.catalog.steps.take_off_sale import OnSale
    from shelfsync.context import Context

log = logging.getLogger(__name__)


def close_store(
    context: Context,
    vendor: str,
    *,
    why: str,
    who: str,
    leave: Callable[[OnSale], bool],
    progress: Callable[[], AbstractContextManager[Callable[[str, int, int], None]]],
) -> tuple[dict[str, Any], PartlyFailedError | None]:
    """Returns what `forget` does, `forgotten`, `on_sale` (SKUs) and `run`, the report of the run that took them off sale, or None.

    `leave` is asked if a product is on sale, or may be: whether it stays so. If one is still on sale after the results, the store is not
    forgotten, and the error has the next command.
    """
    found = on_sale(context, vendor)
    lines, summary, rest = [], None, found
    if found.may_be_any and not leave(found):
        with progress() as report:
            summary = take_off_sale(context, vendor, key=f"forget/{uuid.uuid4()}", progress=report)
        lines, rest = summary.pop("lines"), on_sale(context, vendor)
        if rest.may_be_any:
            still = (
                f"forget: {rest.line} at vendor {vendor}, so it is not forgotten; {max(0, found.skus - rest.skus):,} were taken off sale."
                f" `shelfsync runs show {summary['run']}` and `shelfsync rejections list --vendor {vendor}` have the reasons."
                " Run the command again, or with --leave-on-sale"
            )
            about = {"vendor": vendor, "forgotten": False, "on_sale": rest.skus, "run": summary}
            return {**about, "lines": lines}, PartlyFailedError(still)
    result = forget(context, vendor, why=why, who=who)
    left = f"{rest.line}; what is on sale stays so" if rest.may_be_any else "none of its products is on sale"
    about = {"forgotten": True, "on_sale": rest.skus, "run": summary}
    return {**result, **about, "lines": [*lines, *result["lines"], left]}, None


def forget(context: Context, vendor: str, *, why: str, who: str) -> dict[str, Any]:
    """Returns `{"vendor", "skus", "in_flight", "lines"}`; `skus` stay on the platform as they are. DataError for an unknown vendor."""
    with context.engine.begin() as connection:
        require_known(vendor, vendors.names(connection), "forget")
        vendors.lock(connection, vendor)  # before its plans and holds, as each step of a run does
        give_up_old_plans(connection, vendor, "the vendor was forgotten")
        flying = len(catalog_jobs.open_jobs(connection, vendors=(vendor,)))
        reason, person = one_line("forget", why), one_line("forget", who)
        closed = holds.close(connection, vendor, who=person, why=f"the vendor was forgotten: {reason}")
        vendors.forget(connection, vendor, f"{reason} ({person})")
        skus = vendors.acknowledged_skus(connection, vendor)
    log.warning("forget: vendor %s by %s: %s", vendor, who, why)
    lines = [
        f"{vendor} is forgotten: no run, export or promotion takes it along, and status does not show it",
        *([f"{closed} holds of it are closed; no one has to decide them"] if closed else []),
        *([f"{flying} jobs of it are on the platform; shelfsync still reads their outcomes"] if flying else []),
        "it comes back with the next extract that has a row of it; take it out of the ERP's SELECT or of SHELFSYNC_ERP__VENDOR_IDS",
    ]
    return {"vendor": vendor, "skus": skus, "in_flight": flying, "lines": lines}
