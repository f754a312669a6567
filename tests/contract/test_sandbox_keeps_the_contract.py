"""The platform against the contract: no request gets a 5xx or an answer that contract/openapi.yaml does not describe."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import schemathesis
import yaml
from hypothesis import HealthCheck, settings
from schemathesis.checks import negative_data_rejection, positive_data_acceptance
from schemathesis.core.failures import FailureGroup

from sandbox_fixture import LiveSandbox

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow
CONTRACT = Path(__file__).parents[2] / "contract" / "openapi.yaml"
contract = schemathesis.openapi.from_path(CONTRACT)
contract.config.generation.update(allow_extra_parameters=False)  # the service ignores parameters it does not know


# The contract describes what every dialect reads; one rejects or accepts more than another.
REJECTS = {"live": {"token"}, "legacy": {"put_catalog"}}
ACCEPTS = {"live": {"put_catalog", "list_catalog"}, "legacy": set[str]()}


@pytest.fixture(
    scope="module", params=["spec", *(pytest.param(name, marks=pytest.mark.proof) for name in ("live", "legacy"))]
)
def platform(request: pytest.FixtureRequest) -> Iterator[LiveSandbox]:
    """In the pilot of product creation, with a few products, jobs and files to be found."""
    with LiveSandbox(dialect=request.param) as live, live.partner() as partner:
        live.control("PUT", "chains/demo-chain", {"creation_enabled": True, "tokens": ["contract-token"]})
        products = [{"sku": f"S{n}", "price": n / 3, "categories": ["c"]} for n in range(60)]
        live.put_products("store-001", products)
        partner.put("/v2/chains/demo-chain/vendors/store-001/catalog", json={"products": [{"sku": "S1"}]})
        live.until_quiescent()
        yield live


@contract.parametrize()
@settings(max_examples=15, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_every_answer_is_described(case: schemathesis.Case, platform: LiveSandbox) -> None:
    operation, dialect = case.operation.definition.raw["operationId"], platform.control("GET", "state")["dialect"]
    rules = {"put_promotion", "put_order", "list_orders", "list_orders_at_orders"}  # more than a schema can express
    excluded = [
        check
        for check, operations in (
            (positive_data_acceptance, rules | REJECTS.get(dialect, set())),
            (negative_data_rejection, ACCEPTS.get(dialect, set())),
        )
        if operation in operations
    ]
    headers = {"Authorization": "Bearer contract-token"}
    case.call_and_validate(base_url=platform.base_url, headers=headers, excluded_checks=excluded)


def test_the_check_detects_an_undescribed_answer(platform: LiveSandbox) -> None:
    path = "/v2/chains/{chain_id}/vendors/{vendor_id}/catalog"
    incomplete = yaml.safe_load(CONTRACT.read_text(encoding="utf-8"))
    del incomplete["paths"][path]["get"]["responses"]["404"]
    operation = schemathesis.openapi.from_dict(incomplete)[path]["GET"]
    case = operation.Case(path_parameters={"chain_id": "demo-chain", "vendor_id": "nowhere"})
    with pytest.raises(FailureGroup):
        case.call_and_validate(base_url=platform.base_url, headers={"Authorization": "Bearer contract-token"})
