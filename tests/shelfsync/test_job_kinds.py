"""What holds for every job of the platform alike, whether it is about the catalog, an export or promotions."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
import sqlalchemy as sa

from shelfsync.catalog.ledger import exports as export_jobs
from shelfsync.catalog.ledger import jobs as catalog_jobs
from shelfsync.inbox.event_body import read
from shelfsync.inbox.events import event
from shelfsync.platform.jobs.poll import poll
from shelfsync.promotions.ledger import jobs as promotion_jobs

if TYPE_CHECKING:
    from collections.abc import Callable

A = {"sku": "a", "barcodes": [], "title": "A", "price": 9.99, "active": True}
KINDS = ("catalog", "export", "promotion")


@dataclass
class JobCase:
    """One job of a kind, and the calls that read it from the ledger, poll it and end it."""

    world: Any
    table: str
    rows: Callable[[Any], list[Any]]
    poll: Callable[[Any], Any]
    end: Callable[[], Any]
    recover: Callable[[], Any]

    def job(self) -> Any:
        with self.world.app.context.engine.connect() as connection:
            return self.rows(connection)[-1]

    def state(self) -> dict[str, Any]:
        """The row without what depends on the present instant."""
        row = dataclasses.asdict(self.job())
        return {name: value for name, value in row.items() if name not in {"poll_due", "overdue", "wait_s", "left_s"}}

    def write(self, values: str) -> None:
        with self.world.app.context.engine.begin() as connection:
            connection.exec_driver_sql(f"UPDATE ledger.job SET {values} WHERE state = 'open'")

    def receive(self, **body: Any) -> None:
        """An event as the receiver stores it."""
        got = read(json.dumps(body).encode())
        values = {"kind": got.kind, "identity": got.identity, "platform_job_id": got.platform_job_id}
        with self.world.app.context.engine.begin() as connection:
            connection.execute(sa.insert(event).values(**values, vendor=got.vendor, body=got.body))

    def unprocessed(self) -> int:
        return self.world.rows("SELECT count(*) FROM inbox.event WHERE processed_at IS NULL")[0][0]


@pytest.fixture(params=KINDS)
def sent(request, make_world, make_shop) -> JobCase:
    """A job whose request the platform has accepted."""
    return globals()[f"_{request.param}"](request.param, make_world, make_shop)


def _catalog(_kind, make_world, _make_shop) -> JobCase:
    world = _stocked(make_world)
    run_id, vendors = world.begin("full", upto="deliver")
    context = world.app.context

    def end() -> None:
        world.app.wait(run_id, vendors)
        for word in ("confirm", "acknowledge"):
            world.app.step(word, run_id, vendors)

    numbers = [row.job_id for row in world.rows("SELECT job_id FROM ledger.job")]
    return JobCase(
        world,
        "ledger.job",
        lambda connection: [catalog_jobs.read(connection, number) for number in numbers],
        lambda job: poll(context, job),
        end,
        world.app.recover,
    )


def _export(_kind, make_world, _make_shop) -> JobCase:
    world = _stocked(make_world)
    world.app.plan_exports("one", ("store-001",))
    world.app.export_step("export", "one", ["store-001"])
    context = world.app.context

    def end() -> None:
        world.app.wait_exports("one", ["store-001"])
        for word in ("observe", "reconcile"):
            world.app.export_step(word, "one", ["store-001"])

    return JobCase(
        world,
        "ledger.job",
        lambda connection: export_jobs.of_run(connection, "one"),
        lambda job: poll(context, job),
        end,
        world.app.recover,
    )


def _promotion(_kind, _make_world, make_shop) -> JobCase:
    shop = make_shop(promotions={"poll_first_s": 0.05, "poll_max_s": 0.2, "job_deadline_s": 8.0})
    shop.erp.put("c1", "a", "8")
    path = shop.world.app.promotions
    run = path.open_run("one")
    for step in (path.extract, path.plan):
        step(run)
    path.deliver()
    context = shop.world.app.context

    def end() -> None:
        path.wait(run)
        path.confirm()

    return JobCase(
        shop.world,
        "ledger.job",
        lambda connection: promotion_jobs.of_run(connection, run),
        lambda job: poll(context, job),
        end,
        path.recover,
    )


def _stocked(make_world) -> Any:
    world = make_world(sync={"poll_first_s": 0.05, "poll_max_s": 0.2, "job_deadline_s": 8}, export={"deadline_s": 8.0})
    world.platform.put_products("store-001", [A])
    world.erp.put("store-001", "a", "2.00")
    return world


@pytest.mark.slow
def test_a_next_poll_that_is_not_set_is_due_at_once(sent):
    sent.write("next_poll_at = NULL, deadline_at = NULL")
    job = sent.job()
    assert (job.poll_due, job.wait_s) == (True, 0.0)
    assert (job.overdue, job.left_s) == (False, float("inf"))


@pytest.mark.slow
def test_a_wait_ends_by_polling_where_no_poll_was_set(sent):
    sent.write("next_poll_at = NULL")
    sent.end()
    assert sent.job().state in {"acknowledged", "confirmed"}


@pytest.mark.slow
def test_an_answer_that_comes_after_the_end_of_a_job_changes_nothing(sent):
    stale = sent.job()
    sent.end()
    before = sent.state()
    sent.poll(stale)
    assert sent.state() == before


@pytest.mark.slow
@pytest.mark.parametrize("status", ["FAILED", "COMPLETED", "QUEUED"])
def test_an_event_that_comes_after_the_end_of_a_job_changes_nothing_and_is_recorded_as_processed(sent, status):
    sent.end()
    before = sent.state()
    sent.receive(job_id=before["platform_job_id"], job_status=status, download_url="https://elsewhere.example/x")
    assert sent.unprocessed() == 1
    sent.recover()
    assert sent.unprocessed() == 0
    assert sent.state() == before
    assert sent.world.rows("SELECT quarantine_reason FROM inbox.event") == [(None,)]


@pytest.mark.slow
def test_an_event_of_a_job_that_has_not_ended_waits_for_it(sent):
    sent.receive(job_id="unknown-to-the-ledger", job_status="COMPLETED")
    sent.recover()
    assert sent.unprocessed() == 1
