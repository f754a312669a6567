"""Rows of campaigns as the ERP gives them, normalised with settings of one's own."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from shelfsync.promotions.head import Heads
from shelfsync.promotions.normalise import Normalised, normalise
from shelfsync.promotions.schemas import RAW
from shelfsync.settings import PromotionSettings

ROW = {
    "vendor": "v",
    "campaign": "c1",
    "sku": "a",
    "price": "8",
    "name": "Spring",
    "start_time": "2026-03-02T10:00:00Z",
    "end_time": "2026-03-09T10:00:00Z",
}


def raw(*rows: dict[str, Any]) -> pa.Table:
    return pa.Table.from_pylist([{"row_number": place + 1, **ROW, **row} for place, row in enumerate(rows)], schema=RAW)


def normal(*rows: dict[str, Any], **settings: Any) -> Normalised:
    own = PromotionSettings(**settings)
    return normalise(raw(*rows), Heads(own), own, sku_length_max=255)


def reasons(found: Normalised) -> dict[str, str]:
    return {row["sku"]: row["reason"] for row in found.quarantine.to_pylist()}
