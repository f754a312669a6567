"""The rules and the dashboard are those of the code, and Prometheus takes them. That the metrics are sent: tests of `metrics`."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from monitoring_files import DOCS, RULES, rules
from scripts.reference.monitoring import FILES
from shelfsync.alerts.kind import KINDS


@pytest.mark.parametrize("name", FILES)
def test_each_file_is_what_the_code_states(name):
    stale = (DOCS / name).read_text("utf-8") != FILES[name]()
    assert not stale, "to write it anew, run: .venv/bin/python -m scripts.reference"


def test_every_kind_has_a_rule_with_its_severity_and_runbook():
    found = {(one["labels"]["severity"], one["annotations"]["runbook"], one["expr"]) for one in rules()}
    expected = {(kind.severity, kind.page, f"shelfsync_alerts_open_{kind.name} > 0") for kind in KINDS.values()}
    assert expected <= found
    assert len({one["alert"] for one in rules()}) == len(KINDS) + 1


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool of Debian's package prometheus is not installed")
def test_prometheus_takes_the_rules():
    checked = subprocess.run(["promtool", "check", "rules", str(RULES)], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr
