"""When a rejected SKU is sent again, by the kind of its rejection. Until then a delta leaves it out; a full sync tries it once.

- `for_now`, `unclear`: after a wait, which doubles with each rejection; or with another value in the ERP.
- `invalid_value`, `drifted`: with another value in the ERP, or if a person releases it.
- `unknown_sku`: the same as those, or if a newer export or listing shows the SKU.

`ledger.rejections` has the statements that release, `steps.rejected_skus` and `assortment.unknown_skus` call them.
"""

from __future__ import annotations

from dataclasses import dataclass

from shelfsync.back_off import waits_s

FOR_NOW = ("for_now", "unclear")
"""The kinds that a wait releases. All others are for good."""
SHORTENED_MAX = 0.25
"""The share by which a wait is shortened at most, by SKU and count, so that SKUs that failed together do not return together."""


@dataclass(frozen=True)
class RetryWaits:
    """The wait after the first rejection for now, and the longest wait, in seconds. It doubles in between."""

    first_s: float = 900.0
    max_s: float = 86_400.0

    def every_s(self) -> list[float]:
        """The wait after the first rejection, the second and so on; the last one stays."""
        return waits_s(self.first_s, self.max_s)
