"""The report on a client: each duty of the interface is seen to be met by a good client and to be broken by a bad one."""

from __future__ import annotations

import json

import httpx
import pytest

from order_picker import CHAIN, STORE, picked
from partner_sandbox.cli import main
from partner_sandbox.duties import DUTIES
from sandbox_fixture import LiveSandbox

CATALOG = f"{CHAIN}/vendors/{STORE}/catalog"


def verdicts(platform):
    return {duty["duty"]: duty["verdict"] for duty in platform.control("GET", "check")["duties"]}


def evidence(platform, duty):
    (found,) = [one for one in platform.control("GET", "check")["duties"] if one["duty"] == duty]
    return found["evidence"]


def repeat_an_order_event(picker):
    order = picker.place("MILK")
    picker.events()
    return order


# each takes the picker of an order and leaves traffic that meets or breaks the duty


def reuses_a_token(picker):
    picker.partner.get(CATALOG)
    picker.partner.get(CATALOG)


def wastes_tokens(picker):
    for _ in range(4):
        with picker.platform.partner() as client:
            client.get(CATALOG)


def renews_its_token(picker):
    picker.platform.advance(7201)
    assert picker.partner.get(CATALOG).status_code == 401
    with picker.platform.partner() as client:
        client.get(CATALOG)


def insists_on_its_token(picker):
    picker.platform.advance(7201)
    for _ in range(4):
        picker.partner.get(CATALOG)


def stays_within_the_limit(picker):
    for _ in range(50):
        picker.partner.get(CATALOG)


def sends_61(picker):
    for _ in range(61):
        picker.partner.get(CATALOG)


def is_rejected_by_the_limit(picker):
    picker.platform.control("PUT", "settings", {"requests_per_minute": 2})
    for _ in range(3):
        picker.partner.get(CATALOG)


def reports_a_bad_body_once(picker):
    picker.partner.put(CATALOG, json={"products": []})


def repeats_a_bad_body(picker):
    for _ in range(3):
        picker.partner.put(CATALOG, json={"products": []})


def sends_in_bulk(picker):
    picker.partner.put(CATALOG, json={"products": [{"sku": f"S{n}"} for n in range(20)]})


def sends_one_by_one(picker):
    for n in range(11):
        picker.partner.put(CATALOG, json={"products": [{"sku": f"S{n}"}]})


def update(picker):
    job_id = picker.partner.put(CATALOG, json={"products": [{"sku": "MILK"}, {"sku": "none"}]}).json()["job_id"]
    picker.platform.advance(1)
    return job_id


def reads_the_log(picker):
    job = picker.partner.get(f"{CHAIN}/catalog/jobs/{update(picker)}").json()
    picker.partner.get(job["download_url"])
    picker.platform.advance(1000)


def takes_202_for_success(picker):
    update(picker)
    picker.platform.advance(1000)


def presigned(picker):
    picker.platform.control("PUT", "settings", {"link": "presigned"})
    return picker.partner.get(f"{CHAIN}/catalog/jobs/{update(picker)}").json()["download_url"]


def fetches_the_link_alone(picker):
    assert httpx.get(presigned(picker)).status_code == 200


def sends_its_token_to_the_storage_host(picker):
    assert picker.partner.get(presigned(picker)).status_code == 400


def asks_for_page_2(picker):
    picker.partner.get(CATALOG, params={"page_size": 1, "page": 2})


def asks_for_page_number_2(picker):
    picker.partner.get(CATALOG, params={"page_size": 1, "page_number": 2})


def answers_the_webhook(picker):
    repeat_an_order_event(picker)


def fails_at_the_webhook(picker):
    picker.receiver.statuses = [500]
    repeat_an_order_event(picker)


def rejects_a_forged_event(picker):
    picker.platform.faults({"at": "order_webhook", "kind": "forged_secret"})
    picker.receiver.statuses = [401]
    repeat_an_order_event(picker)


def accepts_a_forged_event(picker):
    picker.platform.faults({"at": "order_webhook", "kind": "forged_secret"})
    repeat_an_order_event(picker)


def acts_once_on_a_repeated_event(picker):
    picker.platform.faults({"at": "order_webhook", "kind": "repeated", "count": 2})
    order = repeat_an_order_event(picker)
    picker.done(order, "READY_FOR_PICKUP", picked(order["items"][0]))


def acts_on_every_copy(picker):
    acts_once_on_a_repeated_event(picker)
    order = picker.platform.control("GET", "chains/demo-chain/orders")["orders"][0]
    picker.put(order, "READY_FOR_PICKUP", picked(order["items"][0]))


def fulfils(picker):
    order = repeat_an_order_event(picker)
    picker.done(order, "READY_FOR_PICKUP", picked(order["items"][0]))


def leaves_an_order_lying(picker):
    repeat_an_order_event(picker)
    picker.platform.advance(3600)


def fulfils_a_cancelled_order(picker):
    order = repeat_an_order_event(picker)
    picker.platform.control("POST", f"orders/{order['order_id']}/cancel")
    picker.put(order, "READY_FOR_PICKUP", picked(order["items"][0]))


def sends_the_id_alone(picker):
    order = repeat_an_order_event(picker)
    picker.put(order, "READY_FOR_PICKUP", {"_id": order["items"][0]["_id"], "status": "IN_CART"})


CASES = {
    "token_reused": (reuses_a_token, wastes_tokens),
    "token_renewed": (renews_its_token, insists_on_its_token),
    "rate_limit": (stays_within_the_limit, sends_61),
    "rejection_not_repeated": (reports_a_bad_body_once, repeats_a_bad_body),
    "bulk": (sends_in_bulk, sends_one_by_one),
    "outcomes_read": (reads_the_log, takes_202_for_success),
    "presigned_link": (fetches_the_link_alone, sends_its_token_to_the_storage_host),
    "page_parameter": (asks_for_page_2, asks_for_page_number_2),
    "webhook_answered": (answers_the_webhook, fails_at_the_webhook),
    "secret_checked": (rejects_a_forged_event, accepts_a_forged_event),
    "replay_harmless": (acts_once_on_a_repeated_event, acts_on_every_copy),
    "orders_answered": (fulfils, leaves_an_order_lying),
    "state_respected": (fulfils, fulfils_a_cancelled_order),
    "sku_beside_id": (fulfils, sends_the_id_alone),
}


def test_every_duty_has_a_client_that_meets_and_one_that_breaks_it():
    assert {*CASES, "back_off"} == {duty.name for duty in DUTIES}


@pytest.fixture
def client(picker, receiver):
    picker.receiver = receiver
    return picker


@pytest.mark.parametrize("duty", CASES)
@pytest.mark.parametrize("verdict", ["met", "broken"])
def test_a_client_is_judged_by_what_it_does(client, duty, verdict):
    assert verdicts(client.platform)[duty] == "not seen"
    CASES[duty][verdict == "broken"](client)
    assert verdicts(client.platform)[duty] == verdict
    assert evidence(client.platform, duty)


def test_a_rejection_by_the_limit_breaks_the_duty_below_60_too(client):
    is_rejected_by_the_limit(client)
    assert verdicts(client.platform)["rate_limit"] == "broken"


@pytest.mark.parametrize(("waits_s", "verdict"), [(0, "broken"), (1.2, "met")])
def test_a_client_that_waits_after_an_error_meets_the_duty(waits_s, verdict):
    with LiveSandbox() as platform, platform.partner() as partner:
        platform.faults({"at": "list_catalog", "kind": "status_503"})
        partner.get(CATALOG)
        for _ in range(3):
            platform.advance(waits_s)  # also a real clock moves on
            partner.get(CATALOG)
        assert verdicts(platform)["back_off"] == verdict


def test_a_virtual_clock_judges_no_waiting(client):
    client.platform.faults({"at": "list_catalog", "kind": "status_503"})
    for _ in range(5):
        client.partner.get(CATALOG)
    assert verdicts(client.platform)["back_off"] == "not seen"


def test_the_evidence_names_records_that_are_there(client):
    asks_for_page_number_2(client)
    (sentence,) = evidence(client.platform, "page_parameter")
    number = int(sentence.partition(":")[0].removeprefix("record "))
    assert "page_number=2" in client.platform.control("GET", f"records/{number}")["route"]


def test_much_evidence_is_cut_and_counted(client):
    for number in range(12):
        client.partner.get(CATALOG, params={"page_number": number})
    assert evidence(client.platform, "page_parameter")[-1] == "and 7 more"


def test_rejections_are_counted_by_their_rule(client):
    repeats_a_bad_body(client)
    (row,) = client.platform.control("GET", "check")["rejections"]
    assert (row["times"], row["hint"].startswith("interface ")) == (3, True)
    assert row["reason"].startswith("products")


def test_a_probe_sends_the_last_event_again_and_with_a_wrong_secret(client):
    order = repeat_an_order_event(client)
    client.receiver.statuses = [401, 204]
    assert client.platform.control("POST", "check/probe") == {"calls": 2}
    calls = [(call.authorization, call.body["order_id"]) for call in client.receiver.received]
    assert [secret == "s3cret" for secret, _ in calls] == [True, False, True]
    assert {order_id for _, order_id in calls} == {order["order_id"]}
    found = verdicts(client.platform)
    assert (found["secret_checked"], found["replay_harmless"]) == ("met", "met")


def test_a_probe_without_an_event_sends_nothing(platform):
    assert platform.control("POST", "check/probe") == {"calls": 0}


@pytest.mark.slow
def test_the_command_prints_the_report_and_its_code_is_the_verdict(client, capsys, tmp_path):
    url = ["--url", client.platform.base_url]
    assert main(["check", *url]) == 0
    assert capsys.readouterr().out == "0 duties met, 0 broken, 15 not seen\n"
    asks_for_page_number_2(client)
    assert main(["check", "--report", *url]) == 1
    printed = capsys.readouterr().out
    assert "## Broken\n\n- **page_parameter** (interface 4.2)" in printed
    for more in ([], ["--json"], []):  # a report replaces a report
        assert main(["check", "--report", str(tmp_path / "report.md"), *more, *url]) == 1
    assert (tmp_path / "report.md").read_text() == printed
    assert (tmp_path / "report.md").stat().st_mode & 0o777 == 0o600
    (tmp_path / "orders.csv").write_text("sku,price\n")
    for kept in (tmp_path / "orders.csv", tmp_path, "/dev/null"):
        capsys.readouterr()
        assert main(["check", "--report", str(kept), *url]) == 2
        assert "exists and is no report, so it is not replaced" in capsys.readouterr().err
    assert (tmp_path / "orders.csv").read_text() == "sku,price\n"
    assert sorted(left.name for left in tmp_path.iterdir()) == ["orders.csv", "report.md"]
    assert main(["check", "--json", *url]) == 1
    assert json.loads(capsys.readouterr().out)["broken"] == 1


def test_the_command_probes(client, capsys):
    repeat_an_order_event(client)
    assert main(["check", "--probe", "--url", client.platform.base_url]) == 1
    assert len(client.receiver.received) == 3


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--url", "http://127.0.0.1:9"], "no sandbox answers at http://127.0.0.1:9"),
        (["--url", "nowhere"], "no sandbox answers at nowhere"),
        (["--report", "/nowhere/at/all.md"], "cannot write /nowhere/at/all.md"),
    ],
)
def test_the_command_reports_in_one_line_why_it_cannot(platform, capsys, arguments, why):
    url = [] if "--url" in arguments else ["--url", platform.base_url]
    assert main(["check", *arguments, *url]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"partner-sandbox check: {why}")
    assert error.count("\n") == 1


def test_the_portal_shows_the_report_and_probes(client):
    asks_for_page_number_2(client)
    repeat_an_order_event(client)
    with httpx.Client(base_url=client.platform.base_url, trust_env=False, follow_redirects=True) as browser:
        page = browser.post("/portal/check").text
    assert "page_number is ignored" in page
    assert "with a wrong secret was answered 204" in page
