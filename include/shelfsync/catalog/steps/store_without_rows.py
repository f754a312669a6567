"""A store whose rows have all left the ERP fails, and nothing of it is taken off sale (I9)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from shelfsync.erp.vendor_ids import VendorIds

if TYPE_CHECKING:
    from collections.abc import Collection

    from shelfsync.context import Context

NO_ROWS = "not one row in the extract"
"""How its error begins."""


def why_it_fails(context: Context, name: str, skus: int, new: Collection[str]) -> str:
    """The error of a vendor without a row, which counts as a fault of the extract. `skus`: acknowledged ones; `new`: vendors of the extract that are new.

    If a vendor that the platform never acknowledged differs from it only in case, signs or leading zeros, no store has closed.
    """
    theirs = [one for one in VendorIds.of(context.settings.erp).erp_ids([name]) if one != name]
    called = f" (the ERP's store {theirs[0]})" if theirs else ""
    what = f"{NO_ROWS}{called}, while the platform holds {skus} acknowledged SKUs; nothing was changed."
    if alike := sorted(one for one in new if one != name and _letters(one) == _letters(name)):
        return f"{what} The extract has {alike[0]!r}, which may be this store: name its id by SHELFSYNC_ERP__VENDOR_IDS, or correct the ERP"
    return (
        f"{what} Check the ERP; if the store has closed for good, run `shelfsync forget {name} --take-off-sale --reason TEXT`, which takes its"
        " products off sale first (docs/how-to/close-a-store.md)"
    )


def _letters(vendor: str) -> str:
    """Its letters and digits, whatever their case, without zeros before a number."""
    return re.sub(r"(?<!\d)0+(?=\d)", "", re.sub(r"[\W_]+", "", vendor.casefold()))
