"""The command after a run, by its state, its vendors and what it holds."""

from __future__ import annotations

import pytest

from shelfsync.catalog.next_command import NAMED_MAX, next_command

RUN = {"kind": "delta", "dry_run": False, "alive": False, "vendors_asked": (), "skus": ()}
FAILED, BUSY = {"vendor": "a", "state": "failed"}, {"vendor": "b", "state": "busy"}
HELD = [{"hold_id": 7, "state": "declined"}, {"hold_id": 8, "state": "open"}, {"hold_id": 9, "state": "open"}]


@pytest.mark.parametrize(
    ("changed", "vendors", "holds", "command"),
    [
        ({"state": "running", "alive": True}, [], [], None),
        ({"state": "running"}, [], [], "shelfsync recover"),
        ({"state": "succeeded"}, [], [], None),
        ({"state": "succeeded"}, [BUSY], HELD, "shelfsync holds show 8"),
        ({"state": "partly_failed"}, [FAILED, BUSY], HELD, "shelfsync sync --vendor a"),
        ({"state": "failed", "kind": "full"}, [FAILED], [], "shelfsync sync --full --vendor a"),
        ({"state": "failed", "dry_run": True}, [FAILED], [], "shelfsync plan --vendor a"),
        ({"state": "failed", "skus": ("x",)}, [], [], "shelfsync sync --sku x"),
        ({"state": "passed_over"}, [FAILED, BUSY], [], "shelfsync sync --vendor b"),
        ({"state": "failed"}, [FAILED] * (NAMED_MAX + 1), [], "shelfsync sync"),
        ({"state": "failed", "vendors_asked": ("z",)}, [], [], "shelfsync sync --vendor z"),
    ],
)
def test_the_command_finishes_what_is_left(changed, vendors, holds, command):
    assert next_command(RUN | changed, vendors, holds) == command
