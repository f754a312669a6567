"""The dialects: each a named set of choices, each able to carry a partner through a whole update (field notes)."""

from __future__ import annotations

import csv
import io
import time
from pathlib import Path

import httpx
import pytest

from partner_sandbox.settings import Behaviour, behaviour_of
from sandbox_fixture import LiveSandbox, WebhookReceiver

CATALOG = "/v2/chains/demo-chain/vendors/store-001/catalog"
LIMIT_NAME = {"spec": "max_sales_quantity", "live": "maximum_sales_quantity", "legacy": "max_sales_quantity"}


def test_spec_is_the_defaults_of_the_choices():
    assert behaviour_of("spec") == Behaviour()


def test_a_choice_goes_over_the_dialect():
    assert behaviour_of("live").link == "presigned"
    assert behaviour_of("live", link="bearer").link == "bearer"


@pytest.mark.parametrize("dialect", ["spec", "live", "legacy"])
def test_a_partner_gets_through_a_whole_update(dialect):
    products = [{"sku": f"S{n}", "price": 1, "sales_buffer": 5} for n in range(3)]
    limit = LIMIT_NAME[dialect]
    items = [{"sku": f"S{n}", "price": 2.5, limit: 4, "quantity": 6} for n in range(4)]
    with LiveSandbox(dialect=dialect) as live, WebhookReceiver() as receiver, live.partner() as partner:
        live.put_webhook(catalog_url=receiver.url)
        live.put_products("store-001", products)
        job_id = partner.put(CATALOG, json={"products": items}).json()["job_id"]
        (event,) = receiver.wait_for(1)
        assert event.body["job_id"] == job_id
        assert (event.body.get("status") or event.body.get("job_status")) == "COMPLETED"
        link = event.body.get("download_url") or event.body.get("downloadURL")
        headers = dict(partner.headers) if link.startswith(live.base_url) else {}
        log = list(csv.DictReader(io.StringIO(httpx.get(link, headers=headers).text)))
        assert [(row["sku"], row["state"]) for row in log] == [
            ("S0", "success"),
            ("S1", "success"),
            ("S2", "success"),
            ("S3", "failed"),
        ]
        assert {row["errors"] for row in log[:3]} == {live.control("GET", "settings")["log_no_errors"]}
        held = live.products("store-001")["S0"]
        assert (held["price"], held["max_sales_quantity"], held["active"]) == (2.5, 4, True)


@pytest.mark.slow
@pytest.mark.parametrize(("dialect", "active"), [("spec", True), ("live", True), ("legacy", False)])
def test_the_sources_disagree_at_the_buffer_itself(dialect, active):
    with LiveSandbox(dialect=dialect) as live, live.partner() as partner:
        live.put_products("store-001", [{"sku": "A", "sales_buffer": 5, "active": not active}, {"sku": "B"}])
        partner.put(CATALOG, json={"products": [{"sku": "A", "quantity": 5}, {"sku": "B", "quantity": 5}]})
        live.until_quiescent()
        assert live.products("store-001")["A"]["active"] is active


def test_a_change_of_dialect_under_way_is_one_of_settings():
    with LiveSandbox() as live, live.partner() as partner:
        live.control("PUT", "settings", {"job_id_type": "integer"})
        assert isinstance(partner.put(CATALOG, json={"products": [{"sku": "A"}]}).json()["job_id"], int)


def test_on_a_real_clock_a_job_takes_its_seconds():
    with LiveSandbox(job_seconds=0.4) as live, live.partner() as partner:
        begin = time.monotonic()
        partner.put(CATALOG, json={"products": [{"sku": "A"}]})
        live.until_quiescent()
        assert time.monotonic() - begin > 0.35


def test_the_readme_has_every_choice_in_which_the_dialects_differ():
    sets = {name: behaviour_of(name).model_dump() for name in ("spec", "live", "legacy")}
    differing = [
        name for name in sets["spec"] if name != "dialect" and len({str(one[name]) for one in sets.values()}) > 1
    ]
    rows = [f"| `{name}` | {' | '.join(shown(one[name]) for one in sets.values())} |" for name in differing]
    readme = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    assert [row for row in rows if row not in readme] == []


def shown(value: object) -> str:
    if value == "":
        return "(empty)"
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"
