"""The effect of a PUT on an order's items (interface.md 3.2, 4.8.2 to 4.8.8). Pure: the catalog's answers are given."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

from partner_sandbox import money
from partner_sandbox.orders import pricing
from partner_sandbox.orders.payload import (
    INVALID_CART_UPDATE,
    ITEM_NOT_FOUND,
    VALIDATION_ERROR,
    CartError,
    SentItem,
    SentPricing,
)
from partner_sandbox.orders.pricing import Good
from partner_sandbox.orders.store import Item

REPLACING, ADDING = "4.8.7", "4.8.8"


def rule_of(sent: SentItem) -> str:
    """The rule that an item new to the order follows."""
    return ADDING if sent.status == "ADDITION" else REPLACING


def _replacement_error(where: str, problem: str) -> CartError:
    return CartError(VALIDATION_ERROR, where, problem, rule=REPLACING)


@dataclass
class Cart:
    """One change of one order's items. `goods`: what the catalog knows of the SKUs that are new to the order."""

    items: tuple[Item, ...]
    goods: dict[str, Good]
    new_id: Callable[[], str]
    weighing: bool
    untouched_allowed: bool
    """Whether NOT_PROCESSED may be sent back, as where nothing has to be decided yet."""
    _changed: dict[str, Item] = field(default_factory=dict)
    _added: dict[int, Item] = field(default_factory=dict)
    _replaced: dict[str, int] = field(default_factory=dict)
    _answered: set[str] = field(default_factory=set)

    def apply(self, sent: list[SentItem]) -> tuple[Item, ...]:
        """The items afterwards; CartError for the first rule that is broken. What is not mentioned stays."""
        replacing: list[tuple[int, SentItem]] = []
        for number, item in enumerate(sent):
            if item.status is None:
                raise CartError(VALIDATION_ERROR, f"items[{number}].status", "is required")
            if item.status == "ADDITION":
                self._add(number, item)
            elif item.replaced_id is not None:
                replacing.append((number, item))
            else:
                self._touch(number, item)
        for number, item in replacing:
            self._replace(number, item)
        missing = set(self._replaced) - {item.replaced_id for _, item in replacing}
        if missing:
            number = min(self._replaced[one] for one in missing)
            problem = "is REPLACED, and no item of this request has its _id as replaced_id"
            raise _replacement_error(f"items[{number}]", problem)
        return (
            *(self._changed.get(item.id, item) for item in self.items),
            *(self._added[number] for number in sorted(self._added)),
        )

    def _touch(self, number: int, sent: SentItem) -> None:
        where = f"items[{number}]"
        if sent.status == "REPLACED" and sent.id is None:
            raise _replacement_error(f"{where}._id", "is required for an item that is REPLACED")
        held = self._held(where, sent)
        if sent.status == "NOT_PROCESSED":
            if not self.untouched_allowed:
                problem = "NOT_PROCESSED does not fulfil; must be IN_CART, NOT_FOUND, REPLACED or ADDITION"
                where = f"{where}.status"
                raise CartError(VALIDATION_ERROR, where, problem, rule="3.2", choice="order_unprocessed_item")
            self._changed[held.id] = held
            return
        if sent.status == "REPLACED":
            self._replaced[held.id] = number
        new = held.pricing
        if sent.status == "IN_CART":
            new = pricing.changed(f"{where}.pricing", held.pricing, sent.pricing, weighing=self.weighing)
        self._changed[held.id] = held.model_copy(update={"status": sent.status, "pricing": new})

    def _held(self, where: str, sent: SentItem) -> Item:
        """The item of the order that is meant: by `_id` and SKU, or the first of its SKU that has not been meant yet."""
        if not sent.sku:
            raise CartError(INVALID_CART_UPDATE, f"{where}.sku", "is required")
        free = [item for item in self.items if item.id not in self._changed and item.status != "REPLACED"]
        if sent.id is None:
            found = [item for item in free if item.sku == sent.sku]
        else:
            found = [item for item in free if item.id == sent.id and item.sku == sent.sku]
        if not found:
            raise CartError(ITEM_NOT_FOUND, where, f"the order has no such item with the SKU {sent.sku!r} left")
        return found[0]

    def _add(self, number: int, sent: SentItem) -> None:
        """A new entry, also for a product that the order already has; price and quantity are not checked."""
        where = f"items[{number}]"
        values = self._complete(where, sent)
        self._added[number] = self._entry(where, self._good(where, sent), values, "ADDITION", None)

    def _replace(self, number: int, sent: SentItem) -> None:
        where = f"items[{number}]"
        if sent.status != "IN_CART":
            raise _replacement_error(f"{where}.status", "an item with replaced_id must be IN_CART")
        replaced_id = sent.replaced_id or ""
        if replaced_id not in self._replaced:
            problem = "is the _id of no item that this request sends as REPLACED"
            raise _replacement_error(f"{where}.replaced_id", problem)
        if replaced_id in self._answered:
            raise _replacement_error(where, "an item has one replacement at most")
        self._answered.add(replaced_id)
        values = self._complete(where, sent)
        good = self._good(where, sent)
        held = self._changed[replaced_id]
        if good.by_weight and held.pricing.pricing_type != "KG":
            problem = "an item counted in pieces cannot be replaced by a weighted one"
            raise _replacement_error(where, problem)
        entry = self._entry(where, good, values, "IN_CART", replaced_id)
        if entry.pricing.total_price_milli > held.pricing.total_price_milli:  # not blocked, and not reflected either
            self._changed[replaced_id] = next(item for item in self.items if item.id == replaced_id)
        else:
            self._added[number] = entry

    def _complete(self, where: str, sent: SentItem) -> SentPricing:
        if not sent.sku:
            raise CartError(INVALID_CART_UPDATE, f"{where}.sku", "is required")
        if sent.pricing is None or sent.pricing.quantity is None:
            raise CartError(INVALID_CART_UPDATE, f"{where}.pricing.quantity", "is required", rule=rule_of(sent))
        return sent.pricing

    def _good(self, where: str, sent: SentItem) -> Good:
        found = self.goods.get(sent.sku or "")
        if found is None:
            raise CartError(
                ITEM_NOT_FOUND, where, f"the vendor has no item with the SKU {sent.sku!r}", rule=rule_of(sent)
            )
        return found

    def _entry(
        self, where: str, good: Good, sent: SentPricing, status: Literal["IN_CART", "ADDITION"], replaced_id: str | None
    ) -> Item:
        """A new entry at the catalog's price or a given one, without any promotion."""
        if good.by_weight and sent.weight is None:
            raise CartError(INVALID_CART_UPDATE, f"{where}.pricing.weight", "is required for an item sold by weight")
        if good.by_weight and not self.weighing:
            problem = "weighted items are not enabled for this partner"
            raise CartError(
                VALIDATION_ERROR, f"{where}.pricing.weight", problem, rule=pricing.BY_WEIGHT, choice="order_weighing"
            )
        asked = Decimal(1) if good.by_weight or sent.quantity is None else sent.quantity
        quantity = pricing.whole(f"{where}.pricing.quantity", asked)
        weight_g = None if sent.weight is None or not good.by_weight else pricing.grams(sent.weight)
        original = good.pricing(quantity, weight_g)
        new = original
        if sent.unit_price is not None:
            new = good.pricing(quantity, weight_g, unit_milli=money.cut(sent.unit_price))
        elif sent.total_price is not None and not good.by_weight:
            new = original.model_copy(update={"total_price_milli": money.cut(sent.total_price)})
        return Item(
            id=self.new_id(),
            sku=good.sku,
            name=good.name,
            status=status,
            pricing=new,
            original_pricing=original,
            replaced_id=replaced_id,
            barcode=good.barcode,
            image_url=good.image_url,
        )


def named(sent: Iterable[SentItem]) -> set[str]:
    """The SKUs that need a look-up in the catalog."""
    return {item.sku for item in sent if item.sku and (item.status == "ADDITION" or item.replaced_id is not None)}
