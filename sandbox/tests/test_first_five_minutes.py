"""What a newcomer meets first: the lines that the start prints, the page at `/`, and the products of the demo."""

from __future__ import annotations

import html
import json
import subprocess

import httpx
import pytest

from partner_sandbox import demo
from partner_sandbox.settings import SandboxSettings
from sandbox_fixture import LiveSandbox

CHAIN = "/v2/chains/demo-chain"


def pasted(script: str) -> list[str]:
    """What a shell prints for these lines, the answers one a line."""
    lines = script.replace("curl -s ", "curl -sS --fail-with-body -w '\\n' ")
    ran = subprocess.run(["bash", "-ec", lines], capture_output=True, text=True, check=False, timeout=60)
    assert ran.returncode == 0, ran.stderr + ran.stdout
    return ran.stdout.splitlines()


def test_the_commands_that_the_start_prints_work_when_pasted(platform):
    lines = demo.first_lines(platform.base_url, demo=False)
    filled, job = [json.loads(line) for line in pasted("\n".join(line for line in lines if not line.startswith(" ")))]
    assert filled["filled"] == list(platform.vendors)
    assert job["job_status"] == "QUEUED"
    platform.advance(0)
    assert platform.products("store-001")["MILK-1L"]["price"] == 1.35


def test_the_commands_of_a_start_with_the_demo_end_with_an_order(platform):
    platform.control("POST", "demo")
    lines = demo.first_lines(platform.base_url, demo=True)
    _, order = [json.loads(line) for line in pasted("\n".join(line for line in lines if not line.startswith(" ")))]
    assert order["items"][0]["sku"] == "MILK-1L"


def test_the_front_page_names_what_it_is_who_to_be_and_what_to_do(platform):
    answer = httpx.get(f"{platform.base_url}/", trust_env=False)
    assert answer.headers["content-type"].startswith("text/html")
    shown = html.unescape(answer.text)
    for text in (platform.base_url, "demo-chain", "demo-client", "demo-secret", 'href="/portal"', *demo.FACTS):
        assert text in shown
    for step in (*demo.first_steps(platform.base_url), demo.webhook_step(platform.base_url)):
        assert step.command in shown
    assert httpx.get(f"{platform.base_url}/portal/style.css", trust_env=False).status_code == 200


def test_the_front_page_is_no_request_of_the_interface(platform):
    platform.control("PUT", "settings", {"requests_per_minute": 1})
    for _ in range(3):
        assert httpx.get(f"{platform.base_url}/", trust_env=False).status_code == 200
    assert platform.journal()["requests"] == 0


def test_the_demo_shows_products_of_every_kind_in_a_tree_of_categories(platform, partner):
    platform.control("POST", "demo")
    listed = partner.get(f"{CHAIN}/vendors/store-006/catalog").json()["products"]
    assert {row["active"] for row in listed} == {row["is_sold_by_weight"] for row in listed} == {True, False}
    assert all(row["categories"] for row in listed)
    tree = partner.get(f"{CHAIN}/vendors/store-006/categories", params={"only_leaves": "false"}).json()["categories"]
    parents = {row["global_id"]: row["parent_global_id"] for row in tree}
    assert parents["dairy"] == "fresh"
    assert parents["fresh"] is None


def test_the_demo_leaves_a_vendor_with_products_as_it_is(platform):
    platform.put_products("store-002", [{"sku": "OWN", "price": 1}])
    assert "store-002" not in platform.control("POST", "demo")["filled"]
    assert list(platform.products("store-002")) == ["OWN"]
    assert platform.control("POST", "demo")["filled"] == []


def test_the_demo_reports_whether_events_are_sent_and_how_to_receive_them(platform):
    demo = platform.control("POST", "demo")
    assert demo["webhook"] == {"catalog_url": None, "order_url": None, "secret_set": False}
    assert pasted(demo["next"][-1]["command"])
    assert platform.control("POST", "demo")["webhook"]["secret_set"] is True


def test_a_reset_fills_the_vendors_again_that_the_start_filled():
    with LiveSandbox(SandboxSettings(demo=True)) as live:
        live.put_products("store-001", [])
        live.control("POST", "reset")
        assert "MILK-1L" in live.products("store-001")


@pytest.mark.parametrize("forged", ["<script>", '"onload="x'])
def test_the_front_page_escapes_the_address_by_which_it_was_called(platform, forged):
    answer = httpx.get(f"{platform.base_url}/", headers={"Host": forged}, trust_env=False)
    assert forged not in answer.text
