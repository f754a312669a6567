"""Text from outside is shown, and does not control the terminal."""

from __future__ import annotations

import datetime as dt
import logging
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from documents import data
from shelfsync.cli.command import Answer, print_answer, print_error
from shelfsync.explain.explanation import Event
from shelfsync.logs import JsonLines, Text
from shelfsync.terminal import PIPE_WIDTH, PlainConsole, status_tables, timeline_table, wide_console

NASTY = (
    "[/x]",
    "[red]",
    "\x1b]0;title\x07",
    "\x9b31m",
    "a\rb",
    "\u202egpj.exe",
    "two\nlines",
    "half \ud800",
    ":smile:",
    "\\[x]",
)
ACTING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
COUNTS = ("erp_rows", "not_in_erp", "acknowledged", "pending", "in_flight", "unconfirmed", "held", "suppressed")
COUNTS += ("rejected_for_good", "rejected_for_now", "absent", "quarantined")


def status_of(text: str) -> dict:
    vendor = {
        "vendor": text,
        "last_run": 1,
        "last_state": text,
        "error": text,
        "paused": None,
        **dict.fromkeys(COUNTS, 1),
    }
    run = {"run_id": 1, "kind": text, "dry_run": False, "state": text, "error": text, "run_key": text}
    return {
        "vendors": [vendor | {"oldest_unacknowledged_s": 1.0, "oldest_held_s": 7_200.0}],
        "freshness": [],
        "runs": [run | {"started_at": dt.datetime(2026, 1, 1, tzinfo=dt.UTC)}],
    }


def shown(*what, width=4000) -> str:
    console = PlainConsole(width=width, record=True)
    with console.capture() as captured:
        for one in what:
            console.print(one)
    return captured.get()


@pytest.mark.parametrize("text", NASTY)
def test_a_vendor_of_any_name_is_shown_and_acts_on_nothing(text):
    text_shown = shown(*status_tables(status_of(text)), timeline_table([]), text)
    assert not ACTING.search(text_shown)
    if text.isprintable():
        assert text in text_shown


def test_the_vendors_fit_into_a_pipe_with_the_state_of_their_last_run():
    status = status_of("a store with rather a long name")
    status["vendors"][0] |= dict.fromkeys(COUNTS, 290) | {"last_run": 14, "last_state": "acknowledged", "error": None}
    printed = shown(status_tables(status)[0], width=PIPE_WIDTH)
    for word in ("store", "last run", "acknowledged", "quarantined", "14:", "oldest"):
        assert re.search(rf"\b{word}", printed), printed
    assert printed.count("acknowledged") == 2, "as a column, and as the state of the last run"
    assert max(map(len, printed.splitlines())) <= PIPE_WIDTH


LONG = "partly_failed: the platform rejected request 7 as a whole, because a key of it is not known there"
FRESH = {"priority": "stop_sell", "skus": 1_234_567, "skus_beside": 12, "jobs": 3}
FRESH |= dict.fromkeys(("seconds_median", "seconds_p95", "seconds_max"), 5_000.0)


@pytest.mark.parametrize("width", [60, 80, 120, PIPE_WIDTH])
@pytest.mark.parametrize("name", ["store-001", "filiale-" + "x" * 60, "\u9752\u5c71\u4e00\u4e01\u76ee\u5e97" * 4])
@pytest.mark.parametrize("number", [0, 7, 123_456_789])
def test_tables_show_store_headings_and_reason_at_every_width(width, name, number):
    status = status_of(name) | {"freshness": [FRESH]}
    status["vendors"][0] |= dict.fromkeys(COUNTS, number) | {"error": LONG, "last_state": "failed"}
    status["runs"][0] |= {"kind": "delta", "state": "partly_failed", "error": LONG}
    event = Event(at=dt.datetime(2026, 1, 1, tzinfo=dt.UTC), step="acknowledge", message=LONG)
    for table in (*status_tables(status), timeline_table([event])):
        printed = shown(table, width=width)
        lines = printed.splitlines()
        assert max(map(cell_len, lines)) <= width, printed
        assert "\u2026" not in printed, "a cell or a heading is cut"
        below = " ".join(printed.partition("not shown in")[2].split())
        gone = below.partition(": ")[2].partition(";")[0].split(", ")
        for heading in table.columns:
            assert heading in gone or all(word in printed for word in heading.split()), (heading, printed)
        assert not below or "`--json` shows" in below, "a column is left out without a word how to see it"
        assert folded(lines) == [
            re.sub(r"\s", "", cell)
            for row in table.rows
            for heading, cell in zip(table.columns, row, strict=True)
            if heading not in gone
        ]


def folded(lines: list[str]) -> list[str]:
    """The cells of the only row of a printed table, each as one text without spaces."""
    rows = [line.strip("\u2502").split("\u2502") for line in lines if line.startswith("\u2502")]
    return [re.sub(r"\s", "", "".join(parts)) for parts in zip(*rows, strict=True)]


def test_a_narrow_terminal_leaves_out_what_is_zero_before_what_is_not():
    status = status_of("store-001")
    status["vendors"][0] |= dict.fromkeys(COUNTS, 0) | {"acknowledged": 5, "error": None, "last_state": "acknowledged"}
    kept = shown(status_tables(status)[0], width=80).partition("not shown")[0]
    assert "acknowledged" in kept.partition("store-001")[0]
    assert "suppressed" not in kept


@pytest.mark.parametrize("width", [80, 120, PIPE_WIDTH])
def test_the_age_of_what_is_held_is_in_the_table(width):
    status = status_of("store-001")
    status["vendors"][0] |= dict.fromkeys(COUNTS, 0) | {"held": 40, "error": None, "last_state": "acknowledged"}
    head, _, row = shown(status_tables(status)[0], width=width).partition("not shown")[0].partition("store-001")
    assert {"oldest", "held"} <= set(re.findall(r"\w+", head))
    assert "2.0 h" in row


def test_a_vendor_that_no_run_has_had_is_shown_without_one():
    status = status_of("store-002")
    status["vendors"][0] |= {"last_run": None, "last_state": None, "error": None}
    assert "None" not in shown(status_tables(status)[0])


@pytest.mark.parametrize("text", NASTY)
def test_lines_documents_errors_and_log_lines_act_on_nothing(text, capsys):
    print_answer(Answer({}, [text]), as_json=False)
    print_error(text)
    output = capsys.readouterr()
    assert not ACTING.search(output.out + output.err)
    assert (output.out.count("\n"), output.err.count("\n")) == (1, 1)
    print_answer(Answer({"vendor": text}, []), as_json=True)
    document = capsys.readouterr().out
    assert not ACTING.search(document)
    assert data(document) == {"vendor": text}
    record = logging.LogRecord("shelfsync", logging.INFO, "", 1, "vendor %s", (text,), None)
    for line in (Text("%(message)s").format(record), JsonLines().format(record)):
        assert not ACTING.search(line)
        assert "\n" not in line


@pytest.mark.slow
@given(text=st.text())
def test_no_text_at_all_breaks_a_table(text):
    event = Event(at=dt.datetime(2026, 1, 1, tzinfo=dt.UTC), step="extract", message=text)
    assert not ACTING.search(shown(timeline_table([event]), *status_tables(status_of(text))))


@pytest.mark.parametrize("columns", [None, "80"])
def test_a_pipe_is_wide_whatever_width_its_environment_has(monkeypatch, capsys, columns):
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns is not None:
        monkeypatch.setenv("COLUMNS", columns)
    assert wide_console().width == PIPE_WIDTH
