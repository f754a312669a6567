"""What the chain and its customers do: tills, buyers, stores, campaigns, orders. By SQL on the ERP and the sandbox's control plane."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from installation import orders, shelf
from installation.installed import CHAIN
from shelfsync.erp.sample import tick  # the sample ERP: not the product, but a stand-in for what a chain has
from soak.course import RefusedError

if TYPE_CHECKING:
    from random import Random

    from soak.course import Course
    from soak.plan import Event

STORES = tuple(f"store-{number:03}" for number in range(1, 7))
CLOSED_SHARE = 0.9
GIFT_SHARE = 0.2
"""So many campaigns give nearly everything away, and a guard holds them."""

GOODS = """
SELECT product.product_id, product.item_code AS sku, product.list_price
FROM erp.listing JOIN erp.store USING (store_id) JOIN erp.product USING (product_id)
WHERE store.code = %(vendor)s AND listing.active AND product.active AND product.list_price > 1
    AND NOT EXISTS (SELECT FROM erp.campaign_price WHERE campaign_price.product_id = product.product_id)
ORDER BY product.item_code
"""
"""What a store sells and no campaign of any time reduces."""
CLOSE = """
UPDATE erp.listing SET active = false FROM erp.store
WHERE store.store_id = listing.store_id AND store.code = %(vendor)s AND listing.product_id = ANY(%(products)s)
"""
OPEN = CLOSE.replace("active = false", "active = true")
BEGIN = """
INSERT INTO erp.campaign (code, name, store_id, starts_at, ends_at)
SELECT %(code)s, %(name)s, store_id, date_trunc('second', now()) + %(after)s * interval '1 second',
    date_trunc('second', now()) + %(until)s * interval '1 second'
FROM erp.store WHERE code = %(vendor)s
"""
REDUCE = """
INSERT INTO erp.campaign_price (campaign_id, product_id, amount)
SELECT campaign_id, %(product)s, %(amount)s FROM erp.campaign WHERE code = %(code)s
"""
PRICE = """
INSERT INTO erp.price (product_id, store_id, amount, valid_from)
SELECT %(product)s, store_id, %(amount)s, current_date FROM erp.store WHERE code = %(vendor)s
"""
SELLS = """
SELECT product_id FROM erp.listing JOIN erp.store USING (store_id) WHERE store.code = %(vendor)s AND listing.active ORDER BY 1
"""
HIS = (
    "SELECT campaign_id, product_id FROM erp.campaign JOIN erp.campaign_price USING (campaign_id) WHERE code = %(code)s"
)


def till(course: Course, event: Event) -> str:
    """A quarter of an hour at all tills."""
    url = course.installation.erp_url.replace("postgresql://", "postgresql+psycopg://", 1)
    engine = sa.create_engine(url, poolclass=sa.NullPool)
    happened = tick(engine, seed=course.seed * 1000 + event.number)
    return f"{happened.sold} listings sold, {happened.repriced} products and {happened.repriced_in_store} listings repriced"


def price(course: Course, event: Event) -> str:
    """A buyer changes some prices of one store by little."""
    chance, vendor = _at(course, event)
    for good in chance.sample(_goods(course, vendor), chance.randint(1, 15)):
        amount = _share(good, chance.uniform(0.8, 1.25))
        course.installation.erp(PRICE, vendor=vendor, product=good["product_id"], amount=Decimal(amount))
    return vendor


def limit(course: Course, event: Event) -> str:
    """A buyer changes how many pieces a customer may order."""
    chance, vendor = _at(course, event)
    good = chance.choice(_goods(course, vendor))
    shelf.set_limit(course.installation, vendor, good["sku"], chance.randint(2, 9))
    return f"{vendor} {good['sku']}"


def close(course: Course, event: Event) -> str:
    """A store takes nearly all of its range off sale."""
    chance, vendor = _at(course, event)
    sells = [row["product_id"] for row in course.installation.erp(SELLS, vendor=vendor)]
    products = chance.sample(sells, int(len(sells) * CLOSED_SHARE))
    course.closed[event.number] = vendor, products
    course.installation.erp(CLOSE, vendor=vendor, products=products)
    return f"{vendor}, {len(products)} products"


def open_again(course: Course, event: Event) -> str:
    """The store sells again what it sold before."""
    if event.number not in course.closed:
        return ""
    vendor, products = course.closed[event.number]
    course.installation.erp(OPEN, vendor=vendor, products=products)
    return vendor


def begin_campaign(course: Course, event: Event) -> str:
    """Marketing begins a campaign of one store: now or in some minutes, for hours or for some minutes."""
    chance, vendor = _at(course, event)
    code = f"soak-{course.seed}-{event.number}"
    gift = chance.random() < GIFT_SHARE
    goods = chance.sample(_goods(course, vendor), chance.randint(1, 12))
    after_s = chance.choice([-3600, -3600, 30, 240])
    until_s = chance.choice([36_000, 36_000, 480])
    erp = course.installation.erp
    erp("DELETE FROM erp.campaign WHERE code = %(code)s", code=code)  # of a first try that broke off
    erp(BEGIN, code=code, name=f"Offer {code}", vendor=vendor, after=after_s, until=until_s)
    for good in goods:
        amount = _share(good, 0.05 if gift else chance.uniform(0.4, 0.6))
        erp(REDUCE, code=code, product=good["product_id"], amount=Decimal(amount))
    if code not in course.campaigns:
        course.campaigns.append(code)
    return f"{code}, {vendor}, {len(goods)} products{', a gift' if gift else ''}, from {after_s} to {until_s} s"


def change_campaign(course: Course, event: Event) -> str:
    """A product leaves a campaign, becomes a little dearer or cheaper in it, or all of it ends at another time."""
    code, chance = _one(course, event)
    rows = course.installation.erp(HIS, code=code) if code else []
    if not rows:
        return ""
    row = chance.choice(rows)
    what = chance.choice(["amount = amount + 0.01", "amount = amount * 0.98", "leaves", "ends"])
    mine = f"campaign_id = {row['campaign_id']}"
    if what == "ends":
        course.installation.erp(f"UPDATE erp.campaign SET ends_at = ends_at + interval '1 hour' WHERE {mine}")
    elif what == "leaves":
        course.installation.erp(f"DELETE FROM erp.campaign_price WHERE {mine} AND product_id = {row['product_id']}")
    else:
        course.installation.erp(
            f"UPDATE erp.campaign_price SET {what} WHERE {mine} AND product_id = {row['product_id']}"
        )
    return f"{code}: {what}"


def end_campaign(course: Course, event: Event) -> str:
    """The buyer takes a campaign back."""
    code, _ = _one(course, event)
    if code is None:
        return ""
    course.campaigns.remove(code)
    course.installation.erp("DELETE FROM erp.campaign WHERE code = %(code)s", code=code)
    return code


def order(course: Course, event: Event) -> str:
    """A customer orders one of the two deliveries, or collects."""
    chance, vendor = _at(course, event)
    skus = [sku for sku, product in shelf.products(course.installation, vendor).items() if product["app"]["active"]]
    if not skus:
        return ""
    items = [{"sku": sku, "quantity": 1} for sku in chance.sample(skus, min(len(skus), chance.randint(1, 4)))]
    ways = [{"transport_type": "VENDOR_DELIVERY"}, {"order_type": "PICKUP"}, {}, {}]
    path = f"/chains/{CHAIN}/vendors/{vendor}/orders"
    return str(course.sandbox("POST", path, {"items": items, **chance.choice(ways)})["order_id"])


def cancel_order(course: Course, event: Event) -> str:
    """A customer, or logistics, cancels an order that is not delivered yet."""
    chance = event.chance(course.seed)
    waiting = [one for one, state in orders.states(course.installation).items() if state in {"RECEIVED", "ACCEPTED"}]
    if not waiting:
        return ""
    chosen = chance.choice(sorted(waiting))
    course.sandbox("POST", f"/orders/{chosen}/cancel", {"by": chance.choice(["CUSTOMER", "LOGISTICS"])})
    return chosen


def deliver_orders(course: Course) -> int:
    """Riders take along what is ready, and customers get it; how many orders have not ended yet."""
    waiting = 0
    for one, state in orders.states(course.installation).items():
        waiting += state not in {"PICKED_UP", "CANCELLED"}
        if state in {"READY_FOR_PICKUP", "DISPATCHED"}:
            for step in ("dispatch", "pick-up"):
                try:
                    course.sandbox("POST", f"/orders/{one}/{step}")
                except RefusedError:
                    continue  # a customer who collects needs no rider
    return waiting


def _at(course: Course, event: Event) -> tuple[Random, str]:
    chance = event.chance(course.seed)
    return chance, chance.choice(STORES)


def _one(course: Course, event: Event) -> tuple[str | None, Random]:
    chance = event.chance(course.seed)
    return (chance.choice(course.campaigns) if course.campaigns else None), chance


def _goods(course: Course, vendor: str) -> list[dict[str, Any]]:
    found = course.installation.erp(GOODS, vendor=vendor)
    if len(found) < 20:  # closed just now
        raise RefusedError(f"{vendor} sells {len(found)} products")
    return found


def _share(good: dict[str, Any], share: float) -> str:
    return str((good["list_price"] * Decimal(share)).quantize(Decimal("0.01")))
