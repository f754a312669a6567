"""`shelfsync forget`: a closed store leaves no product on sale by accident."""

from __future__ import annotations

import json

import pytest

from app_calls import open_calls
from shelfsync.exit_codes import ExitCode
from shelfsync.orders.warehouse.record import customer_order
from shelfsync.settings import Settings

pytestmark = pytest.mark.slow

SKUS = [f"s{number}" for number in range(8)]
IDS = json.dumps({"store-001": "store-001", "Lille": "store-002"})
WHY = ("--reason", "closed in March", "--user", "ada")


@pytest.fixture
def closed(tmp_path, sandbox, here, monkeypatch):
    """Two stores, of which the ERP has the first alone any more; of the second, one product is on the platform alone."""
    monkeypatch.setenv("SHELFSYNC_ERP__VENDOR_IDS", IDS)
    for vendor in ("store-001", "store-002"):
        sandbox.put_products(
            vendor,
            [{"sku": sku, "barcodes": [], "title": sku, "price": 2, "active": True} for sku in [*SKUS, "portal"]],
        )

    def write(*stores):
        rows = "".join(f"{store},{sku},1,5,1\n" for store in stores for sku in SKUS)
        (tmp_path / "stock.csv").write_text(f"vendor,sku,price,quantity,active\n{rows}", encoding="utf-8")

    write("store-001", "Lille")
    assert here("sync", "--full")[0] == 0
    write("store-001")
    return write


def test_the_products_go_off_sale_first_and_the_store_is_forgotten_after_the_last_of_them(closed, sandbox, here):
    """The message's own command; a pause; a product without a result; a second try; and the store opens again."""
    code, output, _ = here("sync")
    assert code == ExitCode.PARTLY
    assert "(the ERP's store Lille)" in output
    assert "`shelfsync forget store-002 --take-off-sale --reason TEXT`" in output
    code, _, error = here("forget", "Lille", "--take-off-sale", *WHY)
    assert (code, "'Lille' is the ERP's id of the store that the platform calls 'store-002'" in error) == (3, True)
    code, _, error = here("forget", "store-002", *WHY)
    assert (code, "8 of 8 products are on sale" in error) == (ExitCode.DATA, True)
    assert here("forget", "store-002", "--take-off-sale", "--leave-on-sale", *WHY)[0] == ExitCode.USAGE
    assert here("pause", "store-002", *WHY)[0] == 0
    assert here("forget", "store-002", "--take-off-sale", *WHY)[0] == ExitCode.PAUSED
    assert here("resume", "store-002", *WHY)[0] == 0
    assert all(product["active"] for product in sandbox.products("store-002").values())

    assert here("export")[0] == 0
    sandbox.faults({"at": "log", "kind": "missing_sku", "times": 1})
    code, output, error = here("forget", "store-002", "--take-off-sale", *WHY)
    assert (code, "is forgotten" in output) == (ExitCode.PARTLY, False)
    assert "1 of 9 products are on sale at vendor store-002, so it is not forgotten; 8 were taken off sale" in error
    code, output, _ = here("forget", "store-002", "--take-off-sale", *WHY)
    assert code == 0
    assert "store-002 is forgotten" in output
    assert "pending" not in output, "rows of the last reading do not wait any more"
    assert "none of its products is on sale" in output
    assert not any(product["active"] for product in sandbox.products("store-002").values())
    assert here("sync")[0] == 0

    closed("store-001", "Lille")
    assert here("sync")[0] == 0
    assert {sku for sku, product in sandbox.products("store-002").items() if product["active"]} == set(SKUS)


def test_a_store_that_was_forgotten_with_products_on_sale_is_taken_off_sale_later(closed, sandbox, here):
    code, output, _ = here("forget", "store-002", "--leave-on-sale", *WHY)
    assert (code, "8 of 8 products are on sale; what is on sale stays so" in output) == (0, True)
    output = " ".join(here("explain", "store-002", "s1")[1].split())
    assert "The store is forgotten, so shelfsync sends nothing for it: closed in March (ada)." in output
    code, output, _ = here("forget", "store-002", "--take-off-sale", "--json", *WHY)
    assert (code, json.loads(output)["data"]["on_sale"]) == (0, 0)
    products = sandbox.products("store-002")
    assert [sku for sku, product in products.items() if product["active"]] == ["portal"], "no export has shown it"


def test_a_store_whose_open_job_may_put_products_on_sale_is_not_forgotten_as_if_none_were(closed, sandbox, here):
    assert here("forget", "store-002", "--take-off-sale", *WHY)[0] == 0
    closed("store-001", "Lille")
    with open_calls(Settings()) as app:
        run = app.open_run("delta", "test/1", ())
        vendors = [vendor for shard in app.extract(run) for vendor in shard["vendors"]]
        for step in ("normalise", "diff", "guard", "batch", "deliver"):
            app.step(step, run, vendors)
    closed("store-001")
    code, _, error = here("forget", "store-002", *WHY)
    assert code == ExitCode.DATA
    assert "0 of 8 products are on sale (1 open jobs may put more on sale) at vendor store-002" in error
    code, output, _ = here("forget", "store-002", "--take-off-sale", *WHY)
    assert (code, "none of its products is on sale" in output) == (0, True)
    assert {sku for sku, product in sandbox.products("store-002").items() if product["active"]} <= {"portal"}


def test_campaigns_and_open_orders_of_a_forgotten_store_are_named_and_the_next_run_ends_the_campaigns(
    closed, sandbox, here, tmp_path, monkeypatch
):
    sandbox.control("PUT", "settings", {"promotion_propagation_s": 0.0, "propagation_s": 0.0})
    rows = "".join(f"c1,{vendor},s1,0.9,Offer,2020-01-01T00:00:00Z,2099-01-01T00:00:00Z\n" for vendor in ("", "Lille"))
    (tmp_path / "promotions.csv").write_text(f"campaign,vendor,sku,price,name,start_time,end_time\n{rows}", "utf-8")
    monkeypatch.setenv("SHELFSYNC_PROMOTIONS__FILES", str(tmp_path / "promotions.csv"))
    assert here("promotions", "sync")[0] == 0
    assert sandbox.products("store-002")["s1"]["app"]["promotion"]["price"] == 0.9
    with open_calls(Settings()) as app, app.context.engine.begin() as connection:
        order = {"order_id": "o1", "vendor": "store-002", "status": "RECEIVED"}
        connection.execute(customer_order.insert().values(**order))
    code, output, _ = here("forget", "store-002", "--leave-on-sale", *WHY)
    assert code == 0
    assert "1 promotions are in force or to come at it; the next `shelfsync promotions sync` ends them there" in output
    assert "1 orders of it are still to be picked" in output
    code, output, _ = here("promotions", "sync")
    assert code == 0
    assert "1 rows are of stores that are forgotten (store-002)" in output
    assert sandbox.products("store-002")["s1"]["app"]["promotion"] is None
    assert sandbox.products("store-001")["s1"]["app"]["promotion"]["price"] == 0.9
    code, output, _ = here("forget", "store-002", "--leave-on-sale", *WHY)
    assert (code, "promotions are in force" in output) == (0, False)
