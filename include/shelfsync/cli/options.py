"""Arguments and options that several commands share: each name has one meaning. Instants and durations as an operator types them."""

from __future__ import annotations

import datetime as dt
import getpass
import re
from typing import Annotated

import typer

from shelfsync.explain.explanation import asked_instant

_UNITS = {"m": "minutes", "min": "minutes", "h": "hours", "d": "days"}


def read_instant(text: str) -> dt.datetime:
    """An ISO instant; UTC where no offset is given."""
    try:
        read = dt.datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is no instant; write 2026-03-01T10:42 (UTC) or 2026-03-01T11:42+01:00"
        ) from None
    return read if read.tzinfo else read.replace(tzinfo=dt.UTC)


def read_past(text: str) -> dt.datetime:
    """The end of a past instant, in UTC: see `asked_instant`."""
    try:
        return asked_instant(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def read_duration(text: str) -> dt.timedelta:
    """`90m`, `4h`, `2d`."""
    found = re.fullmatch(r"\s*(\d+)\s*(m|min|h|d)\s*", text)
    if found is None:
        raise typer.BadParameter(f"{text!r} is no duration; write 90m, 4h or 2d")
    return dt.timedelta(**{_UNITS[found[2]]: int(found[1])})


def user_or(name: str | None) -> str:
    """The acting user: the name given, or the user of this machine."""
    return name or getpass.getuser()


Vendors = Annotated[
    list[str] | None, typer.Option("--vendor", metavar="VENDOR", help="Only this vendor; may be repeated.")
]
OneVendor = Annotated[str | None, typer.Option("--vendor", metavar="VENDOR", help="Only this vendor.")]
Vendor = Annotated[str, typer.Argument(metavar="VENDOR", help="The platform's identifier of the store.")]
Sku = Annotated[str, typer.Argument(metavar="SKU", help="The SKU.")]
Skus = Annotated[list[str] | None, typer.Option("--sku", metavar="SKU", help="Only this SKU; may be repeated.")]
Full = Annotated[bool, typer.Option("--full", help="Send the whole assortment, not only what changed.")]
At = Annotated[
    dt.datetime | None,
    typer.Option(
        "--at", metavar="TIME", parser=read_past, help="The instant: 2026-03-01T10:42 (UTC), or with an offset."
    ),
]
Reason = Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="Why; kept in the ledger.")]
User = Annotated[
    str | None, typer.Option("--user", metavar="NAME", help="Who decides; without it, the user of this machine.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what it would do.")]
Force = Annotated[
    bool,
    typer.Option("--force", help="Skip the confirmation of orders, or the check of pause that the vendor is known."),
]
Limit = Annotated[int, typer.Option("--limit", metavar="N", min=1, help="How many at most.")]
