"""What a partner may change of an item's quantity, weight and price (interface.md 4.8.4, 4.8.5)."""

from __future__ import annotations

from decimal import Decimal

from partner_sandbox.catalog import money
from partner_sandbox.orders.body import VALIDATION_ERROR, CartError, SentPricing
from partner_sandbox.orders.order import Pricing, total_milli


def changed(where: str, held: Pricing, sent: SentPricing | None, *, weighing: bool) -> Pricing:
    """The pricing after a change; what is sent back as it was counts as no change. CartError for what is not allowed."""
    if sent is None:
        return held
    if sent.pricing_type is not None and sent.pricing_type != held.pricing_type:
        raise _refused(f"{where}.pricing_type", f"is {held.pricing_type} and cannot be changed")
    if held.pricing_type == "KG":
        return _weighed(where, held, sent, weighing=weighing)
    return _counted(where, held, sent)


def whole(where: str, value: Decimal) -> int:
    """A number of pieces."""
    if value != value.to_integral_value():
        raise _refused(where, "must be a whole number of pieces")
    return int(value)


def grams(weight: Decimal) -> int:
    """A weight in kilograms, cut to grams."""
    return money.cut(weight)


def _counted(where: str, held: Pricing, sent: SentPricing) -> Pricing:
    if sent.weight is not None:
        raise _refused(f"{where}.weight", "is for items priced by KG only")
    quantity = held.quantity if sent.quantity is None else whole(f"{where}.quantity", sent.quantity)
    if not held.least <= quantity <= held.most and quantity != held.quantity:
        raise _refused(f"{where}.quantity", f"must be from {held.least} to {held.most}")
    unit_milli = held.unit_price_milli if sent.unit_price is None else money.cut(sent.unit_price)
    if unit_milli > held.unit_price_milli:
        raise _refused(f"{where}.unit_price", "can only be decreased")
    as_held = {held.total_price_milli, total_milli("UNIT", held.unit_price_milli, quantity, None)}
    sent_total_milli = None if sent.total_price is None else money.cut(sent.total_price)
    total_changed = sent_total_milli is not None and sent_total_milli not in as_held
    if total_changed and unit_milli != held.unit_price_milli:
        raise _refused(where, "either unit_price or total_price may be changed, not both")
    if total_changed:
        total = sent_total_milli
    elif (quantity, unit_milli) == (held.quantity, held.unit_price_milli):
        total = held.total_price_milli
    else:
        total = total_milli("UNIT", unit_milli, quantity, None)
    return held.model_copy(update={"quantity": quantity, "unit_price_milli": unit_milli, "total_price_milli": total})


def _weighed(where: str, held: Pricing, sent: SentPricing, *, weighing: bool) -> Pricing:
    if sent.quantity is not None and sent.quantity != held.quantity:
        raise _refused(f"{where}.quantity", f"stays {held.quantity} for items priced by KG; send weight")
    if sent.unit_price is not None and money.cut(sent.unit_price) != held.unit_price_milli:
        raise _refused(f"{where}.unit_price", "cannot be changed for items priced by KG: the price follows the weight")
    weight_g = held.weight_g if sent.weight is None else grams(sent.weight)
    if weight_g != held.weight_g:
        if not weighing:
            raise _refused(f"{where}.weight", "weighted items are not enabled for this partner")
        if weight_g is None or not held.least <= weight_g <= held.most:
            raise _refused(f"{where}.weight", f"must be from {held.least / 1000:g} to {held.most / 1000:g}")
    total = total_milli("KG", held.unit_price_milli, 1, weight_g)
    if sent.total_price is not None and money.cut(sent.total_price) not in {held.total_price_milli, total}:
        raise _refused(f"{where}.total_price", "cannot be changed for items priced by KG: the price follows the weight")
    return held.model_copy(update={"weight_g": weight_g, "total_price_milli": total})


def _refused(where: str, problem: str) -> CartError:
    return CartError(VALIDATION_ERROR, where, problem)
