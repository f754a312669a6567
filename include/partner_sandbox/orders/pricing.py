"""What a partner may change of an item's quantity, weight and price (interface.md 4.8.4, 4.8.5)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal

from partner_sandbox.catalog import money
from partner_sandbox.orders.body import VALIDATION_ERROR, CartError, SentPricing
from partner_sandbox.orders.goods import Good
from partner_sandbox.orders.order import AppliedPromotion, CartDiscount, Item, Pricing, total_milli
from partner_sandbox.promotions.seen import STRIKETHROUGH, Seen


def changed(where: str, held: Pricing, sent: SentPricing | None, *, weighing: bool) -> Pricing:
    """The pricing after a change; an unchanged value counts as no change. CartError for a change that is not allowed."""
    if sent is None:
        return held
    if sent.pricing_type is not None and sent.pricing_type != held.pricing_type:
        raise _error(f"{where}.pricing_type", f"is {held.pricing_type} and cannot be changed")
    if held.pricing_type == "KG":
        return _weighed(where, held, sent, weighing=weighing)
    return _counted(where, held, sent)


def whole(where: str, value: Decimal) -> int:
    """A number of pieces."""
    if value != value.to_integral_value():
        raise _error(where, "must be a whole number of pieces")
    return int(value)


def grams(weight: Decimal) -> int:
    """A weight in kilograms, cut to grams."""
    return money.cut(weight)


def _counted(where: str, held: Pricing, sent: SentPricing) -> Pricing:
    if sent.weight is not None:
        raise _error(f"{where}.weight", "is for items priced by KG only")
    quantity = held.quantity if sent.quantity is None else whole(f"{where}.quantity", sent.quantity)
    if not held.least <= quantity <= held.most and quantity != held.quantity:
        raise _error(f"{where}.quantity", f"must be from {held.least} to {held.most}")
    unit_milli = held.unit_price_milli if sent.unit_price is None else money.cut(sent.unit_price)
    if unit_milli > held.unit_price_milli:
        raise _error(f"{where}.unit_price", "can only be decreased")
    as_held = {held.total_price_milli, total_milli("UNIT", held.unit_price_milli, quantity, None)}
    sent_total_milli = None if sent.total_price is None else money.cut(sent.total_price)
    total_changed = sent_total_milli is not None and sent_total_milli not in as_held
    if total_changed and unit_milli != held.unit_price_milli:
        raise _error(where, "either unit_price or total_price may be changed, not both")
    if total_changed:
        total = sent_total_milli
    elif (quantity, unit_milli) == (held.quantity, held.unit_price_milli):
        total = held.total_price_milli
    else:
        total = total_milli("UNIT", unit_milli, quantity, None)
    return held.model_copy(update={"quantity": quantity, "unit_price_milli": unit_milli, "total_price_milli": total})


def _weighed(where: str, held: Pricing, sent: SentPricing, *, weighing: bool) -> Pricing:
    if sent.quantity is not None and sent.quantity != held.quantity:
        raise _error(f"{where}.quantity", f"stays {held.quantity} for items priced by KG; send weight")
    if sent.unit_price is not None and money.cut(sent.unit_price) != held.unit_price_milli:
        raise _error(f"{where}.unit_price", "cannot be changed for items priced by KG: the price follows the weight")
    weight_g = held.weight_g if sent.weight is None else grams(sent.weight)
    if weight_g != held.weight_g:
        if not weighing:
            raise _error(f"{where}.weight", "weighted items are not enabled for this partner")
        if weight_g is None or not held.least <= weight_g <= held.most:
            raise _error(f"{where}.weight", f"must be from {held.least / 1000:g} to {held.most / 1000:g}")
    total = total_milli("KG", held.unit_price_milli, 1, weight_g)
    if sent.total_price is not None and money.cut(sent.total_price) not in {held.total_price_milli, total}:
        raise _error(f"{where}.total_price", "cannot be changed for items priced by KG: the price follows the weight")
    return held.model_copy(update={"weight_g": weight_g, "total_price_milli": total})


def _error(where: str, problem: str) -> CartError:
    return CartError(VALIDATION_ERROR, where, problem)


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
