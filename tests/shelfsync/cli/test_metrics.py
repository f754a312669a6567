"""`metrics` writes what the rules and the dashboard ask for."""

from __future__ import annotations

import json
import stat

import pytest

from monitoring_files import asked_metrics


@pytest.mark.slow
def test_the_gauges_are_those_that_the_rules_ask_for_and_a_file_is_whole_and_readable(process, tmp_path):
    file = tmp_path / "shelfsync.prom"
    assert process("pause", "--all", "--reason", "stocktaking").returncode == 0
    assert process("alerts", "watch").returncode == 0
    assert process("metrics", "--output", str(file)).returncode == 0
    lines = file.read_text("utf-8").splitlines()
    assert "shelfsync_alerts_open_paused 1.0" in lines
    assert "shelfsync_alerts_open_store_late 0.0" in lines
    assert stat.S_IMODE(file.stat().st_mode) == 0o644
    assert [one.name for one in tmp_path.glob("*.prom*")] == [file.name]
    sent = json.loads(process("metrics", "--json").stdout)["data"]
    assert asked_metrics("!shelfsync_inbox_") - set(sent) == set()
    away = process("metrics", "--output", str(tmp_path / "missing" / "x.prom"))
    assert away.returncode == 3
    assert "there is no folder" in away.stderr
    assert process("metrics", "--output", str(file)).returncode == 0  # its own is replaced
