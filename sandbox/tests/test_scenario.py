"""A scenario file: steps over the clock, played through the control plane, the command line and the fixture of pytest."""

from __future__ import annotations

import subprocess
import sys

import httpx
import pytest

from partner_sandbox.cli import main
from partner_sandbox.running import RunningSandbox
from partner_sandbox.settings import SandboxSettings
from partner_sandbox.storage import Storage

FILE = """
title: A morning
settings: {requests_per_minute: 1000}
vendors: {store-001: {sales_buffer: 2}}
products:
  store-001:
    - {sku: MILK, price: 1.005, max_sales_quantity: 9}
    - {sku: BREAD, price: 2}
steps:
  - {at: 10m, name: first, order: {vendor: store-001, items: [{sku: MILK, quantity: 2}]}}
  - {at: 1h 30m, cancel: {order: first, by: LOGISTICS}}
  - {at: 20m, every: 5m, times: 3, name: more, order: {vendor: store-001, items: [{sku: BREAD}]}}
  - {at: 31m, cancel: more-2}
  - {at: 40m, faults: {rules: [{at: list_catalog, kind: status_503}]}}
length: 2h
"""


def play(platform, text=FILE):
    return platform.play(text)


def states(platform, number=1):
    return [
        (step["time"][11:16], step["action"], step["state"])
        for step in platform.control("GET", f"scenarios/{number}")["steps"]
    ]


@pytest.fixture
def begun(platform):
    """At midnight, so that the steps have round times."""
    now = platform.control("GET", "state")["now"]
    hour, minute, second = int(now[11:13]), int(now[14:16]), float(now[17:23])
    platform.advance(86_400 - hour * 3600 - minute * 60 - second)
    return platform


def test_the_start_happens_at_once_and_each_step_at_its_time(begun):
    play(begun)
    assert begun.products("store-001")["MILK"]["price"] == 1.005
    assert {state for _, _, state in states(begun)[:3]} == {"done"}
    assert begun.control("GET", "chains/demo-chain/orders")["total"] == 0
    begun.advance(600)
    (order,) = begun.control("GET", "chains/demo-chain/orders")["orders"]
    assert (order["items"][0]["pricing"]["quantity"], order["sys"]["created_at"][11:16]) == (2, "00:10")
    begun.advance(7200)
    assert states(begun)[3:] == [
        ("00:10", "order", "done"),
        ("00:20", "order", "done"),
        ("00:25", "order", "done"),
        ("00:30", "order", "done"),
        ("00:31", "cancel", "done"),
        ("00:40", "faults", "done"),
        ("01:30", "cancel", "done"),
    ]
    orders = begun.control("GET", "chains/demo-chain/orders")["orders"]
    assert [order["status"] for order in orders] == ["CANCELLED", "RECEIVED", "CANCELLED", "RECEIVED"]
    assert orders[0]["cancellation"]["cancelled_by"] == "LOGISTICS"
    assert begun.control("GET", "faults")["rules"][0]["kind"] == "status_503"
    assert begun.control("GET", "scenarios/1")["next_in_s"] is None


def test_json_is_a_scenario_too(platform):
    found = platform.play({"steps": [{"at": 5, "settings": {"job_seconds": 7}}]})
    assert (found["next_in_s"], found["title"]) == (5, "")
    platform.advance(5)
    assert platform.control("GET", "settings")["job_seconds"] == 7


def test_a_step_that_fails_reports_why_and_the_others_go_on(platform):
    platform.play(
        {
            "products": {"store-001": [{"sku": "A", "price": 1}]},
            "steps": [
                {"order": {"vendor": "nowhere", "items": [{"sku": "A"}]}},
                {"cancel": "nothing"},
                {"products": {"store-002": [{"sku": "A", "color": 1}]}},
                {"settings": {"dialect": "klingon"}},
                {"order": {"vendor": "store-001", "items": [{"sku": "A"}]}},
            ],
        }
    )
    found = platform.control("GET", "scenarios/1")
    assert [step["state"] for step in found["steps"]] == ["done", "failed", "failed", "failed", "failed", "done"]
    problems = [step["problem"] for step in found["steps"] if step["problem"]]
    assert "Vendor not found" in problems[0]
    assert "no order named 'nothing'" in problems[1]
    assert "color" in problems[2]
    assert "dialect" in problems[3]
    assert found["failed"] == 4


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[1]", "must be an object"),
        ("a: [", "line 1"),
        ("orders: []", "orders: is not a known field; known are chain"),
        ("steps: [{at: 1}]", "steps[0]: has 0 actions"),
        ("steps: [{cancel: a, dispatch: b}]", "steps[0]: has 2 actions"),
        ("steps: [{at: soon, cancel: a}]", "steps[0].at: must be a number of seconds"),
        ("steps: [{at: -1, cancel: a}]", "steps[0].at"),
        ("steps: [{cancel: a, times: 3}]", "every is required"),
        ("steps: [{order: {vendor: v, items: [{sku: A, qty: 2}]}}]", "qty"),
        ("faults: {rules: [{at: token, kind: x, colour: 1}]}", "colour"),
        ("!!python/object/apply:os.system ['true']", "no YAML"),
    ],
)
def test_a_wrong_file_is_rejected_with_its_place(platform, text, why):
    answer = httpx.post(f"{platform.base_url}/_sandbox/scenarios", content=text)
    assert (answer.status_code, why in answer.json()["message"]) == (400, True), answer.text
    assert httpx.get(f"{platform.base_url}/_sandbox/scenarios/1").status_code == 404


def test_a_scenario_may_begin_with_a_reset(platform):
    platform.put_products("store-002", [{"sku": "OLD"}])
    platform.play({"reset": True, "products": {"store-001": [{"sku": "A"}]}})
    assert (platform.products("store-002"), list(platform.products("store-001"))) == ({}, ["A"])


@pytest.mark.slow
def test_law_a_restart_plays_each_step_once(tmp_path):
    steps = {
        "products": {"store-001": [{"sku": "A", "price": 1}]},
        "steps": [{"at": 1, "every": 1, "times": 20, "order": {"vendor": "store-001", "items": [{"sku": "A"}]}}],
    }
    settings = SandboxSettings(data=tmp_path, clock="virtual")
    with RunningSandbox(settings) as first:
        first.play(steps)
        first.advance(7)
        now = first.control("GET", "state")["now"]
    with RunningSandbox(settings.model_copy(update={"clock_start": None})) as second:
        second.advance(60)
        assert second.control("GET", "chains/demo-chain/orders")["total"] == 20
        assert now < second.control("GET", "state")["now"]


def test_a_transaction_within_one_is_a_part_of_it(tmp_path):
    storage = Storage(tmp_path)
    storage.open()
    with storage.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE t (x)")

    def fail() -> None:
        with storage.begin() as outer:
            outer.exec_driver_sql("INSERT INTO t VALUES (0)")
            with storage.begin() as inner:
                inner.exec_driver_sql("INSERT INTO t VALUES (1)")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    with storage.begin() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM t").scalar_one() == 0
    storage.close()


@pytest.mark.slow
def test_the_command_plays_in_a_running_sandbox(platform, tmp_path, capsys):
    (tmp_path / "s.yaml").write_text(FILE)
    assert main(["play", str(tmp_path / "s.yaml"), "--url", platform.base_url]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 10
    assert " order done first " in printed[3]
    (tmp_path / "s.yaml").write_text("steps: [{cancel: x}]")
    assert main(["play", str(tmp_path / "s.yaml"), "--url", platform.base_url]) == 1
    assert "cancel failed" in capsys.readouterr().out


@pytest.mark.slow
def test_the_command_starts_a_sandbox_of_its_own(tmp_path, capsys):
    (tmp_path / "s.yaml").write_text("steps: [{at: 0.3, settings: {job_seconds: 1}}]")
    assert main(["play", str(tmp_path / "s.yaml"), "--port", "0", "--exit"]) == 0
    assert main(["play", str(tmp_path / "s.yaml"), "--port", "0", "--exit", "--clock", "virtual", "--speed", "10"]) == 0
    assert capsys.readouterr().out.count("settings done") == 2
    assert main(["play", str(tmp_path / "none.yaml")]) == 2
    assert main(["play", str(tmp_path / "s.yaml"), "--port", "0", "--set", "nonsense=1"]) == 2
    assert main(["play", str(tmp_path / "s.yaml"), "--port", "0", "--url", "http://127.0.0.1:9"]) == 2
    errors = capsys.readouterr().err.splitlines()
    assert [line.split(":")[0] for line in errors] == ["partner-sandbox play"] * 3


TEST_OF_A_USER = """
import httpx, pytest

def token(sandbox):
    form = {"grant_type": "client_credentials", "client_id": sandbox.client_id, "client_secret": sandbox.client_secret}
    return httpx.post(f"{sandbox.base_url}/v2/oauth/token", data=form)

def test_one(partner_sandbox):
    assert token(partner_sandbox).status_code == 200
    partner_sandbox.put_products("store-001", [{"sku": "A", "price": 1}])
    order = partner_sandbox.place_order("store-001", {"sku": "A", "quantity": 2})
    assert order["status"] == "RECEIVED"

def test_two_begins_anew(partner_sandbox):
    assert partner_sandbox.products("store-001") == {}
    assert partner_sandbox.check()["requests"] == 0

@pytest.mark.partner_sandbox(requests_per_minute=1)
def test_three_has_a_choice_of_its_own(partner_sandbox):
    assert [token(partner_sandbox).status_code for _ in range(2)] == [200, 429]

def test_four_plays_a_scenario(partner_sandbox):
    played = partner_sandbox.play("products: {store-001: [{sku: B}]}")
    assert (played["failed"], list(partner_sandbox.products("store-001"))) == (0, ["B"])
"""


@pytest.mark.slow
@pytest.mark.proof
def test_the_plugin_gives_users_of_pytest_a_fixture(tmp_path):
    (tmp_path / "test_user.py").write_text(TEST_OF_A_USER)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--strict-markers", "."]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "4 passed" in ran.stdout, ran.stdout + ran.stderr
