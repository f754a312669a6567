"""Bad configuration ends in one clear line that names the setting and the remedy, before anything is sent."""

from __future__ import annotations

import re
import socket
from typing import TYPE_CHECKING

import pytest

from airflow_world import states

if TYPE_CHECKING:
    from airflow_world import World

pytestmark = pytest.mark.slow


def closed_port() -> int:
    """A port of this machine on which no process listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


WRONG = {
    "no connection and no setting": ("PLATFORM__CHAIN", None, "SHELFSYNC_PLATFORM__CHAIN: not set, and there is no connection shelfsync_platform"),
    "wrong credentials": ("PLATFORM__CLIENT_SECRET", "not-the-secret", "SHELFSYNC_PLATFORM__CLIENT_SECRET"),
    "wrong chain": ("PLATFORM__CHAIN", "no-such-chain", "SHELFSYNC_PLATFORM__CHAIN"),
    "unreachable host": ("PLATFORM__BASE_URL", f"http://127.0.0.1:{closed_port()}", "SHELFSYNC_PLATFORM__BASE_URL"),
    "no such ERP": ("ERP__URL", "postgresql+psycopg://u:erp-password@127.0.0.1:1/erp", "SHELFSYNC_ERP__URL"),
    "SQL without the key": ("ERP__SQL", "SELECT price, quantity FROM stock", "SHELFSYNC_ERP__COLUMNS"),
    "no such database": ("DATABASE_URL", "postgresql://u:ledger-password@127.0.0.1:1/ledger", "SHELFSYNC_DATABASE_URL"),
    "a value that is none": ("SYNC__VENDORS_PER_SHARD", "many", "SHELFSYNC_SYNC__VENDORS_PER_SHARD"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "value", "lines"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_setting_is_reported_in_one_line_and_nothing_is_sent(
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    name: str,
    value: str | None,
    lines: str,
) -> None:
    if value is None:
        monkeypatch.delenv(f"SHELFSYNC_{name}")
    else:
        monkeypatch.setenv(f"SHELFSYNC_{name}", value)
    run = world.run("catalog_full_sync", vendors=["store-001"])
    ended = states(run)
    assert (ended["check"], ended["extract"], ended["report"]) == ({"failed"}, {"upstream_failed"}, {"failed"})
    assert ended["deliver"] == {"upstream_failed"}
    assert world.sent() == []
    # What does not answer is tried again: the same line once for each try.
    (line,) = {record.getMessage() for record in caplog.records if record.name == "shelfsync_airflow.app"}
    assert lines in line
    assert "\n" not in line
    assert "password" not in line
    assert re.search(r"\. \[docs/reference/errors\.md#[\w.]+\]$", line)
