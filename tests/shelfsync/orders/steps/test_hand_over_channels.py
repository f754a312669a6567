"""Each channel to a store, with a real receiver: at least once, with the same number, complete, to the right store."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import signal
import time
from pathlib import Path

import oracledb
import pytest
import sqlalchemy as sa

from shelfsync.errors import DataError, TryAgainError
from shelfsync.orders.hand_over_channel import Document
from shelfsync.orders.ledger import handovers
from shelfsync.orders.steps.hand_over_table import Outbox

BACKUP = Path(__file__).resolve().parents[4] / "docs/how-to/backup.md"
ORDERS = BACKUP.with_name("orders.md")


@pytest.fixture
def erp_url(postgres):
    yield postgres.create_database("shelfsync_store_erp")
    postgres.drop_database("shelfsync_store_erp")


def died_after_writing(world):
    """A process that was killed between writing and its commit: the hand-over waits and is due again."""
    with world.app.context.engine.begin() as connection:
        connection.execute(
            sa.text(
                "UPDATE ledger.hand_over SET state = 'waiting', written_at = NULL, taken_at = NULL, next_try_at = NULL"
            )
        )


def outbox(url, statement="SELECT hand_over_id, kind, vendor, document, taken_at FROM shelfsync_order_outbox"):
    engine = sa.create_engine(url.replace("postgresql://", "postgresql+psycopg://", 1))
    with engine.begin() as connection:
        found = connection.execute(sa.text(statement))
        rows = found.all() if found.returns_rows else []
    engine.dispose()
    return rows


def test_the_outbox_lies_in_the_erps_own_postgresql_where_no_other_is_named(make_world, erp_url):
    world = make_world(orders={"hand_over": "outbox", "hand_over_url": None}, erp={"url": erp_url})
    order = world.place("MILK", transport_type="VENDOR_DELIVERY")
    world.receive_events()
    assert world.app.orders.hand_over()["failed"] == {}
    died_after_writing(world)
    world.app.orders.hand_over()
    (row,) = outbox(erp_url)
    document = json.loads(row.document)
    assert (row.kind, row.vendor, row.taken_at, document["order_id"]) == ("new", "store-001", None, order["order_id"])
    assert document["hand_over_id"] == row.hand_over_id
    outbox(erp_url, "UPDATE shelfsync_order_outbox SET taken_at = now()")
    assert world.app.orders.hand_over()["taken"] == 1


def test_a_number_that_the_outbox_has_for_another_order_is_an_error_and_is_not_taken(make_world, erp_url):
    """A ledger restored from a backup counts on from an older number; docs/how-to/backup.md has the statements."""
    world = make_world(orders={"hand_over": "outbox", "hand_over_url": erp_url})
    order = world.place("MILK")
    world.receive_events()
    assert world.app.orders.hand_over()["written"] == 1
    outbox(erp_url, "UPDATE shelfsync_order_outbox SET order_id = 'an order since the backup', taken_at = now()")
    died_after_writing(world)

    counts = world.app.orders.hand_over()

    assert (counts["written"], counts["taken"], len(counts["failed"])) == (0, 0, 1)
    (why,) = counts["failed"].values()
    assert "another order" in why
    assert "docs/how-to/backup.md" in why

    for statement in re.findall(r"^psql .* -c \"((?:SELECT|UPDATE) .*)\"", BACKUP.read_text("utf-8"), re.MULTILINE):
        with world.app.context.engine.begin() as connection:
            connection.execute(sa.text(statement))
    assert world.app.orders.hand_over()["written"] == 1
    documents = [json.loads(row.document) for row in outbox(erp_url)]
    assert [one["order_id"] for one in documents] == [order["order_id"]] * 2
    assert documents[1]["hand_over_id"] > documents[0]["hand_over_id"] + 100_000


def test_an_order_that_the_stores_table_rejects_is_not_taken_and_comes_once_the_table_accepts_it(make_world, erp_url):
    world = make_world(orders={"hand_over": "outbox", "hand_over_url": erp_url})
    documented = re.search(r"CREATE TABLE shelfsync_order_outbox .*?;", ORDERS.read_text("utf-8"), re.DOTALL)
    outbox(erp_url, documented.group())
    outbox(erp_url, "ALTER TABLE shelfsync_order_outbox ADD CONSTRAINT ours CHECK (vendor = 'another store')")
    world.place("MILK")
    world.receive_events()

    counts = world.app.orders.hand_over()

    assert (counts["written"], counts["taken"], len(counts["failed"])) == (0, 0, 1)
    assert "cannot be used: IntegrityError" in next(iter(counts["failed"].values()))
    outbox(erp_url, "ALTER TABLE shelfsync_order_outbox DROP CONSTRAINT ours")
    assert world.app.orders.hand_over()["written"] == 1
    assert len(outbox(erp_url)) == 1


@pytest.mark.parametrize("kind", ["new", "cancelled"])
def test_a_row_that_another_process_writes_meanwhile_is_the_document_if_it_is_of_the_same_order_and_kind(
    tmp_path, kind
):
    url, document = f"sqlite:///{tmp_path / 'outbox.db'}", Document(1, "o", "new", "store-1", "{}")
    late, early = Outbox(url, "t", 5), Outbox(url, "t", 5)
    between = []

    def write_first(_connection, _cursor, statement, *_):
        if statement.startswith("INSERT") and not between:
            between.append(early.write(dataclasses.replace(document, kind=kind)))

    sa.event.listen(late._open(), "before_cursor_execute", write_first)
    if kind == "new":
        assert late.write(document) is False
    else:
        with pytest.raises(DataError, match="another order"):
            late.write(document)
    assert between == [False]
    for channel in (late, early):
        channel.close()


@pytest.mark.slow
def test_an_outbox_that_a_store_keeps_locked_delays_other_stores_only_for_a_time(make_world, erp_url):
    world = make_world(orders={"hand_over": "outbox", "hand_over_url": erp_url, "hand_over_timeout_s": 0.3})
    world.place("MILK")
    world.receive_events()
    assert world.app.orders.hand_over()["written"] == 1
    world.place("JAM")
    world.receive_events()
    locker = sa.create_engine(erp_url.replace("postgresql://", "postgresql+psycopg://", 1))
    with locker.begin() as connection:
        connection.execute(sa.text("LOCK TABLE shelfsync_order_outbox"))
        began = time.monotonic()
        counts = world.app.orders.hand_over()
        assert time.monotonic() - began < 20
    locker.dispose()
    assert (counts["written"], len(counts["failed"])) == (0, 1)
    assert "shelfsync_order_outbox cannot be used" in next(iter(counts["failed"].values()))
    assert world.app.orders.hand_over()["written"] == 1


def test_an_outbox_whose_server_no_longer_answers_is_hung_up_on(erp_url):
    """SIGSTOP: the server cannot even run its own timeout."""
    channel = Outbox(erp_url.replace("postgresql://", "postgresql+psycopg://", 1), "shelfsync_order_outbox", 0.3)
    channel.write(Document(1, "o", "new", "store-1", "{}"))
    others = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    ((pid,),) = outbox(erp_url, others)
    os.kill(pid, signal.SIGSTOP)
    began = time.monotonic()
    try:
        with pytest.raises(TryAgainError, match="cannot be used: OperationalError"):
            channel.write(Document(2, "o", "new", "store-1", "{}"))
    finally:
        os.kill(pid, signal.SIGCONT)
    assert time.monotonic() - began < 20
    assert channel.write(Document(2, "o", "new", "store-1", "{}")) is False
    channel.close()


def test_an_outbox_on_oracle_times_out_at_connecting_and_in_each_call(monkeypatch):
    """No server: the driver's connection is the test's own, and its first statement fails."""
    given = {}

    class Connection:
        version = "23.0.0"

        def __setattr__(self, name, value):
            given[name] = value

        def cursor(self):
            raise oracledb.OperationalError("DPY-4024: call timeout exceeded")

        def rollback(self):
            """Nothing to take back."""

        close = rollback

    def connect(*_, **options):
        given.update(options)
        return Connection()

    monkeypatch.setattr(oracledb, "connect", connect)
    channel = Outbox("oracle+oracledb://u:p@stores.example.com/?service_name=hub", "shelfsync_order_outbox", 2.5)
    with pytest.raises(TryAgainError, match="cannot be used"):
        channel.taken([(1, "store-1", "new")])
    assert (given["tcp_connect_timeout"], given["call_timeout"]) == (3, 2500)


def test_a_cancellation_has_a_higher_number_than_the_order_that_it_cancels(world):
    """So a store can distinguish a late old document from a new one."""
    order = world.place("MILK")
    world.receive_events()
    world.app.orders.hand_over()
    world.platform.control("POST", f"orders/{order['order_id']}/cancel")
    world.receive_events()
    world.app.orders.hand_over()
    new, cancelled = world.documents()
    assert (new["kind"], cancelled["kind"], new["hand_over_id"] < cancelled["hand_over_id"]) == (
        "new",
        "cancelled",
        True,
    )


@pytest.mark.slow
def test_two_processes_that_hand_over_at_once_give_each_order_one_number(world):
    from concurrent.futures import ThreadPoolExecutor

    for _ in range(4):
        world.place("MILK")
    world.receive_events()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: world.app.orders.hand_over(), range(4)))
    documents = world.documents()
    assert (len(documents), len({document["hand_over_id"] for document in documents})) == (4, 4)
    with world.app.context.engine.connect() as connection:
        assert len(handovers.written(connection, at_most=10)) == 4
