"""guard: what is probably a mistake is held for the operator; the rest is sent.

`discount`: reduced by more than a share of the base price. `offer_below_cost`: sold below its cost. `assortment`: the campaign has more than a
share of the vendor's assortment. `ended`: many promotions leave the ERP at once. Of a bundle, the reduction counts over all its pieces: the second at 100 % off is half price. The platform keeps its values of held SKUs until an operator approves exactly the new ones.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shelfsync import display
from shelfsync.promotions.base_price import base_prices, or_of_other_stores, priced
from shelfsync.promotions.head import EVERY
from shelfsync.promotions.schemas import HELD, KEPT
from shelfsync.rows.alignment import aligned, column
from shelfsync.rows.mask import mask
from shelfsync.schemas import PRICE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from shelfsync.promotions.head import Head
    from shelfsync.promotions.known_promotion import KnownPromotion
    from shelfsync.settings import PromotionSettings

ASSORTMENT_FREE = 20
"""SKUs that a campaign may always have, even in a small assortment."""
ENDED = "ended"
"""The rule that holds the ends of many promotions."""
_EXAMPLES = 10
ROUNDING = 1e-9
"""Shares of money are computed as floating numbers; a share at the threshold is not above it."""


@dataclass(frozen=True)
class Hold:
    """Rows of one campaign at one vendor that one rule holds. `fingerprint` is of exactly these values: a release is for nothing else."""

    campaign: str
    rule: str
    vendor: str
    fingerprint: str
    message: str
    rows: pa.Table
    """What is held (HELD)."""
    thresholds: dict[str, float]
    """The settings of the rule by their names; empty: it has none."""

    @property
    def skus(self) -> int:
        """How many rows are held."""
        return int(self.rows.num_rows)


@dataclass(frozen=True)
class Guarded:
    """The released rows (ROWS), the held SKUs (KEPT), and the holds that are in force."""

    rows: pa.Table
    kept: pa.Table
    holds: list[Hold]


@dataclass(frozen=True)
class _Rule:
    """What one rule makes of the rows: a mask of those that it holds, what it compares with its threshold, and its sentence."""

    name: str
    trips: np.ndarray
    sentence: str
    share: np.ndarray | None = None
    thresholds: dict[str, float] = field(default_factory=dict)


def guard(
    rows: pa.Table,
    heads: list[Head],
    assortment: pa.Table,
    settings: PromotionSettings,
    *,
    vendor: str,
    asked: pa.Table | None = None,
    elsewhere: pa.Table | None = None,
    approved: Callable[[Hold], Collection[str]],
) -> Guarded:
    """`approved` returns the keys of the rows of a hold that an operator has approved; exactly these values pass.

    `asked` (ASKED): SKUs of the ERP that the vendor's `assortment` (ASSORTMENT) lacks; `elsewhere` (ASKED): those of other vendors.
    """
    held = np.zeros(rows.num_rows, np.bool_)
    holds: list[Hold] = []
    numbers = column(rows, "head").to_numpy(zero_copy_only=False)
    names = sorted({head.campaign for head in heads})
    codes = {name: code for code, name in enumerate(names)}
    campaigns = np.array([codes[head.campaign] for head in heads] or [0], np.int64)[numbers]
    parts = np.array([_discounted_part(head) for head in heads] or [1.0], dtype=np.float64)[numbers]
    known = priced(assortment, asked)
    own = base_prices(rows, known)
    base = or_of_other_stores(own, rows, elsewhere)
    off = _off(rows, base, parts)
    cost = pc.coalesce(column(rows, "cost"), aligned(known, column(rows, "sku"), ("cost",))["cost"])
    on_sale = assortment.num_rows - int(pc.sum(pc.equal(assortment["active"], False)).as_py() or 0)
    for rule in _rules(rows, campaigns, parts, base, off, _floats(cost), on_sale, settings):
        places = np.flatnonzero(rule.trips)
        places = places[np.argsort(campaigns[places], kind="stable")]
        for of_campaign in np.split(places, np.flatnonzero(np.diff(campaigns[places])) + 1) if len(places) else ():
            campaign = names[campaigns[of_campaign[0]]]

            def hold_of(places: np.ndarray, campaign: str = campaign, rule: _Rule = rule) -> Hold:
                return _hold(_held_rows(rows, heads, own, off, rule.share, places), campaign, rule, vendor)

            hold = hold_of(of_campaign)
            passes = pc.is_in(hold.rows["key"], value_set=pa.array(sorted(approved(hold)), pa.string()))
            left = of_campaign[~mask(passes)]
            if len(left):
                holds.append(hold if len(left) == len(of_campaign) else hold_of(left))
                held[left] = True
    if not held.any():
        return Guarded(rows, KEPT.empty_table(), [])
    mask_held = pa.array(held)
    return Guarded(rows.filter(pc.invert(mask_held)), rows.filter(mask_held).select(KEPT.names), holds)


def hold_of_ends(
    absent: Sequence[KnownPromotion], live: int, share_max: float, declined: Collection[str] = ()
) -> Hold | None:
    """The ends of all these promotions, held together: a row is a promotion. None: it is one, or at most this share of the `live` ones.

    Those of `declined` (identities) stay, however few are left of them.
    """
    if len(absent) <= 1 or len(absent) <= share_max * live:
        absent = [promotion for promotion in absent if promotion.identity in declined]
    if not absent:
        return None
    named = ", ".join(sorted({promotion.campaign for promotion in absent})[:5])
    message = f"{len(absent)} of {live} promotions in force have left the ERP at once ({named}); ending them is held"
    rows = [
        {
            "key": promotion.identity,
            "sku": promotion.campaign,
            "discount": "end",
            "window": f"{promotion.start_time.isoformat()} {promotion.end_time.isoformat()}",
            "share": len(absent) / live,
        }
        for promotion in absent
    ]
    identity = fingerprint(EVERY, ENDED, EVERY, (promotion.identity for promotion in absent))
    table = pa.Table.from_pylist(rows, schema=HELD)
    return Hold(EVERY, ENDED, EVERY, identity, message, table, {"ended_share_max": share_max})


def fingerprint(campaign: str, rule: str, vendor: str, keys: Iterable[str]) -> str:
    """The SHA-256, in hexadecimal, by which held rows are recognised in the next extract."""
    digest = hashlib.sha256(f"{campaign}\x1f{rule}\x1f{vendor}".encode())
    for key in sorted(keys):
        digest.update(key.encode() + b"\x1e")
    return digest.hexdigest()


def _off(rows: pa.Table, base: pa.Array, part: np.ndarray) -> np.ndarray:
    """The share of the base price by which each row is reduced, over all pieces of a bundle. `part`: the share of pieces with a discount."""
    value, price = _floats(column(rows, "value")), _floats(base)
    subtype = column(rows, "subtype")
    off = np.where(
        mask(pc.equal(subtype, "PERCENTAGE")),
        value / 100,
        np.where(mask(pc.equal(subtype, "ABSOLUTE")), value / price, 1 - value / price),
    )
    return np.asarray(off * part, dtype=np.float64)


def _rules(
    rows: pa.Table,
    campaigns: np.ndarray,
    part: np.ndarray,
    base: pa.Array,
    off: np.ndarray,
    cost: np.ndarray,
    on_sale: int,
    settings: PromotionSettings,
) -> list[_Rule]:
    """What each rule holds. `campaigns`: a number for each row's; `part`: the share of its pieces that is discounted; `on_sale`: SKUs."""
    with np.errstate(invalid="ignore"):
        deep = off > settings.discount_share_max + ROUNDING
        loss = _floats(base) * (1 - off) < cost
        final = mask(pc.equal(column(rows, "subtype"), "FINAL_PRICE")) & (part == 1)
        loss = np.where(final, _floats(column(rows, "value")) < cost, loss)
    skus = column(rows, "sku").dictionary_encode()
    codes = np.asarray(skus.indices.to_numpy(zero_copy_only=False), np.int64)
    pairs = np.unique(campaigns * (len(skus.dictionary) + 1) + codes)  # each SKU of a campaign once
    counts = np.bincount(pairs // (len(skus.dictionary) + 1), minlength=1)[campaigns]
    wide = counts > (max(ASSORTMENT_FREE, settings.assortment_share_max * on_sale) if on_sale else np.inf)
    return [
        _Rule(
            "discount",
            deep,
            f"are reduced by more than {settings.discount_share_max:.0%} of the base price",
            off,
            {"discount_share_max": settings.discount_share_max},
        ),
        _Rule("offer_below_cost", loss, "would be sold below their cost"),
        _Rule(
            "assortment",
            wide,
            f"are more than {settings.assortment_share_max:.0%} of the vendor's {on_sale} products on sale",
            counts / max(on_sale, 1),
            {"assortment_share_max": settings.assortment_share_max},
        ),
    ]


def _discounted_part(head: Head) -> float:
    """The share of the pieces that a discount applies to: all, or the discounted ones of a bundle."""
    bought, discounted = head.purchased_quantity or 0, head.discounted_quantity or 0
    return discounted / (bought + discounted) if head.type == "SAME_ITEM_BUNDLE" and discounted else 1.0


def _held_rows(
    rows: pa.Table,
    heads: list[Head],
    base: pa.Array,
    off: np.ndarray,
    share: np.ndarray | None,
    places: np.ndarray,
) -> pa.Table:
    """These rows as a person sees them (HELD), in the order of their SKUs."""
    chosen = rows.take(pa.array(places))
    value = column(chosen, "value").cast(pa.string())
    discount = pc.binary_join_element_wise(column(chosen, "subtype"), value, " ")
    windows = pa.array([_window(heads[number]) for number in chosen["head"].to_pylist()], pa.string())
    known = base.take(pa.array(places))
    price = np.round(_floats(known) * (1 - off[places]), 3)
    columns = {
        "key": pc.binary_join_element_wise(column(chosen, "sku"), discount, windows, "\x1f"),
        "sku": column(chosen, "sku"),
        "discount": discount,
        "window": windows,
        "price_before": known,
        "price": pa.array(np.where(np.isfinite(price), price, np.nan), from_pandas=True).cast(PRICE, safe=False),
        "move": pa.array(1 - off[places], from_pandas=True),
        "share": pa.nulls(len(places), pa.float64()) if share is None else pa.array(share[places], from_pandas=True),
    }
    return pa.table(columns).cast(HELD).sort_by([("sku", "ascending"), ("key", "ascending")])


def _hold(rows: pa.Table, campaign: str, rule: _Rule, vendor: str) -> Hold:
    """The hold of these rows (HELD), identified by a hash of their values and times."""
    shown = ", ".join(
        f"{row['sku']} at {in_words('discount', row['discount'])}" for row in rows.slice(0, _EXAMPLES).to_pylist()
    )
    more = ", …" if rows.num_rows > _EXAMPLES else ""
    message = f"campaign {campaign}: {rows.num_rows} SKUs {rule.sentence} ({shown}{more})"
    identity = fingerprint(campaign, rule.name, vendor, rows["key"].to_pylist())
    return Hold(campaign, rule.name, vendor, identity, message, rows, rule.thresholds)


def in_words(name: str, held: str) -> str:
    """A discount or a window of a row of HELD, for a person: `4.90 EUR`, `2026-03-02 04:00 to 2026-03-05 04:00 UTC, 2+1`."""
    if name == "discount":
        subtype, _, value = held.rpartition(" ")
        return display.discount(subtype, Decimal(value)) if subtype else held  # the end of a promotion has no price
    start, end, *bundle = held.split()
    first, last = (display.minute(dt.datetime.fromisoformat(one)) for one in (start, end))
    return ", ".join([f"{first} to {last}", *bundle])


def _window(head: Head) -> str:
    """Its times and, of a bundle, its quantities."""
    bundle = f" {head.purchased_quantity}+{head.discounted_quantity}" if head.type == "SAME_ITEM_BUNDLE" else ""
    return f"{head.start.isoformat()} {head.end.isoformat()}{bundle}"


def _floats(values: pa.Array) -> np.ndarray:
    """For shares only: no price that is sent is converted here."""
    return np.asarray(pc.cast(values, pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)
