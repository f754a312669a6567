"""Checks of the trail: prices in requests (I11), webhook events in the inbox (I8), values back to their snapshot (I16)."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from simulation.broken import Broken

if TYPE_CHECKING:
    from simulation.facts import Facts

PLACES = 3


class Trail:
    """Checks one world; each row is checked once."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._world = facts.world
        self._bodies = 0
        self._answered: set[int] = set()
        self._events = 0
        self._kept: dict[str, int] = {}
        self._led_back: set[int] = set()

    def check(self, jobs: list[Any]) -> None:
        self._money()
        self._events_are_kept()
        self._values_lead_back(jobs)

    def _money(self) -> None:
        """I11: every price that was sent is finite, not negative, of three places at most, and a price of the ERP, cut."""
        bodies = self._world.listed.bodies
        for vendor, body in bodies[self._bodies :]:
            for item in json.loads(body, parse_float=Decimal, parse_constant=Decimal)["products"]:
                price = item.get("price")
                if price is None:
                    continue
                price = Decimal(price)
                places = -int(price.as_tuple().exponent) if price.is_finite() else PLACES + 1
                key = (vendor, self._world.shape.sku_of(item.get("sku"), str(item.get("barcode", "")).zfill(14)))
                if not price.is_finite() or price < 0 or places > PLACES:
                    raise Broken("I11", f"{'/'.join(key)}: the price {price} left")
                if price not in self._world.erp.wanted.get(key, ()):
                    raise Broken("I11", f"{'/'.join(key)}: the price {price} was sent, and the ERP never had it")
        self._bodies = len(bodies)

    def _events_are_kept(self) -> None:
        """I8: every event that was answered 2xx is in the inbox exactly once, and a forged one was never answered 2xx."""
        for row in self._world.rows(
            "SELECT event_id, body FROM inbox.event WHERE event_id > :n ORDER BY event_id", n=self._events
        ):
            self._events = row.event_id
            meaning = _meaning(bytes(row.body))
            self._kept[meaning] = self._kept.get(meaning, 0) + 1
        for row in self._world.platform_rows(
            'SELECT d.id, d.body, d."authorization" FROM delivery AS d WHERE EXISTS (SELECT 1 FROM attempt AS a'
            " WHERE a.delivery_id = d.id AND a.status BETWEEN 200 AND 299)"
        ):
            if row.id in self._answered:
                continue
            self._answered.add(row.id)
            if row.authorization is not None:
                raise Broken("I8", f"delivery {row.id} had a wrong secret and was answered 2xx")
            kept = self._kept.get(_meaning(row.body.encode()), 0)
            if kept != 1:
                raise Broken("I8", f"delivery {row.id} was answered 2xx, and the inbox has it {kept} times")

    def _values_lead_back(self, jobs: list[Any]) -> None:
        """I16: every request leads to its run and extract, and each of its values to that snapshot or to the state before."""
        new = [job for job in jobs if job.job_id not in self._led_back]
        if not new:
            return
        runs = {
            (row.run_id, row.vendor): row
            for row in self._world.rows(
                "SELECT vr.run_id, vr.vendor, vr.snapshot_path, e.run_id AS read_by FROM ledger.vendor_run vr"
                " JOIN ledger.run USING (run_id) JOIN ledger.extract e USING (extract_id)"
            )
        }
        for job in new:
            run = runs.get((job.run_id, job.vendor))
            if run is None or run.snapshot_path is None:
                raise Broken("I16", f"job {job.job_id} leads to no run of {job.vendor} with a snapshot")
            snapshot = {row["sku"]: row for row in self._facts.file(job.snapshot_path)}
            for item in self._facts.file(job.items_path):
                if item["change"] == "removed":
                    continue
                row = snapshot.get(item["sku"])
                if row is None and item["change"] == "same" and _only_switches_off(item):
                    continue  # a full sync switches off again what left the extract earlier
                if row is None or (item["price"] is not None and item["price"] != row["price"]):
                    raise Broken("I16", f"job {job.job_id}: {item} does not come from the snapshot, which has {row}")
            self._led_back.add(job.job_id)


def _only_switches_off(item: dict[str, Any]) -> bool:
    return item["active"] is False and all(item[name] is None for name in ("price", "quantity", "max_sales_quantity"))


def _meaning(body: bytes) -> str:
    return json.dumps(json.loads(body), sort_keys=True)
