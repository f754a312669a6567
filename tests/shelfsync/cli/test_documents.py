"""What a script can rely on: one JSON document of a version, one line on standard error, colours only where they are wanted."""

from __future__ import annotations

import datetime as dt
import os
import pty
import re
import subprocess
import sys
from importlib.metadata import version

import pytest

from documents import data, error


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ("nonsense",),
        ("sync", "--nonsense"),
        ("explain", "store-001"),
        ("pause", "--whole-chain", "store-001", "--reason", "x"),
        ("restore", "store-001", "--at", "yesterday"),
        ("holds", "list", "--state", "rejected"),
        ("sync", "--quiet", "--verbose"),
    ],
)
def test_a_wrong_command_line_is_exit_code_2_one_line_and_a_document(run, words):
    done = run(*words, "--json")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert re.search(r"Run `shelfsync[a-z ]* --help`\.$", done.stderr)
    assert error(done.stdout)["code"] == "usage"
    assert run(*words).stdout == ""


@pytest.mark.slow
def test_a_command_without_its_words_shows_its_help(run):
    done = run("holds")
    assert (done.returncode, "backtest" in done.stdout) == (2, True)


def test_the_version_is_that_of_the_package(run):
    assert run("--version").stdout == f"shelfsync {version('shelfsync')}\n"


@pytest.mark.slow
def test_an_error_of_the_data_names_what_to_do(run):
    done = run("holds", "show", "4711", "--json")
    document = error(done.stdout)
    assert (done.returncode, document["code"]) == (4, "data")
    assert done.stderr == f"shelfsync: {document['message']} [{document['page']}]\n"
    assert document["remedy"]


@pytest.mark.slow
def test_times_are_iso_8601_with_an_offset(run):
    assert run("sync", "--full").returncode == 0
    (row,) = data(run("runs", "list", "--json").stdout)["runs"]
    for name in ("began_at", "ended_at"):
        assert "T" in row[name]
        assert dt.datetime.fromisoformat(row[name]).tzinfo is not None


@pytest.mark.slow
def test_quiet_prints_nothing_but_errors_and_the_document(process):
    for words in (("sync", "--full", "--quiet"), ("--quiet", "status"), ("duckdb", "out.duckdb", "--quiet")):
        done = process(*words)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), words
    assert data(process("status", "--quiet", "--json").stdout)["vendors"]
    failed = process("holds", "show", "4711", "--quiet")
    assert (failed.returncode, failed.stdout, failed.stderr.count("\n")) == (4, "", 1)


@pytest.mark.slow
def test_verbose_shows_log_lines_on_standard_error(process):
    plain, verbose = process("sync", "--json"), process("sync", "-v", "--json")
    assert "INFO" not in plain.stderr
    assert "INFO run 2 (delta) is open" in verbose.stderr
    assert data(verbose.stdout)["run"] == 2


def printed_on_a_terminal(process, *words: str, **variables: str) -> str:
    """What a command prints where its standard output is a terminal."""
    assert process("sync", "--full").returncode == 0
    ours, theirs = pty.openpty()
    environment = process.environment | {"TERM": "xterm-256color", "COLUMNS": "200"} | variables
    with subprocess.Popen(
        [sys.executable, "-m", "shelfsync", *words], env=environment, stdout=theirs, stderr=subprocess.DEVNULL
    ) as started:
        os.close(theirs)
        found = b""
        try:
            while part := os.read(ours, 65_536):
                found += part
        except OSError:  # the other end is closed
            pass
        finally:
            os.close(ours)
        started.wait(timeout=60)
    return found.decode()


COLOUR = re.compile(r"\x1b\[[0-9;]*3[0-9]")


@pytest.mark.slow
def test_colours_are_for_terminals_that_want_them(process):
    assert COLOUR.search(printed_on_a_terminal(process, "--help"))
    assert not COLOUR.search(printed_on_a_terminal(process, "--help", NO_COLOR="1"))
    for words in (("--help",), ("status",), ("explain", "store-001", "a"), ("runs", "show", "1")):
        done = process(*words)
        assert "\x1b" not in done.stdout + done.stderr
