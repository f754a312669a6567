"""A uvicorn server that ends as soon as it is told to: tests start and stop hundreds of them."""

from __future__ import annotations

import asyncio
import itertools
from typing import TYPE_CHECKING

import uvicorn

if TYPE_CHECKING:
    import socket

TICK_S = 0.02


class PromptServer(uvicorn.Server):
    """Looks often whether it should end, and waits for callers only where there are some."""

    async def main_loop(self) -> None:
        for tick in itertools.cycle(range(1_000_000)):
            if await self.on_tick(tick):
                return
            await asyncio.sleep(TICK_S)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()  # closes those that wait for nothing
        await asyncio.sleep(0)
        if self.server_state.connections or self.server_state.tasks:
            await super().shutdown(sockets)
            return
        for listener in sockets or ():
            listener.close()
        await self.lifespan.shutdown()
