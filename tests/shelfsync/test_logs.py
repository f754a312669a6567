from __future__ import annotations

import io
import json
import logging

import pytest

from shelfsync import logs


@pytest.fixture
def written():
    """A stream that `configure` is given; the logging of the tests is put back afterwards."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield io.StringIO()
    root.handlers[:] = handlers
    root.setLevel(level)


def test_each_json_line_carries_run_vendor_job_and_step(written):
    logs.configure("json", logging.INFO, stream=written)
    log = logging.getLogger("shelfsync.catalog.steps.deliver")
    with logs.about(run=7, vendor="store-001", step="deliver"), logs.about(job=12):
        log.warning("rejected %d", 3)
    log.info('logged "outside"\nof any run')
    first, second = [json.loads(line) for line in written.getvalue().splitlines()]
    fields = {
        "run": 7,
        "vendor": "store-001",
        "step": "deliver",
        "job": 12,
        "level": "warning",
        "message": "rejected 3",
    }
    assert fields.items() <= first.items()
    assert first["time"].endswith("+00:00")
    assert second["message"] == 'logged "outside"\nof any run'
    assert not {"run", "vendor", "job", "step"} & second.keys()


def test_an_error_brings_its_traceback_in_the_same_line(written):
    logs.configure("json", logging.INFO, stream=written)
    try:
        int("odd")
    except ValueError:
        logging.getLogger("shelfsync").exception("failed")
    (line,) = written.getvalue().splitlines()
    assert "ValueError: invalid literal" in json.loads(line)["traceback"]


def test_a_line_for_people_has_the_fields_behind_it(written):
    logs.configure("text", logging.INFO, stream=written)
    with logs.about(run=7, vendor="store-001"):
        logging.getLogger("shelfsync").info("on its way")
    assert written.getvalue() == "INFO on its way [run=7 vendor=store-001]\n"
