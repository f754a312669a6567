"""Bodies of the promotion PUT around the sandbox's present."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sandbox_fixture import LiveSandbox

HOUR = 3600.0


def promotion_body(
    platform: LiveSandbox,
    *discount: dict[str, Any],
    name: str = "Offer",
    vendors: tuple[str, ...] = ("store-001",),
    start_s: float = -HOUR,
    end_s: float = 24 * HOUR,
    **values: Any,
) -> dict[str, Any]:
    """A strike-through that began an hour ago and ends tomorrow; `start_s` and `end_s` are seconds from the present."""
    now = dt.datetime.fromisoformat(platform.control("GET", "state")["now"])
    extra = values.pop("conditions", {})
    return {
        "vendors": list(vendors),
        "type": "STRIKETHROUGH",
        "active": True,
        "reason": "COMPETITIVENESS",
        "display_name": {"en_GB": name},
        "conditions": {"start_time": instant(now, start_s), "end_time": instant(now, end_s), **extra},
        "discount": [{"active": True, **entry} for entry in discount],
        **values,
    }


def final(price: float, *skus: str, **values: Any) -> dict[str, Any]:
    """An entry with a final price."""
    return {"discount_subtype": "FINAL_PRICE", "discount_value": price, "sku": list(skus), **values}


def instant(now: dt.datetime, after_s: float) -> str:
    """ISO 8601 in UTC with milliseconds."""
    return (now + dt.timedelta(seconds=after_s)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
