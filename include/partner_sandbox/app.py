"""Builds the platform's two ASGI apps: the service, and the storage host of presigned links."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import httpx
from fastapi import FastAPI
from sqlalchemy import Connection

from partner_sandbox import (
    conformance,
    control,
    demo,
    errors,
    job_files,
    job_runner,
    jobs,
    records,
    scenario,
    tokens,
    vendors,
)
from partner_sandbox.catalog import assortment, creation, listing, update
from partner_sandbox.courier import Courier
from partner_sandbox.edge import Edge
from partner_sandbox.orders import lifecycle, picking
from partner_sandbox.portal import home
from partner_sandbox.portal import router as portal
from partner_sandbox.promotions import update as promotion
from partner_sandbox.sandbox import Sandbox
from partner_sandbox.settings import SandboxSettings

SERVICE = (tokens, vendors, update, listing, creation, job_runner, job_files, promotion, picking)
for steered in (assortment, lifecycle, demo, records, conformance, scenario):
    control.router.include_router(steered.router)


def create_app(
    settings: SandboxSettings | None = None, *, webhook_transport: httpx.AsyncBaseTransport | None = None
) -> FastAPI:
    """The service with its control plane; `app.state.sandbox` is the platform itself.

    Under a server its work goes on by itself. In a process without one (no lifespan), work that is due is done by
    `await app.state.sandbox.work.advance(seconds)` or by POST /_sandbox/clock/advance, and at no other time.
    """

    def seed(connection: Connection) -> None:
        vendors.plant(connection)
        if sandbox.settings.demo:
            demo.fill(connection, sandbox)

    sandbox = Sandbox(settings or SandboxSettings(), seed=seed, webhook_transport=webhook_transport)
    sandbox.open()
    with sandbox.storage.begin() as connection:
        jobs.forget_unqueued(connection)
    sandbox.runners |= {
        "update": job_runner.Runner(update.conclude, update.apply),
        "export": job_runner.Runner(listing.run_export),
        "creation": job_runner.Runner(creation.run),
        "promotion": job_runner.Runner(promotion.conclude, promotion.put_skus),
    }
    sandbox.work.register(job_runner.JobSource(sandbox))
    sandbox.work.register(Courier(sandbox))
    sandbox.work.register(scenario.ScenarioSource(sandbox))

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
    for module in (*SERVICE, control, home, portal):
        app.include_router(module.router)
    app.add_middleware(Edge, sandbox=sandbox)
    return app
