"""`runs list` and `runs show`: what each run did, and what to run when it failed."""

from __future__ import annotations

import pytest

from command_tree import parse
from documents import data, error

pytestmark = pytest.mark.slow


def test_the_last_runs_are_listed_newest_first_and_by_kind_and_state(run):
    assert run("runs", "list").stdout == "there is no run yet\n"
    for words in (("sync", "--full"), ("plan",), ("sync",)):
        assert run(*words).returncode == 0
    rows = data(run("runs", "list", "--json").stdout)["runs"]
    assert [(row["run_id"], row["kind"], row["dry_run"], row["state"]) for row in rows] == [
        (3, "delta", False, "succeeded"),
        (2, "delta", True, "succeeded"),
        (1, "full", False, "succeeded"),
    ]
    assert [rows[2][name] for name in ("vendors", "rows_read", "sent", "accepted", "rejected")] == [1, 2, 2, 1, 1]
    found = data(run("runs", "list", "--kind", "delta", "--limit", "1", "--json").stdout)["runs"]
    assert [row["run_id"] for row in found] == [3]
    assert data(run("runs", "list", "--state", "failed", "--json").stdout) == {"runs": []}
    assert len(run("runs", "list").stdout.splitlines()) == 3


def test_a_run_that_failed_in_part_names_its_vendors_and_the_next_command(run, tmp_path):
    (tmp_path / "stock.csv").write_text("vendor,sku,price\nstore-001,a,1\nnowhere,a,1\n", encoding="utf-8")
    assert run("sync", "--vendor", "store-001", "--vendor", "nowhere").returncode == 9
    found = data(run("runs", "show", "1", "--json").stdout)
    assert (found["state"], found["vendors"], found["vendors_failed"]) == ("partly_failed", 2, 1)
    states = {one["vendor"]: (one["state"], one["failed_step"]) for one in found["of_vendors"]}
    assert states == {"nowhere": ("failed", "deliver"), "store-001": ("acknowledged", None)}
    assert found["next"] == "shelfsync sync --vendor nowhere"
    parse(found["next"])
    text = run("runs", "show", "1").stdout
    assert "vendor nowhere: failed at deliver" in text
    assert text.splitlines()[-1] == "next: shelfsync sync --vendor nowhere"


def test_a_run_that_holds_something_names_the_hold(run, tmp_path):
    assert run("sync", "--full").returncode == 0
    (tmp_path / "stock.csv").write_text(
        "vendor,sku,price,quantity,active\nstore-001,a,12.345,4,1\nstore-001,b,2,4,1\n", encoding="utf-8"
    )
    assert run("sync").returncode == 10
    found = data(run("runs", "show", "2", "--json").stdout)
    assert [(hold["vendor"], hold["state"]) for hold in found["holds"]] == [("store-001", "open")]
    assert found["next"] == f"shelfsync holds show {found['holds'][0]['hold_id']}"


def test_a_run_that_is_not_there_is_exit_code_4(run):
    done = run("runs", "show", "4711", "--json")
    assert (done.returncode, done.stderr.count("\n")) == (4, 1)
    assert "shelfsync runs list" in error(done.stdout)["message"]
