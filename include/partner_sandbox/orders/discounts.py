"""The items of a new order with the promotions that count at its making, fixed from then on (interface.md 2.6, 4.8.3).

A strike-through lowers the unit price; pieces beyond what a promotion allows in an order stand in an entry of their own
at the full price, so that a total is always price times quantity. A bundle leaves prices alone and is taken from the cart.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

from partner_sandbox.orders.goods import Good
from partner_sandbox.orders.order import AppliedPromotion, CartDiscount, Item
from partner_sandbox.promotions.seen import STRIKETHROUGH, Seen


@dataclass
class _Used:
    items: int = 0
    discount_milli: int = 0


@dataclass
class Basket:
    """Grows line by line."""

    new_id: Callable[[], str]
    items: tuple[Item, ...] = ()
    discounts: tuple[CartDiscount, ...] = ()
    _used: defaultdict[int, _Used] = field(default_factory=lambda: defaultdict(_Used))
    _used_of_sku: defaultdict[tuple[int, str], int] = field(default_factory=lambda: defaultdict(int))

    def add(
        self, good: Good, quantity: int, weight_g: int | None, promotion: Seen | None, bounds: dict[str, int]
    ) -> None:
        """A line of the customer's; `bounds` replace the platform's on its pricing."""
        shelf = good.app_price_milli or 0
        price = None if promotion is None else promotion.price_milli(shelf)
        if promotion is None or price is None:
            self._entry(good, quantity, weight_g, shelf, (), bounds)
            return
        if promotion.type != STRIKETHROUGH:
            self._bundle(good, quantity, weight_g, promotion, shelf - price, bounds)
            return
        cheaper = quantity if good.by_weight else min(quantity, self._allowed(good, promotion, shelf - price))
        if cheaper:
            saved = _saving(shelf - price, cheaper, weight_g)
            self._use(good, promotion, cheaper, saved)
            applied = (AppliedPromotion(name=promotion.name, type=promotion.type, discount_milli=saved),)
            self._entry(good, cheaper, weight_g, price, applied, bounds)
        if quantity > cheaper:
            self._entry(good, quantity - cheaper, weight_g, shelf, (), bounds)

    def _bundle(
        self, good: Good, quantity: int, weight_g: int | None, promotion: Seen, each_milli: int, bounds: dict[str, int]
    ) -> None:
        bought, given = promotion.purchased_quantity or 1, promotion.discounted_quantity or 1
        rounds, rest = divmod(quantity, bought + given)
        eligible = 0 if good.by_weight else rounds * given + max(0, rest - bought)
        pieces = min(eligible, self._allowed(good, promotion, each_milli))
        applied: tuple[AppliedPromotion, ...] = ()
        if pieces:
            saved = each_milli * pieces
            self._use(good, promotion, pieces, saved)
            self.discounts += (CartDiscount(name=promotion.name, value_milli=saved),)
            applied = (AppliedPromotion(name=promotion.name, type=promotion.type, discount_milli=saved),)
        self._entry(good, quantity, weight_g, good.app_price_milli or 0, applied, bounds)

    def _allowed(self, good: Good, promotion: Seen, each_milli: int) -> int:
        """How many more pieces the promotion's limits let into this order."""
        used = self._used[promotion.promotion_id]
        limits = [10**9]
        if promotion.max_quantity is not None:
            limits.append(promotion.max_quantity - self._used_of_sku[promotion.promotion_id, good.sku])
        if promotion.max_items is not None:
            limits.append(promotion.max_items - used.items)
        if promotion.max_discount_milli is not None:
            limits.append((promotion.max_discount_milli - used.discount_milli) // max(each_milli, 1))
        return max(0, min(limits))

    def _use(self, good: Good, promotion: Seen, pieces: int, saved_milli: int) -> None:
        used = self._used[promotion.promotion_id]
        used.items += pieces
        used.discount_milli += saved_milli
        self._used_of_sku[promotion.promotion_id, good.sku] += pieces

    def _entry(
        self,
        good: Good,
        quantity: int,
        weight_g: int | None,
        unit_milli: int,
        applied: tuple[AppliedPromotion, ...],
        bounds: dict[str, int],
    ) -> None:
        shelf = good.app_price_milli or 0
        pricing = good.pricing(quantity, weight_g, unit_milli=unit_milli, list_milli=shelf).model_copy(update=bounds)
        self.items += (
            Item(
                id=self.new_id(),
                sku=good.sku,
                name=good.name,
                status="NOT_PROCESSED",
                pricing=pricing,
                original_pricing=pricing,
                promotions=applied,
            ),
        )


def _saving(each_milli: int, pieces: int, weight_g: int | None) -> int:
    return each_milli * pieces if weight_g is None else (each_milli * weight_g + 500) // 1000
