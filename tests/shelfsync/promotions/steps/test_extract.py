"""The promotions of each store in a file of its own: a store whose file is broken keeps what it has, and the others go on."""

from __future__ import annotations

import datetime as dt

import pytest

from shelfsync.decisions.state import Place
from shelfsync.decisions.steps import decide
from shelfsync.promotions.steps.new_work import approved_waiting

pytestmark = pytest.mark.slow

HEADER = "campaign,sku,price,name,start_time,end_time\n"


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "campaigns"
    folder.mkdir()
    return folder


@pytest.fixture
def write(folder):
    begin, end = (dt.datetime.now(dt.UTC) + dt.timedelta(hours=hours) for hours in (-1, 24))

    def write(store, **prices):
        """The file of a store, and its control file: campaign and SKU -> price."""
        rows = [
            f"{name[:2]},{name[3:]},{price},Offer {name[:2]},{begin:%Y-%m-%dT%H:%M:%SZ},{end:%Y-%m-%dT%H:%M:%SZ}\n"
            for name, price in prices.items()
        ]
        (folder / f"{store}.csv").write_text(HEADER + "".join(rows))
        (folder / f"{store}.count").write_text(str(len(rows)))

    return write


def test_a_store_whose_file_is_broken_keeps_its_promotions_and_the_others_follow_theirs(make_shop, folder, write):
    files = {"sql": None, "files": f"{folder}/{{vendor}}.csv", "control_file": f"{folder}/{{vendor}}.count"}
    write("store-001", c1_a="8", c2_b="8")
    write("store-002", c1_a="8", c3_c="8")
    write("store-003", c4_d="8")
    shop = make_shop(promotions=files)
    assert shop.sync()["state"] == "succeeded"
    write("store-001", c1_a="7")
    write("store-003", c4_d="6")
    (folder / "store-002.csv").write_bytes(b"")
    summary = shop.sync()
    assert summary["state"] == "partly_failed"
    assert "1 vendors could not be read (store-002)" in summary["error"]
    assert "is empty" in summary["error"]
    assert shop.seen("store-002") == {"a": 8.0, "c": 8.0}
    assert shop.seen("store-003") == {"d": 6.0}
    assert shop.seen("store-001") == {"a": 8.0}, "c2 has ended; c1 is store-002's too, so it waits"
    write("store-002", c1_a="7")
    assert shop.sync()["state"] == "succeeded"
    assert (shop.seen("store-001"), shop.seen("store-002")) == ({"a": 7.0}, {"a": 7.0})


def test_an_approval_of_a_store_that_cannot_be_read_starts_one_run_and_no_further_ones(make_shop, folder, write):
    files = {"sql": None, "files": f"{folder}/{{vendor}}.csv", "control_file": f"{folder}/{{vendor}}.count"}
    write("store-001", c1_a="1")
    write("store-002", c3_c="8")
    shop = make_shop(promotions=files)
    shop.sync()
    context = shop.world.app.context
    assert decide.decide(context, 1, approve=True, who="ada", place=Place.PAGE)["decided"]
    assert approved_waiting(context) == ["c1"]
    (folder / "store-001.csv").write_bytes(b"")
    assert shop.sync()["state"] == "partly_failed"
    assert approved_waiting(context) == [], "a run has met it; the next one by its schedule sends it"
    write("store-001", c1_a="1")
    shop.sync()
    assert shop.seen("store-001") == {"a": 1.0}
