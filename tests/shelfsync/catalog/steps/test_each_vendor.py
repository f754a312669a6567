"""The files of one store are broken: it fails alone with its reason, loses nothing, and the other stores get their changes."""

from __future__ import annotations

import math

import pytest

from shelfsync.catalog.ledger.compared import for_diff
from shelfsync.catalog.steps import diff, each_vendor
from shelfsync.catalog.steps.each_vendor import in_rounds
from shelfsync.vendors.step_report import StepReport

STORES = ("store-001", "store-002", "store-003")


def write(folder, store, price, skus="ab"):
    rows = "".join(f"{sku},{price},5,1\n" for sku in skus)
    (folder / f"{store}.csv").write_text(f"sku,price,quantity,active\n{rows}")
    (folder / f"{store}.count").write_text(str(len(skus)))


@pytest.fixture
def chain(make_world, tmp_path):
    """Three stores with a file and a number each, all synced once."""
    folder = tmp_path / "erp"
    folder.mkdir()
    files = {"files": f"{folder}/{{vendor}}.csv", "control_file": f"{folder}/{{vendor}}.count"}
    world = make_world(erp={"url": None, "sql": None, **files})
    for store in STORES:
        write(folder, store, "1.50")
        world.platform.put_products(store, [{"sku": sku, "title": sku, "price": 9.0, "active": True} for sku in "ab"])
    assert world.sync("full")["state"] == "succeeded"
    return world, folder


def prices(world, store):
    return {sku: (row["price"], row["active"]) for sku, row in world.shown(store).items()}


@pytest.mark.slow
def test_the_other_stores_get_their_changes_and_the_run_names_the_broken_one(chain):
    world, folder = chain
    write(folder, "store-001", "2.50")
    write(folder, "store-003", "2.50", skus="a")
    (folder / "store-002.csv").write_bytes(b"")
    summary = world.sync("delta")
    assert summary["state"] == "partly_failed"
    assert "store-002" in summary["error"]
    assert "is empty" in summary["error"]
    assert [(row["vendor"], row["failed_step"]) for row in summary["vendors"] if row["state"] == "failed"] == [
        ("store-002", "extract")
    ]
    assert prices(world, "store-001") == {"a": (2.5, True), "b": (2.5, True)}
    assert prices(world, "store-002") == {"a": (1.5, True), "b": (1.5, True)}
    assert prices(world, "store-003") == {"a": (2.5, True), "b": (1.5, False)}, "its own number proves that b has left"
    write(folder, "store-002", "3.50")
    assert world.sync("delta")["state"] == "succeeded"
    assert prices(world, "store-002") == {"a": (3.5, True), "b": (3.5, True)}


@pytest.mark.slow
def test_a_broken_file_of_a_store_that_was_never_synced_makes_no_store(chain):
    world, folder = chain
    (folder / "notes.csv").write_text("call Ada\n")
    assert world.sync("full")["state"] == "partly_failed"
    (folder / "notes.csv").unlink()
    assert world.sync("full")["state"] == "succeeded"


@pytest.mark.slow
@pytest.mark.parametrize(("trusted_s", "asked"), [(math.inf, [["a", "b"]]), (-1.0, [["a", "b"], ["a"], ["b"]])])
def test_what_is_read_of_all_vendors_is_read_again_with_a_row_that_is_old(world, monkeypatch, trusted_s, asked):
    """As on a busy machine: what a diff knows of a vendor is never older than its row."""
    found = []
    for vendor in "ab":
        world.platform.control("PUT", f"chains/demo-chain/vendors/{vendor}", {})
        world.erp.put(vendor, "a", "1.00")
    monkeypatch.setattr(each_vendor, "TRUSTED_S", trusted_s)
    monkeypatch.setattr(diff, "for_diff", lambda *asked_for: found.append(sorted(asked_for[2])) or for_diff(*asked_for))
    world.sync("full")
    assert found == asked


class Clock:
    def __init__(self):
        self.at_s = 0.0

    def monotonic_s(self):
        return self.at_s

    def sleep(self, seconds):
        self.at_s += seconds


@pytest.mark.parametrize(
    ("free_after", "wait_s", "done"), [(0, 0.0, ["b", "a"]), (3, 60.0, ["b", "a"]), (3, 2.0, ["b"])]
)
def test_a_taken_vendor_is_tried_again_after_the_others_until_the_wait_is_over(free_after, wait_s, done):
    report, tries = StepReport("deliver"), []

    def one(name):
        tries.append(name)
        if name == "a" and tries.count("a") <= free_after:
            report.taken.append(name)
        else:
            report.do(name)

    in_rounds(Clock(), ["a", "b"], report, one, wait_s=wait_s)
    assert sorted(report.done) == sorted(done)
    assert set(report.skipped) == {"a", "b"} - set(done)


def test_a_vendor_that_failed_is_not_called_again():
    report, tries = StepReport("deliver"), []

    def one(name):
        tries.append(name)
        report.fail(name, "broken")

    in_rounds(Clock(), ["a", "a", "b"], report, one, wait_s=0.0)
    assert (tries, set(report.failed)) == (["a", "b"], {"a", "b"})
