"""The control plane against its contract: no call gets a 5xx or an answer that /_sandbox/openapi.json does not describe."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import (
    content_type_conformance,
    not_a_server_error,
    response_schema_conformance,
    status_code_conformance,
)

import partner_sandbox.server  # joins the routes
from partner_sandbox import contract, control
from sandbox_fixture import LiveSandbox

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow

assert partner_sandbox.server
CONTRACT = schemathesis.openapi.from_dict(contract.control(control.router.routes, "http://127.0.0.1"))
DESCRIBED = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


@pytest.fixture(scope="module")
def platform() -> Iterator[LiveSandbox]:
    with LiveSandbox(clock="virtual") as live:
        live.control("POST", "demo")
        live.control("POST", "chains/demo-chain/vendors/store-001/orders", {"items": [{"sku": "SOAP"}]})
        yield live


@pytest.mark.proof
@CONTRACT.parametrize()
@settings(max_examples=15, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_every_answer_is_described(case: schemathesis.Case, platform: LiveSandbox) -> None:
    case.call_and_validate(base_url=platform.base_url, checks=DESCRIBED)
