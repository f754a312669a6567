"""Builds the platform's two ASGI apps: the service, and the storage host of presigned links."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import httpx
from fastapi import FastAPI

from partner_sandbox import errors
from partner_sandbox.access.outlet import router as outlet_router
from partner_sandbox.access.router import router as access_router
from partner_sandbox.catalog import creation, export, update
from partner_sandbox.catalog.creation_router import router as creation_router
from partner_sandbox.catalog.router import router as catalog_router
from partner_sandbox.control.chains import router as chains_router
from partner_sandbox.control.orders import router as orders_control_router
from partner_sandbox.control.router import router as control_router
from partner_sandbox.edge import Edge
from partner_sandbox.jobs import jobs
from partner_sandbox.jobs.router import router as jobs_router
from partner_sandbox.jobs.runner import JobSource
from partner_sandbox.orders.router import router as orders_router
from partner_sandbox.portal.router import router as portal_router
from partner_sandbox.promotions import apply as promotion
from partner_sandbox.promotions.router import router as promotions_router
from partner_sandbox.sandbox import Sandbox, plant
from partner_sandbox.settings import SandboxSettings
from partner_sandbox.webhooks.courier import Courier

SERVICE = (
    access_router,
    outlet_router,
    catalog_router,
    creation_router,
    jobs_router,
    promotions_router,
    orders_router,
)
control_router.include_router(chains_router)
control_router.include_router(orders_control_router)


def create_app(
    settings: SandboxSettings | None = None, *, webhook_transport: httpx.AsyncBaseTransport | None = None
) -> FastAPI:
    """The service with its control plane; `app.state.sandbox` is the platform itself.

    Under a server its work goes on by itself. In a process without one (no lifespan), work that is due is done by
    `await app.state.sandbox.work.advance(seconds)` or by POST /_sandbox/clock/advance, and at no other time.
    """
    sandbox = Sandbox(settings or SandboxSettings(), seed=plant, webhook_transport=webhook_transport)
    sandbox.open()
    with sandbox.storage.begin() as connection:
        jobs.forget_unqueued(connection)
    sandbox.runners |= {
        "update": update.run,
        "export": export.run,
        "creation": creation.run,
        "promotion": promotion.run,
    }
    sandbox.work.register(JobSource(sandbox))
    sandbox.work.register(Courier(sandbox))

    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        task = asyncio.create_task(sandbox.work.run_forever())
        try:
            yield
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    app = FastAPI(title="Partner sandbox", lifespan=lifespan, openapi_url=None, redirect_slashes=False)
    app.state.sandbox = sandbox
    errors.register(app)
    for router in SERVICE:
        app.include_router(router)
    app.include_router(control_router)
    app.include_router(portal_router)
    app.add_middleware(Edge, sandbox=sandbox)
    return app
