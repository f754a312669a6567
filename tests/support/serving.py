"""A shelfsync app on a loopback port that the operating system chose, in a thread of the test's own process."""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import TYPE_CHECKING

from partner_sandbox.server import PromptServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    import uvicorn


@contextlib.contextmanager
def serving(application: uvicorn.Config) -> Iterator[str]:
    """Yields its address; the server ends with the block."""
    server = PromptServer(application)
    listener = socket.create_server(("127.0.0.1", 0), backlog=128)
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(20)
