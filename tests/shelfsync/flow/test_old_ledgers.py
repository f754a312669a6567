"""New code is deployed in the middle of a run: what an earlier version left in the ledger is upgraded, finished and compared."""

from __future__ import annotations

import json
import shutil

import pytest
import sqlalchemy as sa
from pydantic import SecretStr

from recording.replay import restore
from recording.story import GHOST, IN_FLIGHT, LEDGERS, PLANNED, SETTLED, SKUS, change, furnish
from shelfsync.ledger.engine import create_engine
from shelfsync.migrations import upgrade
from shelfsync.wiring import open_house

REVISIONS = sorted(folder.name for folder in LEDGERS.iterdir())
ROUNDS_MAX = 6


@pytest.fixture(params=REVISIONS)
def left(request, world, empty_database_url, tmp_path):
    """The world of the moment at which an earlier version was stopped, with the house of today over its ledger."""
    furnish(world.platform, world.erp)
    shown = [
        {"sku": sku, "title": sku, "price": float(number), "active": True}
        for number, sku in enumerate(SKUS, 1)
        if sku != GHOST
    ]
    for vendor in (SETTLED, IN_FLIGHT, PLANNED):
        world.platform.put_products(vendor, shown)
    change(world.erp)
    engine = create_engine(empty_database_url)
    restore(engine, request.param)
    upgrade(engine)
    engine.dispose()
    shutil.copytree(LEDGERS / request.param / "lake", tmp_path / "lake", dirs_exist_ok=True)
    settings = world.settings.model_copy(update={"database_url": SecretStr(empty_database_url)})
    with open_house(settings) as world.house:
        yield world


def _say(world, statement: str, **values: object) -> None:
    with world.house.parts.engine.begin() as connection:
        connection.execute(sa.text(statement), values)


def _settled(world, *, overdue: bool = False) -> None:
    for _ in range(ROUNDS_MAX):
        if overdue:
            _say(world, "UPDATE ledger.job SET deadline_at = now() - interval '1 minute' WHERE state = 'open'")
        world.house.settle()
        open_jobs = "SELECT count(*) FROM ledger.job WHERE state IN ('submitting', 'open', 'confirmed')"
        planned = "SELECT count(*) FROM ledger.batch WHERE state = 'planned'"
        if world.rows(f"{open_jobs} UNION ALL {planned}") == [(0,), (0,)]:
            return
        world.platform.until_settled()
    pytest.fail(
        f"something is still open: {world.rows('SELECT vendor, state, error, deadline_at, settled_at FROM ledger.job')}"
    )


def _as_in_the_erp(world) -> None:
    for vendor in (SETTLED, IN_FLIGHT, PLANNED):
        shown = {sku: (row["price"], row["active"]) for sku, row in world.shown(vendor).items()}
        new = vendor != SETTLED
        assert shown == {"apple": (1.1 if new else 1.0, True), "bread": (2.0, not new), "cheese": (3.0, True)}, vendor


def test_a_job_that_an_earlier_version_sent_is_confirmed_and_what_it_planned_is_sent(left):
    body = {"products": [{"sku": "apple", "price": 1.1}, {"sku": "bread", "quantity": 0, "active": False}]}
    receipt = left.house.parts.open_platform().update_catalog(IN_FLIGHT, json.dumps(body).encode(), lane="catalog")
    left.platform.until_settled()
    _say(left, "UPDATE ledger.job SET platform_job_id = :job WHERE state = 'open'", job=receipt.job_id)
    before = len(left.sent())
    _settled(left)
    assert len(left.sent()) == before + 1, "the one that was planned and had not left"
    _as_in_the_erp(left)
    assert {row.state for row in left.rows("SELECT state FROM ledger.job")} == {"acknowledged"}
    assert left.sync("delta")["sent"] in {0, 3}, (
        "an earlier version had not written down why a SKU was refused: asked once more"
    )
    assert left.sync("delta")["sent"] == 0


def test_a_job_of_an_earlier_version_that_nobody_remembers_ends_at_its_deadline_and_is_said_again(left):
    left.sync("full", SETTLED)  # from here on it is known that the platform tells what became of jobs
    _settled(left, overdue=True)
    assert left.sync("delta")["state"] == "succeeded"
    _as_in_the_erp(left)
    assert left.sync("delta")["sent"] == 0


def test_what_an_earlier_version_refused_and_put_aside_is_known(left):
    assert {row.sku for row in left.rows("SELECT sku FROM ledger.rejection")} == {GHOST}
    told = left.house.rejections(None, ())
    assert {(row["vendor"], row["sku"]) for row in told["rejections"]} == {
        (vendor, GHOST) for vendor in (SETTLED, IN_FLIGHT, PLANNED)
    }
    assert left.sync("full", SETTLED)["refused"] == 1, "asked once more, as every full sync does"
    left.house.explain(SETTLED, "apple")
    left.house.status()
