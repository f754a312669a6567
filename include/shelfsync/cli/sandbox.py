"""`sandbox …`: the sandbox as one's own chain: its products from the ERP, and a customer's order."""

from __future__ import annotations

from typing import Annotated

import typer

from shelfsync import display
from shelfsync.cli.command import Answer, Vendors, command, of_platform, subgroup
from shelfsync.errors import DataError, PartlyFailedError

app = subgroup("The sandbox: give it the ERP's products, and order as a customer. No command works on a real platform.")

At = Annotated[
    str | None,
    typer.Argument(
        metavar="VENDOR", callback=of_platform, help="The store; without it, the first one that has something on sale."
    ),
]
Skus = Annotated[
    list[str] | None,
    typer.Option(
        "--sku", metavar="SKU", help="What is ordered; may be repeated. Without it, one product that is on sale."
    ),
]
Quantity = Annotated[int, typer.Option("--quantity", metavar="N", min=1, help="How many of each.")]


@command(app, "shelfsync sandbox fill", "shelfsync sandbox fill --vendor store-001", name="fill")
def fill(vendor: Vendors = None) -> Answer:
    """Make the sandbox's vendors and products from the ERP: off sale and without a price, until a sync sends them.

    Products that the sandbox has already stay as they are.
    """
    from shelfsync.local.sandbox_assortment import fill as fill_sandbox
    from shelfsync.local.sandbox_assortment import open_sandbox
    from shelfsync.settings import read_settings

    settings = read_settings()
    control = open_sandbox(settings)
    try:
        found = fill_sandbox(settings, control, tuple(vendor or ()))
    finally:
        control.close()
    lines = [
        f"vendor {name}: {made:,} products made, {found.kept[name]:,} were there" for name, made in found.made.items()
    ]
    lines += [f"vendor {name} failed: {why}" for name, why in found.failed.items()]
    lines += [
        f"left out {name}: it may be a total of the list. If it is a store, name it by --vendor"
        for name in found.left_out
    ]
    error = None
    if found.failed:
        name, why = next(iter(found.failed.items()))
        error = PartlyFailedError(f"{len(found.failed)} vendors failed; the first is {name}: {why}")
    elif not found.made:
        raise DataError("sandbox: the ERP has no row of these vendors. Run `shelfsync check`, which lists its stores")
    else:
        lines.append("next: shelfsync check")
    return Answer(
        {"made": found.made, "kept": found.kept, "failed": found.failed, "left_out": found.left_out}, lines, error
    )


@command(
    app,
    "shelfsync sandbox order",
    "shelfsync sandbox order store-001 --sku 4711 --quantity 2",
    name="order",
)
def order(vendor: At = None, sku: Skus = None, quantity: Quantity = 1) -> Answer:
    """Order in the sandbox as a customer does."""
    from shelfsync.local.sandbox_assortment import open_sandbox
    from shelfsync.local.sandbox_control import SandboxRejectedError
    from shelfsync.settings import read_settings

    control = open_sandbox(read_settings())
    try:
        store = vendor or next(iter(control.vendors(selling=True)), None)
        if store is None:
            raise DataError("sandbox: no store has anything on sale. Run `shelfsync sync --full`")
        wanted, products = list(sku or ()), control.products(store)
        titles = {one["sku"]: one["title"] for one in products}
        if not wanted:
            wanted = [one["sku"] for one in products if one["app"]["active"] and one["app"]["price"]][:1]
        if not wanted:
            raise DataError(f"sandbox: {store} has nothing on sale. Run `shelfsync sync --full --vendor {store}`")
        placed = control.place_order(store, [{"sku": one, "quantity": quantity} for one in wanted])
        sends = control.sends_orders()
    except SandboxRejectedError as error:
        raise DataError(f"sandbox: nothing was ordered. {error}") from None
    finally:
        control.close()
    number = str(placed["order_id"])
    lines = [f"order {number} of {store}: {quantity} x {', '.join(_shown(one, titles.get(one)) for one in wanted)}"]
    lines.append(
        f"next: shelfsync orders show {number}"
        if sends
        else "the sandbox sends no event, because it knows no receiver; `shelfsync up --sandbox` starts one and names it"
    )
    return Answer({"order_id": number, "vendor": store, "skus": wanted, "event": sends}, lines)


def _shown(sku: str, title: str | None) -> str:
    """A SKU with its name on the platform, if that is another text."""
    return display.product(sku, title if title != sku else None)
