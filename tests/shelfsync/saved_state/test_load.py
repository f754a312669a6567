"""A state is saved from one database and loaded into an empty one, beside a platform that stays as it is."""

from __future__ import annotations

import hashlib
import itertools
import json
import zipfile
from pathlib import Path

import pytest
import sqlalchemy as sa
from pydantic import SecretStr

from app_calls import open_calls
from message_services import Chat
from shelfsync.alerts.channel import REPEAT
from shelfsync.alerts.ledger import alerts
from shelfsync.alerts.steps.send_due import send_due
from shelfsync.catalog.ledger import vendors
from shelfsync.catalog.warehouse import baseline_history
from shelfsync.errors import DataError
from shelfsync.saved_state.load import can_load, checked, load
from shelfsync.saved_state.manifest import MANIFEST
from shelfsync.saved_state.parts import PARTS
from shelfsync.saved_state.save import save
from shelfsync.store.lake import OneFileError

pytestmark = pytest.mark.slow

_keys = itertools.count(1)
KEPT = (
    "ledger.switch",
    "ledger.hold",
    "ledger.decision",
    "ledger.restoration",
    "warehouse.baseline",
    "ledger.promotion",
    "warehouse.promotion_sku",
)


def rows(engine, table):
    with engine.connect() as connection:
        found = connection.execute(sa.text(f"SELECT row_to_json(t)::text FROM {table} AS t ORDER BY 1"))
        return list(found.scalars())


def run(calls, kind="delta"):
    return calls.sync(calls.open_run(kind, f"new/{next(_keys)}"), dry_run=False, progress=lambda *_: None)


def test_a_new_database_goes_on_where_the_old_one_was(shop, saved, opened_new):
    path, manifest = saved
    assert manifest.tables["ledger.hold"].rows == 3
    new = opened_new()
    assert load(new.context.engine, new.context.lake, path, checked(path, chain=None, reads=bool), who="ada")
    for table in KEPT:
        assert rows(new.context.engine, table) == rows(shop.world.app.context.engine, table), table

    before, puts = len(shop.world.sent()), shop.puts()
    run(new)
    assert len(shop.world.sent()) == before, "the store with an approval is paused, the others have nothing to send"
    assert [(hold["vendor"], hold["state"]) for hold in new.holds.listed("open", "declined")] == [
        ("store-003", "open"),
        ("store-002", "declined"),
    ]
    new.resume("vendor", "store-001", why="counted", who="ada")
    run(new)
    assert len(shop.world.sent()) == before + 1
    assert [float(shop.world.shown(f"store-00{n}")[sku]["price"]) for n, sku in ((1, "a"), (2, "b"), (3, "c"))] == [
        1000.0,
        10.0,
        10.0,
    ]
    new.promotions.sync(new.promotions.open_run(f"new/{next(_keys)}"))
    assert shop.puts() == puts, "the platform has the campaign"
    (latest, *_) = new.runs(limit=1)
    assert latest["run_id"] > max(row[0] for row in shop.world.rows("SELECT run_id FROM ledger.run"))


def test_a_second_time_does_nothing_and_another_file_is_refused(shop, saved, opened_new, tmp_path):
    path, _ = saved
    new = opened_new()
    plan = checked(path, chain=None, reads=bool)
    assert can_load(new.context.engine, new.context.lake, path, plan)
    assert rows(new.context.engine, "ledger.hold") == []
    assert load(new.context.engine, new.context.lake, path, plan, who="ada")
    held = rows(new.context.engine, "ledger.hold")
    assert not load(new.context.engine, new.context.lake, path, plan, who="ada")
    assert rows(new.context.engine, "ledger.hold") == held

    other = tmp_path / "other.state"
    save(new.context.engine, new.context.lake, other, chain=None)
    with pytest.raises(DataError, match=r"has rows already \(ledger.vendor\).*no row was written.*createdb"):
        load(new.context.engine, new.context.lake, other, checked(other, chain=None, reads=bool), who="ada")


def test_half_a_file_or_a_changed_one_writes_nothing(saved, opened_new, tmp_path):
    path, _ = saved
    content = path.read_bytes()
    broken = tmp_path / "broken.state"
    for cut in (0, 1, len(content) // 2, len(content) - 1):
        broken.write_bytes(content[:cut])
        with pytest.raises(DataError, match=r"broken.state is no whole saved state .*no row was written"):
            checked(broken, chain=None, reads=bool)
    at = content.index(b"PAR1") + 40  # within a file of the lake
    broken.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
    with pytest.raises(DataError, match="no row was written"):
        checked(broken, chain=None, reads=bool)
    with pytest.raises(DataError, match=r"chain south.*one chain.*--chain|one chain.*the chain south.*--chain"):
        checked(path, chain="south", reads=bool)


def rewritten(path, target, change):
    """The file with `change(name, content)` in place of each member, and a manifest that knows the new digests."""
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(target, "w") as new:
        members = {name: change(name, old.read(name)) for name in old.namelist()}
        manifest = json.loads(members.pop(MANIFEST))
        manifest["sha256"] = {name: hashlib.sha256(content).hexdigest() for name, content in members.items()}
        for name, content in (*members.items(), (MANIFEST, json.dumps(manifest))):
            new.writestr(name, content)
    return target


def test_a_row_that_the_database_rejects_undoes_all_of_them(saved, opened_new, tmp_path):
    path, _ = saved
    spoiled = rewritten(
        path,
        tmp_path / "spoiled.state",
        lambda name, content: content.replace(b'"approved"', b'"perhaps"') if name == "ledger.hold.jsonl" else content,
    )
    new = opened_new()
    with pytest.raises(DataError, match=r"ledger.hold: a row of lines 1 to 3 is rejected .*no row was written"):
        load(new.context.engine, new.context.lake, spoiled, checked(spoiled, chain=None, reads=bool), who="ada")
    assert [part.table for part in PARTS if rows(new.context.engine, part.table)] == []
    assert [*new.context.lake.folders()] == [], "no file either, so that another state finds an empty lake"


def test_a_lake_that_fails_half_way_takes_the_same_file_the_next_time(saved, opened_new):
    path, _ = saved
    new = opened_new()
    engine, lake = new.context.engine, new.context.lake
    plan = checked(path, chain=None, reads=bool)
    with zipfile.ZipFile(path) as archive:
        *some, last = [name.removeprefix("lake/") for name in archive.namelist() if name.startswith("lake/")]
    in_the_way = Path(lake.root, last)
    in_the_way.parent.parent.mkdir(parents=True)
    in_the_way.parent.write_text("a file where a folder has to be")
    with pytest.raises(OneFileError):
        load(engine, lake, path, plan, who="ada")
    assert rows(engine, "ledger.vendor") == []
    assert [lake.exists(name) for name in some] == [True] * len(some)
    in_the_way.parent.unlink()
    assert load(engine, lake, path, plan, who="ada")
    run(new)


def test_a_column_that_only_one_of_the_two_has_is_named(saved, opened_new, tmp_path):
    path, _ = saved

    def older(name, content):
        if name == MANIFEST:
            manifest = json.loads(content)
            manifest["tables"]["ledger.hold"]["columns"].remove("campaign")
            manifest["tables"]["ledger.switch"]["columns"].append("colour")
            del manifest["tables"]["ledger.alert"]
            manifest["absent"] = ["ledger.alert"]
            return json.dumps(manifest).encode()
        return content

    plan = checked(rewritten(path, tmp_path / "older.state", older), chain=None, reads=bool)
    assert plan.notes == [
        "ledger.alert: the saved database had no such table",
        "ledger.switch: this version has no colour",
        "ledger.hold: the saved database had no campaign",
        "the chain was not paused when it was saved: what the old installation sent afterwards is not in it",
    ]
    new = opened_new()
    assert load(new.context.engine, new.context.lake, tmp_path / "older.state", plan, who="ada")
    assert len(rows(new.context.engine, "ledger.hold")) == 3


def test_the_warehouse_of_an_older_version_gets_the_whole_rows_of_each_baseline(shop, saved, opened_new, tmp_path):
    """It kept the four values alone; without the rest, a lost file could not be written anew."""
    world, path, table = shop.world, tmp_path / "left.state", "warehouse.baseline"
    world.erp.execute("DELETE FROM stock WHERE sku = 'd' AND vendor = 'store-003'")
    world.sync()
    save(world.app.context.engine, world.app.context.lake, path, chain=None)

    def older(name, content):
        if name == MANIFEST:
            manifest = json.loads(content)
            for column in ("barcode", "sales_buffer", "left_erp"):
                manifest["tables"][table]["columns"].remove(column)
            return json.dumps(manifest).encode()
        return content

    old = rewritten(path, tmp_path / "older.state", older)
    new = opened_new()
    engine, lake = new.context.engine, new.context.lake
    assert load(engine, lake, old, checked(old, chain=None, reads=bool), who="ada")
    with engine.connect() as connection:
        baselines = vendors.current_baselines(connection, vendors.names(connection))
        assert len(baselines) == 3
        found = {vendor: baseline_history.in_force(connection, vendor) for vendor in baselines}
    assert {"sku": "d", "left": True} in found["store-003"].select(["sku", "left"]).to_pylist()
    for vendor, base in baselines.items():
        assert found[vendor].equals(lake.read_table(base.path))


def test_a_message_that_was_being_sent_when_the_state_was_saved_is_sent_again(make_world, throwaway_database, tmp_path):
    chat = Chat()
    old = make_world(alerts={"routes": [{"name": "ops", "address": chat.address}]})
    context = old.app.context
    with context.engine.begin() as connection:
        alerts.keep(connection, ("store_late",), {("store_late", "store-001"): "store-001: late"})
    path = tmp_path / "shelfsync.state"
    chat.arrived = lambda: save(context.engine, context.lake, path, chain=None)
    assert send_due(context)["sent"] == {"ops": 1}
    chat.arrived = lambda: None
    with throwaway_database() as url:
        settings = old.settings.model_copy(update={"lake_url": str(tmp_path / "new"), "database_url": SecretStr(url)})
        with open_calls(settings) as new:
            assert load(new.context.engine, new.context.lake, path, checked(path, chain=None, reads=bool), who="ada")
            assert send_due(new.context)["sent"] == {"ops": 1}
            assert send_due(new.context) == {"sent": {}, "refused": {}}
    chat.close()
    first, again = (message["message"] for message in chat.taken)
    assert again == f"{REPEAT}\n\n{first}"


def test_a_file_that_was_replaced_after_the_check_is_refused(shop, saved, opened_new):
    path, _ = saved
    plan = checked(path, chain=None, reads=bool)
    context = shop.world.app.context
    save(context.engine, context.lake, path, chain=None)
    new = opened_new()
    with pytest.raises(DataError, match=r"replaced after it had been checked.*no row was written"):
        load(new.context.engine, new.context.lake, path, plan, who="ada")
    assert rows(new.context.engine, "ledger.hold") == []


def test_the_lake_of_another_database_is_refused_and_what_a_try_before_wrote_is_not(shop, saved, opened_new):
    path, _ = saved
    new = opened_new()
    lake = new.context.lake
    plan = checked(path, chain=None, reads=bool)
    with pytest.raises(
        DataError, match=r"files of another database.*no row .*Name an empty place in SHELFSYNC_LAKE_URL"
    ):
        can_load(new.context.engine, shop.world.app.context.lake, path, plan)
    with zipfile.ZipFile(path) as archive:
        name = next(name for name in archive.namelist() if name.startswith("lake/"))
        with archive.open(name) as file:
            lake.put(name.removeprefix("lake/"), file)
    assert load(new.context.engine, lake, path, plan, who="ada")
    run(new)


def test_a_dry_run_waits_for_no_lock(saved, opened_new):
    path, _ = saved
    new = opened_new()
    plan = checked(path, chain=None, reads=bool)
    with new.context.engine.begin() as working:
        working.exec_driver_sql("LOCK TABLE ledger.vendor IN ROW EXCLUSIVE MODE")
        assert can_load(new.context.engine, new.context.lake, path, plan)


def test_a_number_beyond_a_sequence_and_a_foreign_sequence_write_nothing(saved, opened_new, tmp_path):
    path, manifest = saved
    name = next(name for name in manifest.sequences if name.startswith("ledger."))

    def changed(values):
        def change(member, content):
            if member != MANIFEST:
                return content
            return json.dumps(json.loads(content) | {"sequences": values}).encode()

        return rewritten(path, tmp_path / "changed.state", change)

    with pytest.raises(
        DataError, match=r"no whole saved state \(manifest.json: sequences.public.mine.*no row was written"
    ):
        checked(changed({"public.mine": 7}), chain=None, reads=bool)
    new = opened_new()
    with new.context.engine.begin() as connection:
        connection.exec_driver_sql(f"ALTER SEQUENCE {name} MAXVALUE 1000000")
    beyond = changed({name: 10_000_000})
    with pytest.raises(DataError, match=rf"the sequence {name} is rejected .*no row was written"):
        load(new.context.engine, new.context.lake, beyond, checked(beyond, chain=None, reads=bool), who="ada")
    assert rows(new.context.engine, "ledger.hold") == []
