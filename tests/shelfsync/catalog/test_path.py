"""The pure steps one after the other, with a dictionary as the platform."""

from __future__ import annotations

import csv
import io
import json
from decimal import Decimal

from catalog_rows import fields_by_sku, normalised, shelf
from shelfsync.catalog.baseline import with_accepted
from shelfsync.catalog.bodies import cut
from shelfsync.catalog.delta import compute_delta
from shelfsync.catalog.guards.apply_guards import apply_guards
from shelfsync.catalog.guards.case import Case
from shelfsync.catalog.log_reader import parse_log
from shelfsync.catalog.outcome import match
from shelfsync.settings import GuardSettings

WIRE = {"key": "sku", "sales_limit_name": "max_sales_quantity"}


class Platform:
    """The platform's products, and the log of a job. The platform rejects SKUs that it does not know."""

    def __init__(self, *known):
        self.products = {sku: {} for sku in known}

    def job(self, body):
        text = io.StringIO()
        log = csv.writer(text)
        log.writerow(["sku", "state", "errors"])
        for item in json.loads(body, parse_float=Decimal, parse_int=int)["products"]:
            sku = item.pop("sku")
            if sku in self.products:
                self.products[sku] |= item
            log.writerow([sku, *(("success", "null") if sku in self.products else ("failed", "unknown SKU"))])
        return io.BytesIO(text.getvalue().encode())


def run(platform, baseline, *rows, full=False, rejected=None):
    """One run over the path; the new baseline, what was sent, and its outcomes."""
    extract = normalised(*rows)
    delta = compute_delta(extract.snapshot, baseline, full=full, rejected=rejected, quarantined=extract.quarantine)
    case = Case(
        "store-001", delta, extract.snapshot, baseline, len(rows), GuardSettings(mass_removal={"max_share": 0.5})
    )
    released = apply_guards(case).released
    sent, states = {}, {}
    for batch in cut(released, body_max_bytes=150, **WIRE):
        outcomes = match(batch.items, parse_log(platform.job(bytes(batch.body))))
        baseline = with_accepted(baseline, batch.items, outcomes)
        sent |= fields_by_sku(batch.items)
        states |= dict(zip(outcomes["sku"].to_pylist(), outcomes["state"].to_pylist(), strict=True))
    return baseline, sent, states


def test_a_day_of_changes_ends_with_the_platform_equal_to_the_erp():
    platform = Platform("A", "B", "C")
    morning = [
        {"sku": "A", "price": "1.99999", "quantity": "3.5", "active": "true"},
        {"sku": "B", "price": "2", "quantity": "1", "active": "true"},
        {"sku": "C", "price": "3", "quantity": "0", "active": "false"},
        {"sku": "X", "price": "4", "active": "true"},
    ]
    baseline, sent, states = run(platform, shelf(), *morning, full=True)
    assert states == {"A": "accepted", "B": "accepted", "C": "accepted", "X": "rejected"}
    assert platform.products["A"] == {"price": Decimal("1.999"), "quantity": 3, "active": True}

    noon = [
        {**morning[0], "price": "1.9991"},
        {**morning[1], "price": "1,80"},
        {**morning[2], "quantity": "6"},
        morning[3],
    ]
    rejected = shelf({"sku": "X", "price": "4", "active": True})
    baseline, sent, _ = run(platform, baseline, *noon, rejected=rejected)
    assert sent == {
        "C": {"quantity": 6, "active": False}
    }  # A differs after the third decimal, B is in quarantine, X was rejected
    assert platform.products["B"]["active"] is True

    evening = [morning[1], {**morning[2], "active": "true"}]
    baseline, sent, _ = run(platform, baseline, *evening, rejected=rejected)
    assert sent == {"A": {"active": False}, "C": {"active": True, "quantity": 0}}
    assert platform.products == fields_by_sku(baseline)
    assert run(platform, baseline, *evening)[1] == {}
