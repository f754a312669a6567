"""`forget`: the operator takes a closed store out, and is asked what to do with its products that are still on sale."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from shelfsync.cli.acting_user import user_or
from shelfsync.cli.command import Answer, Reason, User, Vendor, opened, progress
from shelfsync.cli.control import required
from shelfsync.errors import DataError

if TYPE_CHECKING:
    from shelfsync.catalog.steps.take_off_sale import OnSale

TakeOffSale = Annotated[
    bool, typer.Option("--take-off-sale", help="First take its products off sale, and wait for every result.")
]
LeaveOnSale = Annotated[bool, typer.Option("--leave-on-sale", help="Leave its products as they are on the platform.")]


def forget(
    vendor: Vendor,
    reason: Reason = None,
    user: User = None,
    take_off_sale: TakeOffSale = False,
    leave_on_sale: LeaveOnSale = False,
) -> Answer:
    """Take a closed store out of runs, exports, promotions and status. It comes back if the ERP has rows of it again.

    If products of it are on sale, it asks what to do with them. A script names one of --take-off-sale and --leave-on-sale.
    """
    from shelfsync.catalog.steps.close_store import close_store
    from shelfsync.orders.steps.lists import count_open
    from shelfsync.promotions.steps.status import lines_of_forgotten

    if take_off_sale and leave_on_sale:
        raise typer.BadParameter("name one of --take-off-sale and --leave-on-sale", param_hint="--take-off-sale")
    given, who = required(reason), user_or(user)

    def leave(found: OnSale) -> bool:
        return not take_off_sale and (leave_on_sale or _left(vendor, found.line))

    with opened() as context:
        result, error = close_store(context, vendor, why=given, who=who, leave=leave, progress=progress)
        lines = result.pop("lines")
        if error is not None:
            return Answer(result, lines, error)
        campaigns, orders = lines_of_forgotten(context, vendor), count_open(context, vendor)
    lines += campaigns
    if orders:
        lines.append(
            f"{orders:,} orders of it are still to be picked; pick or cancel them: `shelfsync orders list --open --vendor {vendor}`"
        )
    return Answer(result, lines)


def _left(vendor: str, line: str) -> bool:
    """Asks whether the products stay on sale; without a terminal a DataError, so that no script leaves them by accident."""
    if not sys.stdin.isatty():
        raise DataError(
            f"forget: {line} at vendor {vendor}, and a forgotten store raises no alarm about them; nothing was done."
            " Add --take-off-sale, which sends that first, or --leave-on-sale"
        )
    if typer.confirm(f"{line} at {vendor}. Take them off sale first?", default=True, err=True):
        return False
    typer.confirm(f"{line} at {vendor}. Forget it, and leave what is on sale?", abort=True, err=True)
    return True
