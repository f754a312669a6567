"""What a newcomer needs first, as the start prints it and the front page shows it: addresses, credentials, commands to paste."""

from __future__ import annotations

from dataclasses import dataclass

from partner_sandbox.vendors import CHAIN, CLIENT_ID, CLIENT_SECRET, VENDORS

JSON = "-H 'Content-Type: application/json'"
VENDOR = VENDORS[0]
SKU = "MILK-1L"
"""A product of the demo."""
FACTS = (
    "Vendors start empty. Start with --demo, or run the first command.",
    "Customers see a change 15 minutes after its job. To see it at once: --set propagation_s=0.",
    "Customers see a promotion 15 minutes after its job. To see it at once: --set promotion_propagation_s=0.",
    "Without a webhook secret the sandbox sends no event.",
)


@dataclass(frozen=True)
class Step:
    """One command of curl, and what it does."""

    does: str
    command: str


def first_steps(base_url: str) -> tuple[Step, ...]:
    """From empty vendors to an order; the third one uses the second's token."""
    catalog = f"{base_url}/v2/chains/{CHAIN}/vendors/{VENDOR}/catalog"
    orders = f"{base_url}/_sandbox/chains/{CHAIN}/vendors/{VENDOR}/orders"
    credentials = f"-d grant_type=client_credentials -d client_id={CLIENT_ID} -d client_secret={CLIENT_SECRET}"
    pick = r"""sed 's/.*"access_token": *"\([^"]*\)".*/\1/'"""
    price = f'{{"products": [{{"sku": "{SKU}", "price": 1.35, "active": true}}]}}'
    items = f'{{"items": [{{"sku": "{SKU}", "quantity": 2}}]}}'
    return (
        Step("fill the vendors", f"curl -s -X POST {base_url}/_sandbox/demo"),
        Step("take a token", f"TOKEN=$(curl -s {base_url}/v2/oauth/token {credentials} | {pick})"),
        Step(
            "change a price, as a job",
            f"""curl -s -X PUT {catalog} -H "Authorization: Bearer $TOKEN" {JSON} -d '{price}'""",
        ),
        Step("order as a customer", f"curl -s -X POST {orders} {JSON} -d '{items}'"),
    )


def webhook_step(base_url: str) -> Step:
    """How to receive events."""
    body = '{"catalog_url": "http://127.0.0.1:9000/jobs", "order_url": "http://127.0.0.1:9000/orders", "secret": "any text"}'
    path = f"{base_url}/_sandbox/chains/{CHAIN}/webhook"
    return Step("receive events at an address of yours", f"curl -s -X PUT {path} {JSON} -d '{body}'")


def first_lines(base_url: str, *, demo: bool) -> list[str]:
    """What the start prints after its address: where to go, who to be, and three commands to paste."""
    steps = first_steps(base_url)[1:] if demo else first_steps(base_url)[:3]
    vendors = f"{VENDORS[0]} to {VENDORS[-1]}, {'with the products of the demo' if demo else 'without products'}"
    return [
        f"  portal     {base_url}/portal",
        f"  reference  {base_url}/reference, control plane {base_url}/_sandbox/reference",
        f"  chain      {CHAIN}",
        f"  vendors    {vendors}",
        f"  client     {CLIENT_ID}",
        f"  secret     {CLIENT_SECRET}",
        "",
        *(f"# {step.does}\n{step.command}" for step in steps),
    ]
