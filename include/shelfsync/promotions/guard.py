"""guard: what is probably a mistake is held for the operator; the rest is sent.

`discount`: reduced by more than a share of the base price. `below_cost`: sold below its cost. `assortment`: the campaign has more than a
share of the vendor's assortment. Of a bundle, the reduction counts over all its pieces: the second at 100 % off is half price. The platform keeps its values of held SKUs until an operator approves exactly the new ones.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shelfsync import display
from shelfsync.promotions.schemas import KEPT
from shelfsync.promotions.validate import base_prices
from shelfsync.rows.alignment import aligned, column
from shelfsync.rows.truth import mask

if TYPE_CHECKING:
    from collections.abc import Callable

    from shelfsync.promotions.head import Head
    from shelfsync.settings import PromotionSettings

ASSORTMENT_FREE = 20
"""SKUs that a campaign may always have, even in a small assortment."""
_EXAMPLES = 10


@dataclass(frozen=True)
class Hold:
    """Rows of one campaign at one vendor that one rule holds. `fingerprint` is of exactly these values: a release is for nothing else."""

    campaign: str
    rule: str
    vendor: str
    fingerprint: str
    skus: int
    message: str


@dataclass(frozen=True)
class Guarded:
    """The released rows (ROWS), the held SKUs (KEPT), and the holds that are in force."""

    rows: pa.Table
    kept: pa.Table
    holds: list[Hold]


def guard(
    rows: pa.Table,
    heads: list[Head],
    assortment: pa.Table,
    settings: PromotionSettings,
    *,
    vendor: str,
    approved: Callable[[Hold], bool],
) -> Guarded:
    """`approved` returns whether an operator approved exactly this hold."""
    held = np.zeros(rows.num_rows, np.bool_)
    holds: list[Hold] = []
    numbers = column(rows, "head").to_numpy(zero_copy_only=False)
    names = sorted({head.campaign for head in heads})
    codes = {name: code for code, name in enumerate(names)}
    campaigns = np.array([codes[head.campaign] for head in heads] or [0], np.int64)[numbers]
    parts = np.array([_discounted_part(head) for head in heads] or [1.0], dtype=np.float64)
    for rule, trips, sentence in _rules(rows, campaigns, parts[numbers], assortment, settings):
        places = np.flatnonzero(trips)
        places = places[np.argsort(campaigns[places], kind="stable")]
        for of_campaign in np.split(places, np.flatnonzero(np.diff(campaigns[places])) + 1) if len(places) else ():
            campaign = names[campaigns[of_campaign[0]]]
            hold = _hold(rows.take(pa.array(of_campaign)), heads, campaign, rule, vendor, sentence)
            if not approved(hold):
                holds.append(hold)
                held[of_campaign] = True
    if not held.any():
        return Guarded(rows, KEPT.empty_table(), [])
    mask_held = pa.array(held)
    return Guarded(rows.filter(pc.invert(mask_held)), rows.filter(mask_held).select(KEPT.names), holds)


def _rules(
    rows: pa.Table, campaigns: np.ndarray, part: np.ndarray, assortment: pa.Table, settings: PromotionSettings
) -> list[tuple[str, np.ndarray, str]]:
    """(rule, mask of the rows it trips on, its sentence). `campaigns`: a number for each row's; `part`: the share of its pieces that is discounted."""
    base = _floats(base_prices(rows, assortment))
    cost = _floats(pc.coalesce(column(rows, "cost"), aligned(assortment, column(rows, "sku"), ("cost",))["cost"]))
    value = _floats(column(rows, "value"))
    subtype = column(rows, "subtype")
    off = np.where(
        mask(pc.equal(subtype, "PERCENTAGE")),
        value / 100,
        np.where(mask(pc.equal(subtype, "ABSOLUTE")), value / base, 1 - value / base),
    )
    off *= part
    with np.errstate(invalid="ignore"):
        deep = off > settings.discount_share_max + 1e-9
        loss = base * (1 - off) < cost
        final = mask(pc.equal(subtype, "FINAL_PRICE")) & (part == 1)
        loss = np.where(final, value < cost, loss)
    on_sale = assortment.num_rows - int(pc.sum(pc.equal(assortment["active"], False)).as_py() or 0)
    skus = column(rows, "sku").dictionary_encode()
    codes = np.asarray(skus.indices.to_numpy(zero_copy_only=False), np.int64)
    pairs = np.unique(campaigns * (len(skus.dictionary) + 1) + codes)  # each SKU of a campaign once
    counts = np.bincount(pairs // (len(skus.dictionary) + 1), minlength=1)
    most = max(ASSORTMENT_FREE, settings.assortment_share_max * on_sale) if on_sale else np.inf
    wide = counts[campaigns] > most
    return [
        ("discount", deep, f"are reduced by more than {settings.discount_share_max:.0%} of the base price"),
        ("below_cost", loss, "would be sold below their cost"),
        (
            "assortment",
            wide,
            f"are more than {settings.assortment_share_max:.0%} of the vendor's {on_sale} products on sale",
        ),
    ]


def _discounted_part(head: Head) -> float:
    """The share of the pieces that a discount applies to: all, or the discounted ones of a bundle."""
    bought, discounted = head.purchased_quantity or 0, head.discounted_quantity or 0
    return discounted / (bought + discounted) if head.type == "SAME_ITEM_BUNDLE" and discounted else 1.0


def _hold(rows: pa.Table, heads: list[Head], campaign: str, rule: str, vendor: str, sentence: str) -> Hold:
    """The hold of these rows, identified by a hash of their values and times."""
    digest = hashlib.sha256(f"{campaign}\x1f{rule}\x1f{vendor}".encode())
    order = rows.sort_by([("sku", "ascending"), ("head", "ascending")])
    windows = [_window(heads[number]) for number in order["head"].to_pylist()]
    texts = [
        column(order, "sku"),
        column(order, "subtype"),
        column(order, "value").cast(pa.string()),
        pa.array(windows, pa.string()),
    ]
    for text in pc.binary_join_element_wise(*texts, "\x1f").to_pylist():
        digest.update(text.encode() + b"\x1e")
    shown = ", ".join(
        f"{row['sku']} at {display.discount(row['subtype'], row['value'])}"
        for row in order.slice(0, _EXAMPLES).select(["sku", "subtype", "value"]).to_pylist()
    )
    more = ", …" if order.num_rows > _EXAMPLES else ""
    message = f"campaign {campaign}: {order.num_rows} SKUs {sentence} ({shown}{more})"
    return Hold(campaign, rule, vendor, digest.hexdigest(), order.num_rows, message)


def _window(head: Head) -> str:
    """Its times and, of a bundle, its quantities."""
    bundle = f" {head.purchased_quantity}+{head.discounted_quantity}" if head.type == "SAME_ITEM_BUNDLE" else ""
    return f"{head.start.isoformat()} {head.end.isoformat()}{bundle}"


def _floats(values: pa.Array) -> np.ndarray:
    """For shares only: no price that is sent is converted here."""
    return np.asarray(pc.cast(values, pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)
