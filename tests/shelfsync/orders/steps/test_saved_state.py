"""Orders in a saved state: they go on in a new database, and the file has no personal data in plain text."""

from __future__ import annotations

import json
import stat
import zipfile

import httpx
import pytest
from pydantic import SecretStr

import canaries
from app_calls import open_calls
from commands_here import commands_here
from orders_bodies import body
from orders_world import KEY, PHONE, SECRET, ago, picked
from shelfsync.orders.encryption import CustomerCipher
from shelfsync.orders.warehouse import record
from shelfsync.saved_state.load import checked, load
from shelfsync.saved_state.manifest import MANIFEST
from shelfsync.saved_state.save import save

TABLES = ("ledger.order_version", "ledger.hand_over", "ledger.picking_result", "warehouse.order_item")


@pytest.mark.slow
def test_an_order_goes_on_in_a_new_database_and_its_customer_stays_encrypted(
    world, environment, throwaway_database, tmp_path, monkeypatch, capsys
):
    order = world.place("MILK", "BREAD")
    world.receive_events()
    world.tick()
    world.report(order, "check", picked("MILK"), picked("BREAD"))
    file = tmp_path / "shelfsync.state"
    file.write_text("")
    file.chmod(0o644)  # an empty file is replaced, and what is in it from now on is for its owner alone
    with commands_here(environment, tmp_path, monkeypatch, capsys) as call:
        code, shown, complaint = call("state", "save", str(file))
    assert code == 0, complaint
    assert "1 waiting picking results: stop the services before the new installation starts" in shown
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with zipfile.ZipFile(file) as archive:
        text = b"".join(archive.read(name) for name in archive.namelist())
        assert b'"ledger.customer_order"' in archive.read(MANIFEST)
    assert order["order_id"].encode() in text
    assert KEY.encode() not in text
    seen: list[str] = []
    canaries.look("the file", text, seen)
    assert seen == []

    with throwaway_database() as url:
        moved = {**environment, "SHELFSYNC_DATABASE_URL": url, "SHELFSYNC_LAKE_URL": str(tmp_path / "other")}
        with commands_here(
            {**moved, "SHELFSYNC_ORDERS__ENCRYPTION_KEY": "x" * 30}, tmp_path, monkeypatch, capsys
        ) as call:
            code, _, complaint = call("state", "load", str(file), "--user", "ada")
            assert code == 4
            assert "SHELFSYNC_ORDERS__ENCRYPTION_KEY reads none of the 1 customers" in complaint
            code, shown, _ = call("state", "load", str(file), "--user", "ada", "--without-customers", "--dry-run")
            assert code == 0
            assert "warehouse.order_customer: 1 rows stay out" in shown
        with commands_here(moved, tmp_path, monkeypatch, capsys) as call:
            code, shown, complaint = call("state", "load", str(file), "--user", "ada")
        assert code == 0, complaint
        assert "1  ledger.customer_order" in shown
        settings = world.app.context.settings.model_copy(update={"database_url": SecretStr(url)})
        with open_calls(settings) as new:
            for table in TABLES:
                count = f"SELECT count(*) FROM {table}"
                with new.context.engine.connect() as connection:
                    assert connection.exec_driver_sql(count).scalar_one() == world.rows(count)[0][0] > 0, table
            with new.context.engine.connect() as connection:
                encrypted = record.encrypted_customer(connection, order["order_id"])
            assert encrypted is not None
            assert CustomerCipher(settings.orders).decrypt(encrypted)
            moved_world = type(world)(new, world.platform, world.receiver_url, world.folder)
            before = len(world.documents())
            new.orders.fulfil()
            new.orders.hand_over()
            assert new.orders.results(order["order_id"])[-1]["state"] == "checked"
            assert len(moved_world.documents()) == before + 1, "the reply, under the next number"
            numbers = [document["hand_over_id"] for document in moved_world.documents()]
            assert len(set(numbers)) == len(numbers)


@pytest.mark.slow
def test_a_customer_who_was_forgotten_stays_so_also_where_customers_are_left_out(
    world, open_receiver, throwaway_database, tmp_path
):
    def arrives(url, app, status, at):
        event = body(status=status, customer={"phone_number": PHONE}) | {
            "sys": {"created_at": ago(600), "updated_at": at}
        }
        with httpx.Client(trust_env=False, headers={"Authorization": SECRET}) as platform:
            assert platform.post(f"{url}/webhook", content=json.dumps(event, default=float)).json() == {
                "status": "stored"
            }
        assert app.orders.take()["quarantined"] == 0
        return event["order_id"]

    order_id = arrives(world.receiver_url, world.app, "RECEIVED", ago(60))
    world.app.orders.forget([order_id])
    context = world.app.context
    path = tmp_path / "x.state"
    save(context.engine, context.lake, path, chain=None, unfinished=True)
    with throwaway_database() as url:
        settings = context.settings.model_copy(
            update={"lake_url": str(tmp_path / "new"), "database_url": SecretStr(url)}
        )
        reads = CustomerCipher(settings.orders).reads
        with open_calls(settings) as new:
            plan = checked(path, chain=None, reads=reads, without_customers=True)
            assert load(new.context.engine, new.context.lake, path, plan, who="ada")
            arrives(open_receiver(settings), new, "READY_FOR_PICKUP", ago(10))
            with new.context.engine.connect() as connection:
                (row,) = connection.exec_driver_sql("SELECT order_id, encrypted FROM warehouse.order_customer").all()
            assert (row.order_id, bytes(row.encrypted)) == (order_id, b"")
