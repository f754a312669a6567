"""A plugin of pytest: the fixture `partner_sandbox` is a running sandbox, as it was when new for each test.

The package registers it where it is installed on its own; elsewhere run `pytest -p partner_sandbox.pytest`. To start the sandbox
otherwise, override the fixture `partner_sandbox_settings`. For one test, `@pytest.mark.partner_sandbox(job_seconds=60, dialect="live")`
changes choices of settings.Behaviour.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from partner_sandbox.running import RunningSandbox
from partner_sandbox.settings import SandboxSettings


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "partner_sandbox(**choices): choices of the sandbox for one test")


@pytest.fixture(scope="session")
def partner_sandbox_settings() -> dict[str, Any]:
    """Arguments of partner_sandbox.settings.SandboxSettings: jobs and changes take no time unless this is overridden."""
    return {"behaviour": {"job_seconds": 0, "propagation_s": 0, "promotion_propagation_s": 0}}


@pytest.fixture(scope="session")
def partner_sandbox_server(partner_sandbox_settings: dict[str, Any]) -> Iterator[RunningSandbox]:
    """One sandbox for the whole run, on a port that the operating system chooses."""
    with RunningSandbox(SandboxSettings(**partner_sandbox_settings)) as running:
        yield running


@pytest.fixture
def partner_sandbox(partner_sandbox_server: RunningSandbox, request: pytest.FixtureRequest) -> RunningSandbox:
    """The sandbox as it was when new: base_url, client_id, client_secret, control(), advance(), play(), check(), ..."""
    partner_sandbox_server.control("POST", "reset")
    for mark in request.node.iter_markers("partner_sandbox"):
        partner_sandbox_server.control("PUT", "settings", mark.kwargs)
    return partner_sandbox_server
