"""What the platform's catalog has of a SKU that a picking result adds."""

from __future__ import annotations

from order_picker import ASSORTMENT, STORE
from orders_world import added, picked


def test_a_short_sku_is_found_behind_all_the_names_that_hold_it(world):
    many = [{"sku": f"A{number:04}", "title": f"7 kinds of tea {number}", "price": 1} for number in range(600)]
    world.platform.put_products(STORE, [*ASSORTMENT, *many, {"sku": "7", "title": "Seven", "price": 1}])
    order = world.place("MILK")
    world.receive_events()
    world.report(order, "fulfil", picked("MILK"), added("7", quantity=1))
    world.until(order, "done")
