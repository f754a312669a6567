"""A vendor whose rows are those of its run before ends its run after the reading, unless anything asks for something."""

from __future__ import annotations

import datetime as dt
import importlib.metadata
import logging
import threading
from pathlib import Path

import pytest

from shelfsync.catalog.ledger import same_rows
from shelfsync.catalog.ledger.same_rows import Quiet
from shelfsync.catalog.steps import same_rows as steps_same_rows
from shelfsync.catalog.steps.close_store import forget
from shelfsync.catalog.steps.same_rows import LOOK_AT_ONCE, kept, rules_digest, rules_of
from shelfsync.store.lake import Lake
from stamped_erp import TIMES, StampedErp

V = "store-001"
OTHER = "store-002"


def _same(world):
    """The vendors that the newest run has passed over as the same."""
    newest = "run_id = (SELECT max(run_id) FROM ledger.run)"
    found = world.rows(f"SELECT vendor FROM ledger.vendor_run WHERE {newest} AND same_as IS NOT NULL ORDER BY vendor")
    return [row.vendor for row in found]


def _row(world, vendor, columns):
    return world.rows(
        f"SELECT {columns} FROM ledger.vendor_run WHERE vendor = '{vendor}' ORDER BY generation DESC LIMIT 1"
    )[0]


def _status(world):
    """What the status shows of the vendor."""
    return next(one for one in world.app.status()["vendors"] if one["vendor"] == V)


RESULTS = "state, snapshot_path, delta_path, base_version, rows_raw, rows_snapshot, raw_digest, rules_digest"


@pytest.mark.slow
def test_a_vendor_that_was_read_again_the_same_has_the_results_of_its_run_before_and_the_time_of_the_new_one(
    in_step, metrics_sink
):
    world = in_step()
    before, seen = _row(world, V, RESULTS), world.app.explain(V, "a")
    was = _status(world)
    metrics_sink.counts.clear()
    summary = world.sync()
    assert summary["state"] == "succeeded"
    assert "2 of 2 vendors were read again, the same" in summary["lines"]
    assert metrics_sink.counts["extract.vendors.same"] == 2
    assert not any(name.startswith("deliver.") for name in metrics_sink.counts)
    assert _same(world) == [V, OTHER]
    assert _row(world, V, RESULTS) == before
    again = world.app.explain(V, "a")
    assert again.desired.values == seen.desired.values
    assert again.desired.read_at > seen.desired.read_at
    assert "(read at" in seen.sentence
    assert f"by run {again.desired.run_id}, the same as in the run before)" in again.sentence
    assert _status(world) == {**was, "last_run": again.desired.run_id}
    world.erp.execute("UPDATE stock SET price = '1.10' WHERE vendor = ? AND sku = 'a'", V)  # the rows keep their order
    assert "1 of 2 vendors were read again, the same" in world.sync()["lines"]
    assert _same(world) == [OTHER]
    assert world.shown(V)["a"]["price"] == 1.1


@pytest.mark.slow
def test_equal_deltas_in_a_row_name_the_one_whose_steps_worked(in_step):
    world = in_step()
    worked = _row(world, V, "generation").generation
    for _ in range(3):
        world.sync()
        assert _row(world, V, "same_as").same_as == worked


@pytest.mark.slow
def test_a_row_that_another_vendor_has_before_it_makes_no_difference(in_step):
    world = in_step(erp={"sql": "SELECT vendor, sku, price, quantity, active FROM stock ORDER BY vendor DESC, sku"})
    world.erp.put(OTHER, "c", "1.00")
    world.sync()
    assert _same(world) == [V]


@pytest.mark.slow
def test_a_step_that_is_run_again_leaves_the_vendor_as_it_is(in_step):
    world = in_step()
    run_id, left = world.begin(upto="normalise")
    assert left == []
    before, vendors = _row(world, V, "*"), [V, OTHER]
    for word in ("normalise", "diff", "guard", "batch", "deliver", "confirm", "acknowledge"):
        report = world.app.step(word, run_id, vendors)
        assert report["failed"] == {}
        assert report["done"] == 0
    assert _row(world, V, "*") == before


@pytest.mark.slow
def test_a_run_that_is_read_again_meanwhile_works_on_what_was_read_last(make_world, platform, tmp_path, monkeypatch):
    """The rows of the first reading are the same; before it ends its vendors, a second one of the same run reads a price."""
    erp = StampedErp(tmp_path / "followed.sqlite")
    erp.fill(platform, (V, OTHER))
    # Every delta takes each vendor, so that both are read in the run.
    world = make_world(erp={"url": erp.url, "changes_overlap": 60, **TIMES}, sync={"delta_interval_s": 0.01})
    world.sync("full")
    world.sync()
    world.sync()
    assert _same(world) == [V, OTHER]  # also if the changes alone are read
    run_id = world.app.open_run("delta", "read again meanwhile")
    repeat = same_rows.repeat

    def meanwhile(*given):
        monkeypatch.undo()
        erp.now += 10
        erp.put(V, "a", price="2.50")
        assert [shard["vendors"] for shard in world.app.extract(run_id)] == [[V]]
        return repeat(*given)

    monkeypatch.setattr(same_rows, "repeat", meanwhile)
    left = [name for shard in world.app.extract(run_id) for name in shard["vendors"]]
    assert left == [V, OTHER]  # the second reading has ended the other one; the first one leaves both to the steps
    for word in ("normalise", "diff", "guard", "batch", "deliver"):
        world.app.step(word, run_id, left)
    world.app.wait(run_id, left)
    for word in ("confirm", "acknowledge"):
        world.app.step(word, run_id, left)
    assert world.shown(V)["a"]["price"] == 2.5
    assert _row(world, OTHER, "run_id, state") == (run_id, "unchanged")
    world.sync()
    assert _same(world) == [OTHER]


@pytest.mark.slow
def test_snapshots_are_looked_for_side_by_side_and_without_the_lake_every_vendor_takes_the_steps(
    in_step, monkeypatch, caplog
):
    world = in_step()
    exists, both = Lake.exists, threading.Barrier(2)
    with monkeypatch.context() as patched:
        side_by_side = lambda path: not path.startswith("snapshot") or both.wait(20) >= 0  # noqa: E731
        patched.setattr(Lake, "exists", lambda lake, path: side_by_side(path) and exists(lake, path))
        world.sync()
    assert _same(world) == [V, OTHER]

    def away(_lake, _path):
        raise OSError("the storage is away")

    with monkeypatch.context() as patched:
        patched.setattr(Lake, "exists", away)
        run_id = world.app.open_run("delta", "without the lake")
        assert [shard["vendors"] for shard in world.app.extract(run_id)] == [[V, OTHER]]
    assert caplog.text.count("the storage is away") == 1


def test_after_the_first_error_no_further_snapshot_is_looked_for(caplog):
    """Those that are under way wait until the error is logged."""
    logged, asked = threading.Event(), []

    class Away(Lake):
        def exists(self, path):
            asked.append(path)
            if path != "0" and logged.wait(20):
                return True
            raise OSError("the storage is away")

    class Logged(logging.Handler):
        def emit(self, _record):
            logged.set()

    same = [Quiet(f"store-{number}", 2, 1, str(number), "", None) for number in range(500)]
    logger, handler = logging.getLogger(kept.__module__), Logged()
    logger.addHandler(handler)
    try:
        assert kept(Away("memory://nowhere"), same) == []
    finally:
        logger.removeHandler(handler)
    assert 1 <= len(asked) <= LOOK_AT_ONCE + 1


def _restoration(world, version="max"):
    order = {"span": dt.timedelta(hours=1), "skus": None, "why": "a mistake", "who": "ada", "dry_run": False}
    acknowledged = world.rows(f"SELECT {version}(created_at) AS at FROM ledger.baseline WHERE vendor = '{V}'")[0].at
    world.app.restore(V, at=acknowledged, **order)


def _lost_snapshot(world):
    path = _row(world, V, "snapshot_path").snapshot_path
    (world.app.context.settings.home.parent / "lake" / path).unlink()


REASONS = {
    "a price": lambda world: world.erp.put(V, "a", "1.10"),
    "a quantity": lambda world: world.erp.put(V, "a", quantity=7),
    "an export": lambda world: world.app.export(f"export/{V}", (V,), progress=lambda *_: None),
    "a lost snapshot": _lost_snapshot,
    "a SKU that leaves": lambda world: world.erp.execute("DELETE FROM stock WHERE vendor = ? AND sku = 'b'", V),
    "a restoration": _restoration,
}


@pytest.mark.slow
def test_what_changes_of_a_vendor_takes_every_step_and_afterwards_the_vendor_is_quiet_again(in_step):
    world = in_step()
    for name, change in REASONS.items():
        change(world)
        world.sync()
        assert _same(world) == [OTHER], name
        if change is not _restoration:
            for _ in range(2):
                world.sync()
            assert _same(world) == [V, OTHER], name


@pytest.mark.slow
def test_a_store_that_an_extract_did_not_have_is_compared_again(in_step):
    world = in_step()
    world.sync()
    world.erp.execute("UPDATE stock SET vendor = 'elsewhere' WHERE vendor = ?", V)
    world.platform.control("PUT", "chains/demo-chain/vendors/elsewhere", {})
    world.sync()
    world.erp.execute("UPDATE stock SET vendor = ? WHERE vendor = 'elsewhere'", V)
    world.sync()
    assert _same(world) == [OTHER]


@pytest.mark.slow
def test_what_a_pause_kept_back_is_sent_after_it_although_the_rows_are_the_same(in_step):
    world = in_step()
    world.app.pause("vendor", V, why="stock-taking", who="ada", anyway=True)
    world.erp.put(V, "a", "1.10")
    for _ in range(2):
        world.sync()
        assert _same(world) == [OTHER]
    assert world.shown(V)["a"]["price"] == 1.0
    world.app.resume("vendor", V, why="done", who="ada")
    world.sync()
    assert world.shown(V)["a"]["price"] == 1.1


@pytest.mark.slow
def test_a_store_that_was_forgotten_and_comes_back_is_shown_again(in_step):
    """Its rows are those that the platform acknowledged, so there is nothing to send."""
    world = in_step()
    forget(world.app.context, V, why="closed", who="ada")
    assert [one["vendor"] for one in world.app.status()["vendors"]] == [OTHER]
    assert world.sync()["state"] == "succeeded"
    assert _status(world)["pending"] == 0
    world.erp.put(V, "a", "1.10")
    world.sync()
    assert world.shown(V)["a"]["price"] == 1.1


@pytest.mark.slow
def test_a_rejected_product_is_compared_in_every_run(in_step):
    world = in_step()
    world.erp.put(V, "unknown", "1.00")
    for _ in range(3):
        world.sync()
    assert _same(world) == [OTHER]
    with world.app.context.engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM ledger.rejection")  # reconcile may do so: it is sent once more
    assert world.sync()["sent"] == 1
    assert _same(world) == [OTHER]


@pytest.mark.slow
def test_a_faulty_row_is_quarantined_in_every_run(in_step):
    world = in_step()
    world.erp.put(V, "a", "dear")
    for _ in range(3):
        run_id = world.sync()["run"]
        assert len(world.rows(f"SELECT 1 FROM warehouse.quarantine WHERE run_id = {run_id}")) == 1
        assert _same(world) == [OTHER]


@pytest.mark.slow
def test_other_settings_are_a_reason_to_work_again(in_step, make_world):
    world = in_step()
    other = make_world(normalise={"negative_quantity": "quarantine"})
    other.sync()
    assert _same(other) == []
    other.sync()
    assert _same(other) == [V, OTHER]
    world.sync()
    assert _same(world) == []


def test_every_setting_and_file_that_acts_on_rows_is_part_of_the_rules(make_settings, tmp_path):
    file = tmp_path / "buffers.csv"
    found = [rules_of(make_settings(**sections)) for sections in SECTIONS]
    for content in ("sales_buffer\n1\n", "sales_buffer\n2\n", None):
        settings = make_settings(suppression={"buffers_file": str(file)})
        file.write_text(content, "utf-8") if content else file.unlink()
        found.append(rules_of(settings))
    assert len(set(found)) == len(found)
    assert rules_of(make_settings()) == found[0]
    assert len({rules_digest(found[0], path) for path in (None, "a", "b")}) == 3


@pytest.mark.parametrize("name", ["shelfsync", "pyarrow", "numpy"])
def test_another_version_of_what_works_on_the_rows_is_another_rule(make_settings, monkeypatch, name):
    settings = make_settings()
    before = rules_of(settings)
    with monkeypatch.context() as patched:
        patched.setattr(
            steps_same_rows, "version", lambda asked: "0.0.1" if asked == name else importlib.metadata.version(asked)
        )
        steps_same_rows.code_digest.cache_clear()
        assert rules_of(settings) != before
    steps_same_rows.code_digest.cache_clear()
    assert rules_of(settings) == before


SECTIONS = (
    {},
    {"normalise": {"negative_quantity": "quarantine"}},
    {"suppression": {"sales_buffer": 3}},
    {"suppression": {"vendor_buffers": {V: 3}}},
    {"platform": {"item_key": "barcode"}},
)


@pytest.mark.slow
def test_a_plan_and_a_full_sync_pass_nobody_over(in_step):
    world = in_step()
    for kind, dry_run in (("delta", True), ("full", False)):
        summary = world.sync(kind, dry_run=dry_run)
        assert _same(world) == []
        assert not any("the same" in line for line in summary["lines"])


@pytest.mark.slow
def test_a_full_sync_reports_products_that_differ_under_the_same_digests(in_step, caplog):
    """A digest that forgets a column passes a change over: the row before is given the digests of the rows that come."""
    world = in_step()
    world.sync("full")
    assert "its products differ" not in caplog.text
    world.sync()
    world.sync()
    kept = _row(world, V, "run_id, snapshot_path")
    world.erp.put(V, "a", "1.10")
    coming = world.app.open_run("full", "read only")
    world.app.extract(coming)
    with world.app.context.engine.begin() as connection:
        digest = connection.exec_driver_sql(
            f"DELETE FROM ledger.vendor_run WHERE run_id = {coming} AND vendor = '{V}' RETURNING raw_digest"
        ).scalar_one()
        connection.exec_driver_sql(
            f"UPDATE ledger.vendor_run SET raw_digest = '{digest}' WHERE run_id = {kept.run_id} AND vendor = '{V}'"
        )
    caplog.set_level(logging.ERROR)
    world.sync("full")
    assert f"normalise: vendor {V}: by their digests its rows are those of generation" in caplog.text
    assert world.shown(V)["a"]["price"] == 1.1


@pytest.mark.slow
def test_a_restoration_that_is_ordered_during_a_full_sync_is_no_fault_of_the_digests(in_step, monkeypatch, caplog):
    world = in_step()
    world.erp.put(V, "a", "1.10")
    for _ in range(2):
        world.sync()
    to_check = steps_same_rows.to_check

    def and_then_an_order(*given):
        found = to_check(*given)
        assert V in found
        monkeypatch.undo()
        _restoration(world, "min")
        return found

    monkeypatch.setattr(steps_same_rows, "to_check", and_then_an_order)
    world.sync("full")
    assert world.shown(V)["a"]["price"] == 1.0
    assert "its products differ" not in caplog.text


@pytest.mark.slow
def test_the_rows_of_a_vendor_that_are_the_same_are_written_once_and_a_damaged_file_is_replaced(in_step, make_world):
    world = in_step()
    file = Path(world.app.context.lake.root) / _row(world, V, "raw_path").raw_path
    file.chmod(0o640)
    file.write_bytes(b"damaged")
    world.sync()
    assert _same(world) == [V, OTHER], "nothing of it is read"
    assert file.read_bytes() == b"damaged", "and nothing is written"
    other = make_world(normalise={"negative_quantity": "quarantine"})
    other.sync()
    assert "store-001" in str(other.rows("SELECT vendor FROM ledger.vendor_run WHERE state = 'failed'"))
    other.sync()
    assert _row(other, V, "state").state == "unchanged", "the run after a failure writes the rows again"
    file.write_bytes(b"damaged again")
    other.sync("full")
    assert _row(other, V, "state").state != "failed", "as a full sync does"
