"""Where the rows of each vendor stand, as a view: the numbers of `shelfsync status`, from the one place that counts them."""

from __future__ import annotations

from shelfsync.ledger.vendor_counts import NUMBERS
from shelfsync.warehouse.view import View

VENDOR_COUNT = View(
    "vendor_count",
    "In which one column each row of a vendor stands, as `shelfsync status` shows it; the columns after not_in_erp add up to the two before",
    {
        "vendor": "The vendor",
        **NUMBERS,
        "counted_at": "When it was counted: at the end of a run, by a settling, or when somebody looked at the status",
    },
    f"""
SELECT vendor, {", ".join(NUMBERS)}, counted_at FROM ledger.vendor_count
""",  # noqa: S608  names of this project
)
