"""What the chain and its customers do: tills, buyers, stores, campaigns, orders. By SQL on the ERP and the sandbox's control plane."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from installation import orders, shelf
from installation.installed import CHAIN
from shelfsync.erp.sample import tick  # the sample ERP: not the product, but a stand-in for what a chain has
from soak.soak_run import NotPossibleError

if TYPE_CHECKING:
    from random import Random

    from soak.plan import Event
    from soak.soak_run import SoakRun

STORES = tuple(f"store-{number:03}" for number in range(1, 7))
CLOSED_SHARE = 0.9
GIFT_SHARE = 0.2
"""So many campaigns have extreme discounts, and a guard holds them."""
SECOND_CHAIN_SKUS = 15

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
PAIRS = (
    "SELECT campaign_id, product_id FROM erp.campaign JOIN erp.campaign_price USING (campaign_id) WHERE code = %(code)s"
)


def till(soak_run: SoakRun, event: Event) -> str:
    """A quarter of an hour at all tills."""
    url = soak_run.installation.erp_url.replace("postgresql://", "postgresql+psycopg://", 1)
    engine = sa.create_engine(url, poolclass=sa.NullPool)
    happened = tick(engine, seed=soak_run.seed * 1000 + event.number)
    return f"{happened.sold} listings sold, {happened.repriced} products and {happened.repriced_in_store} listings repriced"


def price(soak_run: SoakRun, event: Event) -> str:
    """A buyer changes some prices of one store by little."""
    chance, vendor = _at(soak_run, event)
    for good in chance.sample(_goods(soak_run, vendor), chance.randint(1, 15)):
        amount = _share(good, chance.uniform(0.8, 1.25))
        soak_run.installation.erp(PRICE, vendor=vendor, product=good["product_id"], amount=Decimal(amount))
    return vendor


def limit(soak_run: SoakRun, event: Event) -> str:
    """A buyer changes how many pieces a customer may order."""
    chance, vendor = _at(soak_run, event)
    good = chance.choice(_goods(soak_run, vendor))
    shelf.set_limit(soak_run.installation, vendor, good["sku"], chance.randint(2, 9))
    return f"{vendor} {good['sku']}"


def close(soak_run: SoakRun, event: Event) -> str:
    """A store takes nearly all of its range off sale."""
    chance, vendor = _at(soak_run, event)
    sells = [row["product_id"] for row in soak_run.installation.erp(SELLS, vendor=vendor)]
    products = chance.sample(sells, int(len(sells) * CLOSED_SHARE))
    soak_run.closed[event.number] = vendor, products
    soak_run.installation.erp(CLOSE, vendor=vendor, products=products)
    return f"{vendor}, {len(products)} products"


def open_again(soak_run: SoakRun, event: Event) -> str:
    """The store sells again what it sold before."""
    if event.number not in soak_run.closed:
        return ""
    vendor, products = soak_run.closed[event.number]
    soak_run.installation.erp(OPEN, vendor=vendor, products=products)
    return vendor


def begin_campaign(soak_run: SoakRun, event: Event) -> str:
    """Marketing begins a campaign of one store: now or in some minutes, for hours or for some minutes."""
    chance, vendor = _at(soak_run, event)
    code = f"soak-{soak_run.seed}-{event.number}"
    gift = chance.random() < GIFT_SHARE
    goods = chance.sample(_goods(soak_run, vendor), chance.randint(1, 12))
    after_s = chance.choice([-3600, -3600, 30, 240])
    until_s = chance.choice([36_000, 36_000, 480])
    erp = soak_run.installation.erp
    erp("DELETE FROM erp.campaign WHERE code = %(code)s", code=code)  # of a first try that broke off
    erp(BEGIN, code=code, name=f"Offer {code}", vendor=vendor, after=after_s, until=until_s)
    for good in goods:
        amount = _share(good, 0.05 if gift else chance.uniform(0.4, 0.6))
        erp(REDUCE, code=code, product=good["product_id"], amount=Decimal(amount))
    if code not in soak_run.campaigns:
        soak_run.campaigns.append(code)
    return f"{code}, {vendor}, {len(goods)} products{', a gift' if gift else ''}, from {after_s} to {until_s} s"


def change_campaign(soak_run: SoakRun, event: Event) -> str:
    """A product leaves a campaign, becomes a little dearer or cheaper in it, or all of it ends at another time."""
    code, chance = _any_campaign(soak_run, event)
    rows = soak_run.installation.erp(PAIRS, code=code) if code else []
    if not rows:
        return ""
    row = chance.choice(rows)
    what = chance.choice(["amount = amount + 0.01", "amount = amount * 0.98", "leaves", "ends"])
    of_campaign = f"campaign_id = {row['campaign_id']}"
    if what == "ends":
        soak_run.installation.erp(f"UPDATE erp.campaign SET ends_at = ends_at + interval '1 hour' WHERE {of_campaign}")
    elif what == "leaves":
        soak_run.installation.erp(
            f"DELETE FROM erp.campaign_price WHERE {of_campaign} AND product_id = {row['product_id']}"
        )
    else:
        soak_run.installation.erp(
            f"UPDATE erp.campaign_price SET {what} WHERE {of_campaign} AND product_id = {row['product_id']}"
        )
    return f"{code}: {what}"


def end_campaign(soak_run: SoakRun, event: Event) -> str:
    """The buyer takes a campaign back."""
    code, _ = _any_campaign(soak_run, event)
    if code is None:
        return ""
    soak_run.campaigns.remove(code)
    soak_run.installation.erp("DELETE FROM erp.campaign WHERE code = %(code)s", code=code)
    return code


def second_chain(soak_run: SoakRun, event: Event) -> str:
    """A buyer of the other chain, whose store has the same id and SKUs, changes some prices by little: of so few SKUs that no guard holds them."""
    chance, prices = event.chance(soak_run.seed), soak_run.second_chain.prices
    chosen = chance.sample(sorted(prices)[:SECOND_CHAIN_SKUS], chance.randint(1, 8))
    for sku in chosen:
        prices[sku] = Decimal(chance.uniform(100, 120)).quantize(Decimal("0.01"))
    soak_run.second_chain.write()
    return f"{len(chosen)} prices"


def order(soak_run: SoakRun, event: Event) -> str:
    """A customer places an order: one of the two deliveries, or pickup."""
    chance, vendor = _at(soak_run, event)
    skus = [sku for sku, product in shelf.products(soak_run.installation, vendor).items() if product["app"]["active"]]
    if not skus:
        return ""
    items = [{"sku": sku, "quantity": 1} for sku in chance.sample(skus, min(len(skus), chance.randint(1, 4)))]
    ways = [{"transport_type": "VENDOR_DELIVERY"}, {"order_type": "PICKUP"}, {}, {}]
    path = f"/chains/{CHAIN}/vendors/{vendor}/orders"
    return str(soak_run.sandbox("POST", path, {"items": items, **chance.choice(ways)})["order_id"])


def cancel_order(soak_run: SoakRun, event: Event) -> str:
    """A customer, or logistics, cancels an order that is not delivered yet."""
    chance = event.chance(soak_run.seed)
    waiting = [one for one, state in orders.states(soak_run.installation).items() if state in {"RECEIVED", "ACCEPTED"}]
    if not waiting:
        return ""
    chosen = chance.choice(sorted(waiting))
    soak_run.sandbox("POST", f"/orders/{chosen}/cancel", {"by": chance.choice(["CUSTOMER", "LOGISTICS"])})
    return chosen


def deliver_orders(soak_run: SoakRun) -> int:
    """Riders take along what is ready, and customers get it; how many orders have not ended yet."""
    waiting = 0
    for one, state in orders.states(soak_run.installation).items():
        waiting += state not in {"PICKED_UP", "CANCELLED"}
        if state in {"READY_FOR_PICKUP", "DISPATCHED"}:
            for step in ("dispatch", "pick-up"):
                try:
                    soak_run.sandbox("POST", f"/orders/{one}/{step}")
                except NotPossibleError:
                    continue  # a customer who collects needs no rider
    return waiting


def _at(soak_run: SoakRun, event: Event) -> tuple[Random, str]:
    chance = event.chance(soak_run.seed)
    return chance, chance.choice(STORES)


def _any_campaign(soak_run: SoakRun, event: Event) -> tuple[str | None, Random]:
    chance = event.chance(soak_run.seed)
    return (chance.choice(soak_run.campaigns) if soak_run.campaigns else None), chance


def _goods(soak_run: SoakRun, vendor: str) -> list[dict[str, Any]]:
    found = soak_run.installation.erp(GOODS, vendor=vendor)
    if len(found) < 20:  # closed just now
        raise NotPossibleError(f"{vendor} sells {len(found)} products")
    return found


def _share(good: dict[str, Any], share: float) -> str:
    return str((good["list_price"] * Decimal(share)).quantize(Decimal("0.01")))
