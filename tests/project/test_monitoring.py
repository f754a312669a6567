"""The rules and the dashboard are those of the code, and Prometheus takes them. That the metrics are sent: tests of `metrics`."""

from __future__ import annotations

import shutil
import subprocess

import pytest
import yaml

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


needs_promtool = pytest.mark.skipif(
    shutil.which("promtool") is None, reason="promtool of Debian's package prometheus is not installed"
)


def promtool(*words):
    done = subprocess.run(["promtool", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@needs_promtool
def test_prometheus_takes_the_rules():
    promtool("check", "rules", str(RULES))


LOOKED = "shelfsync_alerts_looked_at"
ONE, NORTH, SOUTH = LOOKED, f'{LOOKED}{{chain="north"}}', f'{LOOKED}{{chain="south"}}'
FINE, STANDS, ENDS = "0+60x60", "0+60x9 540x50", "0+60x9"
"""A minute each: it looks; it does not look any more, and its last value stays; after ten minutes, no metric comes."""


@needs_promtool
@pytest.mark.parametrize(
    ("series", "silent"),
    [
        ({NORTH: FINE, SOUTH: FINE}, []),
        ({NORTH: FINE, SOUTH: ENDS}, ["south"]),
        ({NORTH: FINE, SOUTH: STANDS}, ["south"]),
        ({NORTH: ENDS, SOUTH: STANDS}, ["north", "south"]),
        ({ONE: FINE}, []),
        ({ONE: STANDS}, [""]),
        ({f'{LOOKED}{{instance="a"}}': ENDS, f'{LOOKED}{{instance="b"}}': FINE}, []),
        ({"up": "1+0x60"}, [""]),
    ],
)
def test_a_chain_of_which_no_watch_looks_is_named_whatever_the_others_do(tmp_path, series, silent):
    (rule,) = (one for one in rules() if one["alert"] == "ShelfsyncWatchSilent")
    expected = []
    for chain in silent:
        whose = f"shelfsync {chain}" if chain else "shelfsync"
        texts = {**rule["annotations"], "summary": f"{whose}: no watch looks at what is wrong"}
        labels = rule["labels"] | ({"chain": chain} if chain else {})
        expected.append({"exp_labels": labels, "exp_annotations": texts})
    case = {
        "interval": "1m",
        "input_series": [{"series": name, "values": values} for name, values in series.items()],
        "alert_rule_test": [{"eval_time": "40m", "alertname": rule["alert"], "exp_alerts": expected}],
    }
    file = tmp_path / "test.yaml"
    file.write_text(yaml.safe_dump({"rule_files": [str(RULES.resolve())], "tests": [case]}), "utf-8")
    promtool("test", "rules", str(file))


@needs_promtool
def test_an_open_alert_of_one_chain_names_that_chain(tmp_path):
    (rule,) = (one for one in rules() if one["alert"] == "ShelfsyncStoreLate")
    labels = {**rule["labels"], "chain": "south"}
    texts = {**rule["annotations"], "summary": "shelfsync south: a store is late (2)"}
    case = {
        "interval": "1m",
        "input_series": [
            {"series": 'shelfsync_alerts_open_store_late{chain="north"}', "values": "0+0x9"},
            {"series": 'shelfsync_alerts_open_store_late{chain="south"}', "values": "2+0x9"},
        ],
        "alert_rule_test": [
            {
                "eval_time": "5m",
                "alertname": rule["alert"],
                "exp_alerts": [{"exp_labels": labels, "exp_annotations": texts}],
            }
        ],
    }
    file = tmp_path / "test.yaml"
    file.write_text(yaml.safe_dump({"rule_files": [str(RULES.resolve())], "tests": [case]}), "utf-8")
    promtool("test", "rules", str(file))
