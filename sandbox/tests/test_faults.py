"""Every fault can be set, strikes where and as often as it is set, and has the effect that its sentence describes."""

from __future__ import annotations

import gzip
import json
import logging
import socket
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from partner_sandbox.faults import KINDS, Faults, Rule, RuleSet

STORE = "store-001"
CATALOG = f"/v2/chains/demo-chain/vendors/{STORE}/catalog"
JOBS = "/v2/chains/demo-chain/catalog/jobs"


@pytest.fixture
def stocked(platform):
    platform.put_products(STORE, [{"sku": sku, "price": 1} for sku in "ABC"])


def put(partner, **item: Any) -> httpx.Response:
    return partner.put(CATALOG, json={"products": [{"sku": sku, "price": 2, **item} for sku in "ABC"]})


def price(platform) -> float:
    return platform.products(STORE)["A"]["price"]


def log_of(platform, partner) -> httpx.Response:
    """The log of a finished update, as the fault at `log` leaves it."""
    job_id = put(partner).json()["job_id"]
    platform.advance(0)
    return partner.get(partner.get(f"{JOBS}/{job_id}").json()["download_url"])


def test_a_caller_that_disconnects_in_the_middle_of_its_body_is_in_the_journal_and_no_error_of_the_service(
    platform, partner
):
    errors: list[logging.LogRecord] = []
    handler = logging.Handler(logging.ERROR)
    handler.emit = errors.append
    logging.getLogger("uvicorn.error").addHandler(handler)
    try:
        with socket.create_connection((partner.base_url.host, partner.base_url.port)) as caller:
            head = f"PUT {CATALOG} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n"
            caller.sendall(f"{head}Authorization: {partner.headers['Authorization']}\r\n\r\n{{".encode())
        deadline_s = time.monotonic() + 10
        while not (
            gone := [one for one in platform.journal()["entries"] if one["method"] == "PUT" and one["route"] == CATALOG]
        ):
            assert time.monotonic() < deadline_s, "the call is not in the journal"
    finally:
        logging.getLogger("uvicorn.error").removeHandler(handler)
    assert (errors, [one["status"] for one in gone]) == ([], [None])
    assert put(partner).status_code == 202


class TestRules:
    def test_the_list_has_every_kind_with_a_sentence(self, platform):
        listed = platform.control("GET", "faults")["kinds"]
        assert {kind["kind"] for kind in listed} == set(KINDS)
        assert all(kind["does"].endswith(".") and kind["at"] for kind in listed)

    def test_a_rule_strikes_times_times_after_the_given_number_of_occasions(self, platform, partner):
        platform.faults({"at": "list_catalog", "kind": "status_500", "after": 1, "times": 2})
        assert [partner.get(CATALOG).status_code for _ in range(5)] == [200, 500, 500, 200, 200]
        (rule,) = platform.control("GET", "faults")["rules"]
        assert (rule["occasions"], rule["struck"]) == (5, 2)

    def test_the_same_seed_gives_the_same_faults_and_another_seed_others(self):
        def pattern(seed: int) -> list[bool]:
            faults = Faults()
            faults.put(RuleSet(seed=seed, rules=[Rule(at="export", kind="status_503", probability=0.3)]))
            return [faults.draw("export", "status_*") is not None for _ in range(200)]

        assert pattern(7) == pattern(7)
        assert pattern(7) != pattern(8)
        assert 30 < sum(pattern(7)) < 90

    def test_rules_do_not_disturb_each_others_chance(self):
        def pattern(*others: Rule) -> list[bool]:
            faults = Faults()
            rule = Rule(at="export", kind="no_job_id", probability=0.5)
            faults.put(RuleSet(seed=1, rules=[rule, *others]))
            struck = []
            for _ in range(100):
                faults.draw("export", "status_*")
                struck.append(faults.draw("export", "no_job_id") is not None)
            return struck

        assert pattern() == pattern(Rule(at="export", kind="status_500", probability=0.5))

    def test_a_rule_may_be_for_one_vendor(self, platform, partner):
        platform.faults({"at": "job", "kind": "failed", "vendor": "store-002"})
        for vendor in ("store-001", "store-002"):
            partner.put(CATALOG.replace(STORE, vendor), json={"products": [{"sku": "A"}]})
        platform.advance(0)
        assert platform.control("GET", "state")["jobs"] == {"COMPLETED": 1, "FAILED": 1}

    @pytest.mark.parametrize("kind", ["status_403", "token_expired"])
    def test_a_rejection_may_be_for_one_vendor(self, platform, partner, kind):
        platform.faults({"at": "put_catalog", "kind": kind, "vendor": "store-002"})
        statuses = [
            partner.put(CATALOG.replace(STORE, vendor), json={"products": [{"sku": "A"}]}).status_code
            for vendor in ("store-001", "store-002", "store-003")
        ]
        assert statuses == [202, 403 if kind == "status_403" else 401, 202]

    @pytest.mark.parametrize(
        ("rule", "message"),
        [
            ({"at": "nowhere", "kind": "status_500"}, "rules[0]: at: there is no operation 'nowhere'"),
            ({"at": "export", "kind": "status_200"}, "rules[0]: kind: there is no fault 'status_200'"),
            ({"at": "export", "kind": "lost"}, "rules[0]: kind: 'lost' strikes at job_webhook, order_webhook"),
            ({"at": "export", "kind": "status_500", "probability": 2}, "rules[0].probability"),
            ({"at": "export", "kind": "status_500", "oftenness": 2}, "rules[0].oftenness"),
        ],
    )
    def test_an_invalid_rule_is_rejected_and_leaves_the_old_ones(self, platform, rule, message):
        platform.faults({"at": "export", "kind": "status_500"})
        answer = httpx.put(f"{platform.base_url}/_sandbox/faults", json={"rules": [rule]})
        assert answer.status_code == 400
        assert answer.json()["message"].startswith(message)
        assert len(platform.control("GET", "faults")["rules"]) == 1

    def test_a_kind_may_carry_the_prefix_of_its_operation(self, platform):
        platform.faults({"at": "log", "kind": "log_truncated"}, {"at": "job_webhook", "kind": "webhook_lost"})
        assert [rule["kind"] for rule in platform.control("GET", "faults")["rules"]] == ["truncated", "lost"]

    def test_the_journal_names_the_applied_fault(self, platform, partner):
        platform.faults({"at": "list_catalog", "kind": "status_500"})
        partner.get(CATALOG)
        assert platform.journal()["entries"][-1]["fault"] == "status_500"


class TestWire:
    @pytest.mark.parametrize("status", [401, 429, 500, 502, 503])
    def test_a_status_is_answered_and_nothing_is_done(self, platform, partner, stocked, status):
        platform.faults(
            {"at": "put_catalog", "kind": f"status_{status}", "retry_after": "Wed, 21 Oct 2026 07:28:00 GMT"}
        )
        answer = put(partner)
        assert (answer.status_code, answer.headers["Retry-After"]) == (status, "Wed, 21 Oct 2026 07:28:00 GMT")
        assert platform.control("GET", "state")["jobs"] == {}

    def test_a_status_may_have_any_body(self, platform, partner):
        page = {"body": "<html>bad gateway</html>", "content_type": "text/html"}
        platform.faults({"at": "list_catalog", "kind": "status_502", **page})
        answer = partner.get(CATALOG)
        assert (answer.text, answer.headers["content-type"]) == (page["body"], "text/html; charset=utf-8")

    @pytest.mark.parametrize("operation", ["token", "log", "job_status", "export", "categories"])
    def test_every_operation_can_fail(self, platform, partner, stocked, operation):
        job = {"log": f"{JOBS.replace('jobs', 'downloads')}/x.csv", "job_status": f"{JOBS}/x"}
        paths = {
            "token": "/v2/oauth/token",
            "export": f"{CATALOG}/export",
            "categories": CATALOG[:-7] + "categories",
            **job,
        }
        platform.faults({"at": operation, "kind": "status_503"})
        method = "POST" if operation in {"token", "export"} else "GET"
        assert partner.request(method, paths[operation]).status_code == 503

    def test_a_block_page_is_403_with_html(self, platform, partner):
        platform.faults({"at": "list_catalog", "kind": "block_page"})
        answer = partner.get(CATALOG)
        assert (answer.status_code, answer.headers["content-type"]) == (403, "text/html; charset=utf-8")

    def test_a_refused_connection_has_done_nothing(self, platform, partner, stocked):
        platform.faults({"at": "put_catalog", "kind": "refuse_connection", "times": 1})
        with pytest.raises(httpx.TransportError):
            put(partner)
        assert platform.control("GET", "state")["jobs"] == {}
        assert put(partner).status_code == 202

    def test_the_port_can_stay_closed_for_some_seconds(self, platform, partner, stocked):
        platform.faults({"at": "put_catalog", "kind": "refuse_connection", "seconds": 0.5, "times": 1})
        with pytest.raises(httpx.TransportError):
            put(partner)
        with pytest.raises(httpx.ConnectError):
            put(partner)
        end = time.monotonic() + 10
        while True:
            try:
                assert put(partner).status_code == 202
                break
            except httpx.ConnectError:
                assert time.monotonic() < end
                time.sleep(0.02)

    def test_an_answer_that_never_comes_has_done_nothing(self, platform, partner, stocked):
        platform.faults({"at": "put_catalog", "kind": "never_answer", "times": 1})
        with pytest.raises(httpx.ReadTimeout):
            partner.put(CATALOG, json={"products": [{"sku": "A", "price": 2}]}, timeout=0.2)
        assert platform.control("GET", "state")["jobs"] == {}

    def test_a_connection_without_an_answer_may_be_cut_after_a_while(self, platform, partner):
        platform.faults({"at": "list_catalog", "kind": "never_answer", "seconds": 0.1})
        with pytest.raises((httpx.ReadError, httpx.RemoteProtocolError)):
            partner.get(CATALOG)

    def test_half_a_body_breaks_off_after_the_work_was_done(self, platform, partner, stocked):
        platform.faults({"at": "put_catalog", "kind": "half_body"})
        with pytest.raises((httpx.ReadError, httpx.RemoteProtocolError)):
            put(partner)
        platform.advance(0)
        assert price(platform) == 2

    def test_a_dropped_answer_comes_after_the_work_was_done(self, platform, partner, stocked):
        platform.faults({"at": "put_catalog", "kind": "drop_answer"})
        with pytest.raises(httpx.TransportError):
            put(partner)
        platform.advance(0)
        assert price(platform) == 2

    def test_a_slow_body_comes_whole_over_the_seconds(self, platform, partner, stocked):
        platform.faults({"at": "list_catalog", "kind": "slow_body", "seconds": 0.4})
        begin = time.monotonic()
        assert len(partner.get(CATALOG).json()["products"]) == 3
        assert time.monotonic() - begin > 0.3

    def test_a_token_expires_in_mid_run(self, platform, partner, stocked):
        platform.faults({"at": "put_catalog", "kind": "token_expired", "times": 1})
        assert [put(partner).status_code for _ in range(2)] == [401, 202]


class TestAnswers:
    @pytest.mark.parametrize("path", [CATALOG, f"{CATALOG}/export"])
    @pytest.mark.parametrize(
        ("kind", "answer"),
        [("no_job_id", {"job_status": "QUEUED"}), ("unknown_status", {"job_status": "PARTIALLY_DONE"})],
    )
    def test_an_answer_lacks_its_id_or_has_an_unknown_status(self, platform, partner, stocked, path, kind, answer):
        platform.faults({"at": "put_catalog", "kind": kind}, {"at": "export", "kind": kind})
        got = put(partner) if path == CATALOG else partner.post(path)
        assert got.status_code == 202
        assert answer.items() <= got.json().items()
        assert ("job_id" in got.json()) is (kind != "no_job_id")

    def test_an_answer_has_the_id_of_the_job_before_it(self, platform, partner, stocked):
        first = put(partner).json()["job_id"]
        platform.faults({"at": "put_catalog", "kind": "job_id_of_another"})
        assert put(partner).json()["job_id"] == first

    def test_a_job_status_has_an_unknown_value(self, platform, partner, stocked):
        job_id = put(partner).json()["job_id"]
        platform.faults({"at": "job_status", "kind": "unknown_status"})
        assert partner.get(f"{JOBS}/{job_id}").json()["job_status"] == "PARTIALLY_DONE"

    def test_a_job_is_finished_and_its_event_sent_before_its_202_is_read(self, platform, partner, receiver, stocked):
        platform.control("PUT", "settings", {"job_seconds": 100})
        platform.faults({"at": "put_catalog", "kind": "job_first"})
        answer = put(partner).json()
        assert answer["job_status"] == "QUEUED"
        assert [event.body["job_id"] for event in receiver.received] == [answer["job_id"]]
        assert price(platform) == 2

    def test_the_listing_gives_page_1_for_ever(self, platform, partner, stocked):
        platform.faults({"at": "list_catalog", "kind": "first_page_again"})
        first, second = (partner.get(CATALOG, params={"page": page, "page_size": 2}).json() for page in (1, 2))
        assert first == second

    def test_the_listing_has_always_one_more_page(self, platform, partner, stocked):
        platform.faults({"at": "list_catalog", "kind": "endless_pages"})
        totals = [partner.get(CATALOG, params={"page": page}).json()["total_pages"] for page in (1, 7)]
        assert totals == [2, 8]


class TestJobs:
    def test_a_failed_job_has_changed_nothing(self, platform, partner, stocked):
        platform.faults({"at": "job", "kind": "failed"})
        job_id = put(partner).json()["job_id"]
        platform.advance(0)
        status = partner.get(f"{JOBS}/{job_id}").json()
        assert status["job_status"] == "FAILED"
        assert "download_url" not in status
        assert price(platform) == 1

    def test_a_job_may_fail_for_one_sku_alone(self, platform, partner, stocked):
        states = []
        for sku in ("B", "D"):
            platform.faults({"at": "job", "kind": "failed", "sku": sku})
            job_id = put(partner).json()["job_id"]
            platform.advance(0)
            states.append(partner.get(f"{JOBS}/{job_id}").json()["job_status"])
        assert states == ["FAILED", "COMPLETED"]

    def test_a_stuck_job_never_ends_and_the_next_one_does(self, platform, partner, stocked):
        platform.faults({"at": "job", "kind": "stuck", "times": 1})
        job_id = put(partner).json()["job_id"]
        platform.advance(7000)
        assert partner.get(f"{JOBS}/{job_id}").json()["job_status"] == "IN_PROGRESS"
        put(partner)
        platform.advance(0)
        assert platform.control("GET", "state")["jobs"] == {"COMPLETED": 1, "IN_PROGRESS": 1}

    def test_a_job_reports_success_and_has_applied_nothing(self, platform, partner, stocked):
        platform.faults({"at": "job", "kind": "not_applied"})
        assert log_of(platform, partner).text.count('"success"') == 3
        assert price(platform) == 1

    @pytest.mark.parametrize(("given", "expected"), [({"price": 7.5}, 7.5), ({}, 3)])
    def test_a_price_is_edited_in_the_portal(self, platform, partner, stocked, given, expected):
        platform.faults({"at": "job", "kind": "portal_edit", **given})
        put(partner)
        platform.advance(0)
        assert price(platform) == expected
        assert platform.products(STORE)["B"]["price"] == 2
        platform.advance(900)
        assert platform.products(STORE)["A"]["app"]["price"] == expected

    def test_a_link_leads_to_a_foreign_host(self, platform, partner, receiver, stocked):
        platform.faults({"at": "job", "kind": "foreign_link", "url": "http://169.254.169.254/latest"})
        job_id = put(partner).json()["job_id"]
        (event,) = receiver.wait_for(1)
        assert event.body["downloadURL"] == "http://169.254.169.254/latest"
        assert partner.get(f"{JOBS}/{job_id}").json()["download_url"] == "http://169.254.169.254/latest"


class TestWebhooks:
    def sent(self, platform, partner, receiver, rule: dict[str, Any]) -> list[Any]:
        """The events that arrive at once when one job ends under a rule."""
        platform.faults({"at": "job_webhook", **rule})
        put(partner)
        platform.advance(0)
        return list(receiver.received)

    def test_a_lost_event_never_comes(self, platform, partner, receiver, stocked):
        assert self.sent(platform, partner, receiver, {"kind": "lost"}) == []
        platform.advance(86_400)
        assert receiver.received == []
        assert platform.control("GET", "state")["deliveries"] == {"lost": 1}

    @pytest.mark.slow
    @pytest.mark.parametrize(("rule", "count"), [({}, 3), ({"count": 100}, 100)])
    def test_a_repeated_event_comes_several_times(self, platform, partner, receiver, stocked, rule, count):
        events = self.sent(platform, partner, receiver, {"kind": "repeated", **rule})
        assert len(events) == count
        assert len({json.dumps(event.body) for event in events}) == 1

    def test_a_late_event_comes_after_its_seconds(self, platform, partner, receiver, stocked):
        assert self.sent(platform, partner, receiver, {"kind": "late", "seconds": 100}) == []
        platform.advance(99)
        assert receiver.received == []
        platform.advance(1)
        assert len(receiver.received) == 1

    def test_a_reordered_event_comes_after_a_later_one(self, platform, partner, receiver, stocked):
        platform.faults({"at": "job_webhook", "kind": "reordered", "times": 1})
        ids = []
        for _ in range(2):
            ids.append(put(partner).json()["job_id"])
            platform.advance(0)
        assert [event.body["job_id"] for event in receiver.received] == ids[::-1]

    def test_a_reordered_event_with_no_later_one_comes_after_its_seconds(self, platform, partner, receiver, stocked):
        assert self.sent(platform, partner, receiver, {"kind": "reordered"}) == []
        platform.advance(60)
        assert len(receiver.received) == 1

    def test_an_early_event_comes_before_the_answer_and_before_the_job_has_run(
        self, platform, partner, receiver, stocked
    ):
        platform.control("PUT", "settings", {"job_seconds": 10})
        platform.faults({"at": "job_webhook", "kind": "early"})
        job_id = put(partner).json()["job_id"]
        (event,) = receiver.received
        assert (event.body["job_id"], event.body["job_status"]) == (job_id, "COMPLETED")
        assert (price(platform), partner.get(event.body["downloadURL"]).status_code) == (1, 404)
        platform.advance(10)
        assert (price(platform), partner.get(event.body["downloadURL"]).status_code) == (2, 200)
        assert len(receiver.received) == 1

    def test_an_event_before_a_job_that_then_fails_leads_to_no_file(self, platform, partner, receiver, stocked):
        platform.faults({"at": "job_webhook", "kind": "early"}, {"at": "job", "kind": "failed"})
        put(partner)
        platform.advance(10)
        assert partner.get(receiver.received[0].body["downloadURL"]).status_code == 404

    def test_a_forged_event_has_a_wrong_secret_and_is_not_repeated(self, platform, partner, receiver, stocked):
        receiver.statuses = [401]
        forged, genuine = self.sent(platform, partner, receiver, {"kind": "forged_secret"})
        platform.advance(86_400)
        assert {forged.authorization, genuine.authorization} == {"s3cret", "Bearer forged-by-another-party"}
        assert forged.body == genuine.body

    @pytest.mark.parametrize(("rule", "least"), [({}, 2 * 1024 * 1024), ({"bytes": 70_000}, 70_000)])
    def test_an_oversized_event_is_padded(self, platform, partner, receiver, stocked, rule, least):
        (event,) = self.sent(platform, partner, receiver, {"kind": "oversized", **rule})
        assert least < event.bytes < least + 1000

    def test_an_event_names_another_vendor(self, platform, partner, receiver, stocked):
        (event,) = self.sent(platform, partner, receiver, {"kind": "other_vendor"})
        assert event.body["platform_vendor_id"] == "store-002"


class TestLogs:
    LOG = '"sku","state","errors"\r\n"A","success",""\r\n"B","success",""\r\n"C","success",""\r\n'

    def log(self, platform, partner, stocked_by: None, kind: str, **rule: Any) -> httpx.Response:
        platform.faults({"at": "log", "kind": kind, **rule})
        return log_of(platform, partner)

    def test_without_a_fault_it_is_whole(self, platform, partner, stocked):
        assert log_of(platform, partner).text == self.LOG

    def test_truncated(self, platform, partner, stocked):
        answer = self.log(platform, partner, stocked, "truncated", bytes=30)
        assert answer.text == self.LOG[:30]
        assert answer.headers["content-length"] == "30"

    def test_gzip(self, platform, partner, stocked):
        answer = self.log(platform, partner, stocked, "gzip")
        assert gzip.decompress(answer.content).decode() == self.LOG
        assert "content-encoding" not in answer.headers

    def test_byte_order_mark(self, platform, partner, stocked):
        assert self.log(platform, partner, stocked, "byte_order_mark").content == b"\xef\xbb\xbf" + self.LOG.encode()

    def test_unknown_columns(self, platform, partner, stocked):
        lines = self.log(platform, partner, stocked, "unknown_columns").text.splitlines()
        assert lines[0] == '"processed_by","sku","state","errors","remarks"'
        assert lines[1].split(",")[1:4] == ['"A"', '"success"', '""']

    def test_older_format(self, platform, partner, stocked):
        lines = self.log(platform, partner, stocked, "older_format").text.splitlines()
        assert lines[0] == '"sku","code","state","errors","row_number","piece_barcode"'
        assert lines[2] == '"B","200","success","","2",""'

    def test_a_sku_missing(self, platform, partner, stocked):
        lines = self.log(platform, partner, stocked, "missing_sku").text.splitlines()
        assert len(lines) == 3
        assert set(lines) < set(self.LOG.splitlines())

    def test_a_sku_never_sent(self, platform, partner, stocked):
        lines = self.log(platform, partner, stocked, "foreign_sku").text.splitlines()
        assert lines[:4] == self.LOG.splitlines()
        assert lines[4].startswith('"never-sent-')

    def test_a_contradiction(self, platform, partner, stocked):
        lines = self.log(platform, partner, stocked, "contradiction").text.splitlines()
        assert lines[1:3] == ['"A","success",""', '"A","failed","contradicted"']

    def test_the_log_of_another_job(self, platform, partner, stocked):
        partner.put(CATALOG, json={"products": [{"sku": "first"}]})
        platform.advance(0)
        assert '"first","failed"' in self.log(platform, partner, stocked, "log_of_another").text

    def test_html_and_nothing(self, platform, partner, stocked):
        assert self.log(platform, partner, stocked, "html_page").text.startswith("<!DOCTYPE html>")
        assert self.log(platform, partner, stocked, "empty").text == ""

    def test_expired(self, platform, partner, stocked):
        assert self.log(platform, partner, stocked, "expired").status_code == 410

    def test_faults_of_files_strike_on_the_storage_host_too(self, platform, partner, stocked):
        platform.control("PUT", "settings", {"link": "presigned"})
        del partner.headers["Authorization"]
        with platform.partner() as sender:
            platform.faults(
                {"at": "log", "kind": "truncated", "bytes": 5}, {"at": "log", "kind": "status_503", "after": 1}
            )
            job_id = put(sender).json()["job_id"]
            platform.advance(0)
            link = sender.get(f"{JOBS}/{job_id}").json()["download_url"]
        assert partner.get(link).text == self.LOG[:5]
        assert partner.get(link).status_code == 503

    def test_it_can_drip(self, platform, partner, stocked):
        platform.faults({"at": "log", "kind": "drip", "seconds": 0.001})
        assert log_of(platform, partner).text == self.LOG

    def test_it_can_go_on_without_an_end(self, platform, partner, stocked):
        platform.faults({"at": "log", "kind": "endless", "bytes": 200_000})
        text = log_of(platform, partner).text
        assert text.startswith(self.LOG)
        assert 200_000 <= len(text) < 400_000
        assert text.endswith('","success","null"\r\n')

    @pytest.mark.parametrize("kind", ["truncated", "gzip", "byte_order_mark", "empty"])
    def test_an_export_can_have_the_faults_of_any_file(self, platform, partner, stocked, kind):
        def export() -> bytes:
            job_id = partner.post(f"{CATALOG}/export").json()["job_id"]
            platform.advance(0)
            return partner.get(partner.get(f"{JOBS}/{job_id}").json()["download_url"]).content

        whole = export()
        platform.faults({"at": "log", "kind": kind})
        assert export() != whole


def test_every_kind_is_played_in_a_test():
    tests = "".join(file.read_text(encoding="utf-8") for file in Path(__file__).parent.glob("test_*.py"))
    assert [kind for kind in KINDS if kind != "status_NNN" and f'"{kind}"' not in tests] == []
