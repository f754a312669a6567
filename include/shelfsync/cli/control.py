"""`pause`, `resume`, `restore`: the operator stops the sending, or restores a past state."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any

import typer

from shelfsync.cli.acting_user import user_or
from shelfsync.cli.command import Answer, At, DryRun, Force, Reason, Skus, User, Vendor, of_platform, opened
from shelfsync.cli.times import read_duration

Scoped = Annotated[
    str | None, typer.Argument(metavar="VENDOR", callback=of_platform, help="The platform's identifier of the store.")
]
WholeChain = Annotated[bool, typer.Option("--whole-chain", help="Everything of the chain that is configured.")]
All = Annotated[bool, typer.Option("--all", help="Everything that this ledger serves.")]
Category = Annotated[
    str | None, typer.Option("--category", metavar="NAME", help="Only the SKUs of this category of the ERP.")
]
Duration = Annotated[
    dt.timedelta,
    typer.Option(
        "--duration",
        metavar="DURATION",
        parser=read_duration,
        help="How long: 90m, 4h, 2d. Then the ERP's values apply again.",
    ),
]
End = Annotated[bool, typer.Option("--end", help="End it: the ERP's values apply again from the next run on.")]


def pause(
    vendor: Scoped = None,
    whole_chain: WholeChain = False,
    everything: All = False,
    reason: Reason = None,
    user: User = None,
    force: Force = False,
) -> Answer:
    """Stop sending prices, stock and promotions, within one request, until an operator resumes it.

    The platform still finishes the jobs that it has. Customers' orders continue. With --force also for a vendor that the
    ledger does not know.
    """
    from shelfsync.catalog.steps.pause import pause as pause_sending

    scope = _scope(vendor, whole_chain, everything)
    given = required(reason)
    with opened() as context:
        result = pause_sending(context, scope, vendor, why=given, who=user_or(user), anyway=force)
    return Answer(result, result.pop("lines"))


def resume(
    vendor: Scoped = None,
    whole_chain: WholeChain = False,
    everything: All = False,
    reason: Reason = None,
    user: User = None,
) -> Answer:
    """Resume what `pause` stopped, with the newest values of the ERP."""
    from shelfsync.catalog.steps.pause import resume as resume_sending

    scope = _scope(vendor, whole_chain, everything)
    with opened() as context:
        result = resume_sending(context, scope, vendor, why=reason or "resumed", who=user_or(user))
    return Answer(result, result.pop("lines"))


def restore(
    vendor: Vendor,
    at: At = None,
    sku: Skus = None,
    category: Category = None,
    duration: Duration = "4h",  # type: ignore[assignment] # typer parses it like a text of the command line
    reason: Reason = None,
    user: User = None,
    dry_run: DryRun = False,
    end: End = False,
) -> Answer:
    """Restore a past acknowledged state for a time, or end a restoration. The next run sends it, through the guards.

    Prices, availability and sales limits are those of that time; the stock still comes from the ERP.
    """
    from shelfsync.catalog.steps.restore import end as end_restoration
    from shelfsync.catalog.steps.restore import restore as restore_state

    if end == (at is not None):
        raise typer.BadParameter("name one of --at TIME and --end", param_hint="--at")
    if sku and category:
        raise typer.BadParameter("name one of --sku and --category, not both", param_hint="--sku")
    given = "" if end or dry_run else required(reason)
    with opened() as context:
        if at is None:
            result = end_restoration(context, vendor, who=user_or(user))
        else:
            order: dict[str, Any] = {
                "skus": sku or None,
                "category": category,
                "why": given,
                "who": user_or(user),
                "dry_run": dry_run,
            }
            result = restore_state(context, vendor, at=at, span=duration, **order)
    return Answer(result, result.pop("lines"))


def _scope(vendor: str | None, chain: bool, everything: bool) -> str:
    """vendor, chain or all: exactly one, so that a switch never stops more than the operator named."""
    named = [scope for scope, given in (("vendor", vendor), ("chain", chain), ("all", everything)) if given]
    if len(named) != 1:
        raise typer.BadParameter("name one of VENDOR, --whole-chain and --all", param_hint="VENDOR")
    return named[0]


def required(reason: str | None) -> str:
    if reason is None or not reason.strip():
        raise typer.BadParameter("give a reason; `shelfsync status` shows it", param_hint="--reason")
    return reason
