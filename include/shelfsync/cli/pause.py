"""`shelfsync pause` and `resume`: the kill switch."""

from __future__ import annotations

import getpass
from typing import Annotated

import typer

from shelfsync.cli.house import house
from shelfsync.cli.options import AsJson  # noqa: TC001  typer reads annotations
from shelfsync.cli.output import print_told

Vendor = Annotated[str | None, typer.Argument(metavar="[VENDOR]", help="The vendor.")]
Chain = Annotated[bool, typer.Option("--chain", help="Everything of the chain that is configured.")]
All = Annotated[bool, typer.Option("--all", help="Everything that this ledger serves.")]
Why = Annotated[str, typer.Option("--why", metavar="TEXT", help="The reason; whoever wonders is shown it.")]
Who = Annotated[
    str | None, typer.Option("--who", metavar="NAME", help="Who decides; the user of this machine if not said.")
]
Anyway = Annotated[bool, typer.Option("--anyway", help="Also a vendor that the ledger has never seen.")]


def pause(
    why: Why,
    vendor: Vendor = None,
    chain: Chain = False,
    everything: All = False,
    who: Who = None,
    anyway: Anyway = False,
    as_json: AsJson = False,
) -> None:
    """Stop sending prices, stock and promotions, within one request, until somebody resumes. What is with the platform already still ends there; customers' orders go on."""
    scope = _scope(vendor, chain, everything)
    with house() as opened:
        told = opened.pause(scope, vendor, why=why, who=who or getpass.getuser(), anyway=anyway)
    print_told(told, as_json, told.pop("lines"))


def resume(
    vendor: Vendor = None,
    chain: Chain = False,
    everything: All = False,
    why: Why = "resumed",
    who: Who = None,
    as_json: AsJson = False,
) -> None:
    """Let go on what `pause` stopped, with what the ERP says by then."""
    scope = _scope(vendor, chain, everything)
    with house() as opened:
        told = opened.resume(scope, vendor, why=why, who=who or getpass.getuser())
    print_told(told, as_json, told.pop("lines"))


def _scope(vendor: str | None, chain: bool, everything: bool) -> str:
    """vendor, chain or all: exactly one, for a switch must not mean more than was said."""
    named = [word for word, said in (("vendor", vendor), ("chain", chain), ("all", everything)) if said]
    if len(named) != 1:
        raise typer.BadParameter("name one of VENDOR, --chain and --all")
    return named[0]
