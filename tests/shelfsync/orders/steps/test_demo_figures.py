"""The demo's summary from a real day without Airflow: two syncs, a promotion, an order that is picked, an export."""

from __future__ import annotations

import datetime as dt

import httpx
import pytest
import sqlalchemy as sa
from pydantic import SecretStr

from orders_world import PICKING_KEY
from shelfsync.erp import sample
from shelfsync.local import demo, figures, sample_chain
from shelfsync.local.comparison import compare, sentence
from shelfsync.local.mail_catcher import Mail
from shelfsync.local.sandbox_control import SandboxControl
from shelfsync.local.store_hub import StoreHub
from shelfsync.settings_file import PROJECT

pytestmark = pytest.mark.slow

STORE = "store-001"
TABLE = "shelfsync_order_outbox"


@pytest.fixture
def erp_engine(postgres):
    url = postgres.create_database("shelfsync_demo").replace("postgresql://", "postgresql+psycopg://", 1)
    engine = sa.create_engine(url)
    sample.create(engine, vendors=2, skus_per_vendor=300)
    yield engine
    engine.dispose()
    postgres.drop_database("shelfsync_demo")


@pytest.fixture
def world(make_world, erp_engine):
    made = make_world(
        orders={"hand_over": "outbox", "hand_over_url": None},
        erp={"url": erp_engine.url.render_as_string(hide_password=False), "sql_file": sample.SELECT_FILE},
        promotions={"sql_file": sample.PROMOTIONS_FILE, "poll_first_s": 0.05, "poll_max_s": 0.2},
        sync={"poll_first_s": 0.05, "poll_max_s": 0.2},
    )
    for vendor, products in sample.assortment(erp_engine).items():
        made.platform.put_products(vendor, products)
    return made


def synced(world, kind: str) -> str:
    key = f"demo/{kind}"
    run_id = world.app.open_run(kind, key)
    world.app.sync(run_id, dry_run=False, progress=lambda *_: None)
    return key


def test_every_figure_comes_from_what_really_happened_and_the_summary_shows_it(world, erp_engine):
    now = dt.datetime.now(dt.UTC)
    sandbox = SandboxControl(world.platform.base_url)
    hub = StoreHub(erp_engine, TABLE, world.receiver_url, SecretStr(PICKING_KEY), picking_delay_s=0)
    placed = sandbox.place_order(STORE, [{"sku": sku} for sku in sample.plentiful(erp_engine, STORE, 2)])
    httpx.get(f"{world.platform.base_url}/", trust_env=False)
    before = sandbox.journal_end()
    httpx.get(f"{world.platform.base_url}/", trust_env=False)
    full = synced(world, "full")
    between = sandbox.journal_end()
    sample.tick(erp_engine, seed=1)
    sample.flash(erp_engine, now, name="Demo")
    delta = synced(world, "delta")
    path = world.app.promotions
    path.sync(path.open_run("demo/promotions"))
    world.app.export("demo/export", (), progress=lambda *_: None)
    for _ in range(3):
        world.receive_events()
        world.tick()
        hub.look()
    rows = sample_chain.rows(erp_engine)
    with world.app.context.engine.connect() as connection:
        day = demo.Figures(
            full=(figures.run(connection, full), sandbox.requests_after(before, upto=between)),
            delta=(figures.run(connection, delta), sandbox.requests_after(between)),
            promotions={
                **figures.promotions(connection, "demo/promotions"),
                "portal": [one for one in sandbox.promotions() if one["name"] == "Demo"],
            },
            order={
                **figures.order(connection, placed["order_id"]),
                "platform": sandbox.order(placed["order_id"]),
            },
            export=figures.export(connection, "demo/export"),
            requests=sandbox.requests_after(before),
            tables=figures.tables(connection),
            comparison=compare(rows, {vendor: sandbox.held(vendor) for vendor in rows}),
            mails=tuple(Mail("a@example.com", f"{subject} for a decision", "text") for subject in demo.REPORTED),
        )
    hub.close()
    sandbox.close()
    demo.check(day)
    text = "\n".join(figures.lines(day))
    assert "catalog full sync: succeeded" in text
    assert "the portal shows 'Demo': Running, 5 SKUs at 2 vendors" in text
    assert f"order {day.order['order_code']} at {STORE}: READY_FOR_PICKUP" in text
    assert "fulfilled on the platform after" in text
    assert day.export["rows"] == day.comparison.equal, "every product that the platform has was shown and compared"
    assert "/" not in day.requests, "a look at the sandbox's health is no request of ours"
    assert day.full[1]["put_catalog"] + day.delta[1]["put_catalog"] == day.requests["put_catalog"]
    with world.app.context.engine.connect() as connection:
        assert figures.order(connection, "00000000-0000-0000-0000-000000000000")["status"] is None


def test_the_readme_shows_the_summary_of_the_whole_sample(make_world, postgres):
    url = postgres.create_database("shelfsync_readme").replace("postgresql://", "postgresql+psycopg://", 1)
    engine = sa.create_engine(url)
    sample.create(engine, vendors=sample_chain.VENDORS, skus_per_vendor=sample_chain.SKUS_PER_VENDOR)
    world = make_world(
        erp={"url": engine.url.render_as_string(hide_password=False), "sql_file": sample.SELECT_FILE},
        sync={"poll_first_s": 0.05, "poll_max_s": 0.2},
    )
    for vendor, products in sample.assortment(engine).items():
        world.platform.put_products(vendor, products)
    sandbox = SandboxControl(world.platform.base_url)
    synced(world, "full")
    between = sandbox.journal_end()
    sample.tick(engine, seed=1)
    mistake = sample.mistype(engine, STORE, sample.plentiful(engine, STORE, 4)[-1])
    delta = synced(world, "delta")
    with world.app.context.engine.connect() as connection:
        found = figures.run(connection, delta)
    requests = {name: sandbox.requests_after(between)[name] for name in ("log", "put_catalog")}
    sample.correct(engine, mistake)
    synced(world, "delta")
    rows = sample_chain.rows(engine)
    result = compare(rows, {vendor: sandbox.held(vendor) for vendor in rows})
    shown = (PROJECT / "README.md").read_text(encoding="utf-8")
    synced_lines = "\n".join(figures.sync_lines({**found, "seconds": 33}, requests)).strip()
    assert synced_lines.replace("33 s", "… s") in shown
    assert sentence(result) in shown
    assert demo.REPORTED[0] in shown
    sandbox.close()
    engine.dispose()
    postgres.drop_database("shelfsync_readme")
