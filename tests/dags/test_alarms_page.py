"""The listener that docs/how-to/alarms.md names: a failed task and a failed run reach the webhook, with the text of the alarm."""

from __future__ import annotations

import http.server
import json
import threading
from typing import TYPE_CHECKING

import pytest

from airflow_world import PROJECT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from airflow_world import World

pytestmark = pytest.mark.slow

LISTENER = PROJECT / "docs/how-to/airflow_failures.py"


@pytest.fixture
def messages(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What the webhook of the page received."""
    received: list[str] = []

    class Webhook(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append(json.loads(self.rfile.read(int(self.headers["Content-Length"])))["text"])
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Webhook) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("ALARMS_URL", f"http://127.0.0.1:{server.server_port}")
        yield received
        server.shutdown()


def test_the_listener_of_the_page_sends_the_text_of_a_failed_task_and_of_its_run(
    world: World, messages: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from airflow.listeners.listener import get_listener_manager as of_scheduler
    from airflow.sdk.listener import get_listener_manager as of_tasks

    plugin: dict[str, object] = {}
    exec(compile(LISTENER.read_text("utf-8"), str(LISTENER), "exec"), plugin)
    (listener,) = plugin["Alarms"].listeners  # type: ignore[attr-defined]
    managers = (of_scheduler(), of_tasks())
    for manager in managers:
        manager.add_listener(listener)
    monkeypatch.setenv("SHELFSYNC_PLATFORM__CLIENT_SECRET", "not-the-secret")
    try:
        world.run("catalog_full_sync", vendors=["store-001"])
    finally:
        for manager in managers:
            manager.pm.unregister(listener)
    (check,) = [text for text in messages if text.startswith("catalog_full_sync, check: ")]
    assert "SHELFSYNC_PLATFORM__CLIENT_SECRET" in check
    assert any(text.startswith("catalog_full_sync failed: run ") for text in messages)
    assert "not-the-secret" not in "".join(messages)
