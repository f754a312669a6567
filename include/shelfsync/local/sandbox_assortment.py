"""The sandbox's vendors and products made from one's own ERP, so that a first sync has something to change.

The products are off sale and have no price, as those of a store before its first sync. What the sandbox has already stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.snapshot import make_snapshot
from shelfsync.erp.open import open_source
from shelfsync.erp.vendor_ids import VendorIds
from shelfsync.errors import ConfigurationError, ShelfsyncError
from shelfsync.local.sandbox_control import SandboxControl, SandboxRejectedError
from shelfsync.rows import total_row
from shelfsync.rows.quarantine_reason import is_usable
from shelfsync.schemas import RAW

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shelfsync.settings import Settings

ADDRESS = "SHELFSYNC_PLATFORM__BASE_URL"
_KEYS = ["vendor", "sku", "barcode"]


@dataclass
class Filled:
    """By vendor: products that were made, and those that were there. `failed`: vendor -> why nothing was made.

    `left_out`: vendors that may be totals of the list.
    """

    made: dict[str, int] = field(default_factory=dict)
    kept: dict[str, int] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)


def open_sandbox(settings: Settings) -> SandboxControl:
    """The control plane of the configured platform. A ConfigurationError if that is no sandbox, or if it does not have the chain.

    A chain that the settings name as one of several is made, with its client.
    """
    address, chain = settings.platform.base_url, settings.platform.chain
    if not address or not chain:
        missing = ADDRESS if not address else "SHELFSYNC_PLATFORM__CHAIN"
        raise ConfigurationError(missing, "it is not set", "Name a sandbox: http://127.0.0.1:8470, chain demo-chain.")
    control = SandboxControl(address.rstrip("/"), chain)
    try:
        chains = control.chains()
    except (SandboxRejectedError, ValueError, LookupError, TypeError):
        raise ConfigurationError(
            ADDRESS,
            "the platform that it names is no sandbox, and nothing was sent to it",
            "Start one by `partner-sandbox --port 8470`, and set http://127.0.0.1:8470.",
        ) from None
    platform = settings.platform
    if chain not in chains and settings.chain and platform.client_id and platform.client_secret:
        control.make_chain(platform.client_id, platform.client_secret.get_secret_value())
    elif chain not in chains:
        raise ConfigurationError(
            "SHELFSYNC_PLATFORM__CHAIN", f"the sandbox has no chain {chain!r}", f"Set one of {', '.join(chains)}."
        )
    return control


def fill(settings: Settings, control: SandboxControl, vendors: Sequence[str] = ()) -> Filled:
    """Makes each SKU of the ERP that the sandbox does not have, at its vendor. `vendors`: at these alone.

    A name that is a word for a total is made only if `vendors`, the settings or the sandbox have it.
    """
    found = Filled()
    wanted = set(vendors or settings.sync.vendors)
    keys, found.failed = _keys(settings, tuple(wanted))
    names = pc.unique(keys["vendor"])
    words = total_row.words(names.to_pylist())
    stores = {*wanted, *VendorIds.of(settings.erp).vendors().values(), *(control.vendors() if words else ())}
    found.left_out = [] if wanted else [name for name in words if name not in stores]
    for vendor in names.to_pylist():
        if vendor in found.left_out:
            continue
        if not is_usable(vendor) or (wanted and vendor not in wanted):
            continue
        theirs = keys.filter(pc.equal(keys["vendor"], vendor))
        try:
            found.made[vendor], found.kept[vendor] = _fill_vendor(settings, control, vendor, theirs)
        except ShelfsyncError as error:
            found.failed[vendor] = str(error)
    return found


def _keys(settings: Settings, vendors: tuple[str, ...]) -> tuple[pa.Table, dict[str, str]]:
    """Each (vendor, sku) of the ERP once, with a barcode of it; and the stores that could not be read."""
    parts: list[pa.Table] = []
    with open_source(settings.erp).read(vendors) as extract:
        for chunk in extract:
            trimmed = [pc.utf8_trim(chunk[name], characters=" ") for name in _KEYS]
            parts.append(_once(pa.table(trimmed, _KEYS)))
        failed = dict(extract.failed)
    return _once(pa.concat_tables(parts)), failed


def _once(keys: pa.Table) -> pa.Table:
    named = pc.and_(pc.is_valid(keys["vendor"]), pc.is_valid(keys["sku"]))
    grouped = keys.filter(named).group_by(["vendor", "sku"]).aggregate([("barcode", "min")])
    return grouped.rename_columns({"barcode_min": "barcode"}).select(_KEYS)


def _fill_vendor(settings: Settings, control: SandboxControl, vendor: str, keys: pa.Table) -> tuple[int, int]:
    """How many products were made at a vendor, and how many were there."""
    columns = {"row_number": pa.array(range(1, keys.num_rows + 1)), **{name: keys[name] for name in _KEYS}}
    columns |= {name: pa.nulls(keys.num_rows, pa.string()) for name in RAW.names if name not in columns}
    raw = pa.table([columns[name] for name in RAW.names], schema=RAW)
    sendable = make_snapshot(raw, settings.normalise).snapshot.select(["sku", "barcode"])
    here = control.products(vendor) if vendor in control.vendors() else []
    known = pa.array([one["sku"] for one in here], pa.string())
    new = sendable.filter(pc.invert(pc.is_in(sendable["sku"], value_set=known))).to_pylist()
    if new or not here:
        kept: list[dict[str, Any]] = [{name: value for name, value in one.items() if name != "app"} for one in here]
        control.put_products(vendor, [*kept, *map(_product, new)])
    return len(new), len(here)


def _product(row: dict[str, Any]) -> dict[str, Any]:
    return {"sku": row["sku"], "barcodes": [row["barcode"]] if row["barcode"] else [], "active": False}
