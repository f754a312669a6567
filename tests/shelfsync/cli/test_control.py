"""`shelfsync pause` and `resume`, as a script sees them."""

from __future__ import annotations

import pytest

from documents import data


@pytest.mark.slow
def test_a_pause_is_seen_by_status_and_by_the_next_sync_until_it_is_resumed(run, sandbox):
    assert run("pause", "--whole-chain", "--reason", "wrong prices", "--user", "ada").returncode == 0
    done = run("sync")
    assert (done.returncode, "PAUSED: chain demo-chain is paused by ada" in done.stdout) == (9, True), done.stderr
    assert "wrong prices" in run("status").stdout
    urgent = run("sync", "--vendor", "store-001", "--sku", "a")
    assert (urgent.returncode, "paused by ada" in urgent.stdout) == (9, True), urgent.stderr
    assert [entry for entry in sandbox.journal()["entries"] if entry["operation"] == "put_catalog"] == []
    assert run("resume", "--whole-chain", "--user", "ada").returncode == 0
    assert data(run("sync", "--json").stdout)["accepted"] == 1


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [(), ("store-001", "--all"), ("--all", "--whole-chain")])
def test_a_pause_names_exactly_one_thing(run, arguments):
    done = run("pause", *arguments, "--reason", "because")
    assert done.returncode == 2
    assert "name one of" in done.stderr
