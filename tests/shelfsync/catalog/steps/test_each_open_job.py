"""The jobs of one vendor, one after the other: one that fails stops no other (I10)."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from shelfsync.catalog.steps.each_open_job import each_job
from shelfsync.errors import ConfigurationError, DataError
from shelfsync.vendors.step_report import Done, Skip


def _jobs(*numbers):
    return [SimpleNamespace(job_id=number, name=f"vendor v, job {number}") for number in numbers]


def _raising(errors, called):
    def work(job):
        called.append(job.job_id)
        if job.job_id in errors:
            raise errors[job.job_id]

    return work


def test_a_job_that_fails_stops_no_other_and_the_first_failure_is_raised():
    called, first = [], DataError("first")
    with pytest.raises(DataError, match="first"):
        each_job(_jobs(1, 2, 3), _raising({1: first, 2: DataError("second")}, called))
    assert called == [1, 2, 3]


def test_an_error_that_concerns_every_job_is_raised_at_once():
    called = []
    with pytest.raises(ConfigurationError):
        each_job(_jobs(1, 2), _raising({1: ConfigurationError("the client id", "is missing", "set it")}, called))
    assert called == [1]


def test_jobs_with_nothing_to_do_are_skipped_with_a_reason_that_is_not_done_before():
    with pytest.raises(Skip, match="not ended"):
        each_job(_jobs(1, 2), _raising({1: Done(), 2: Skip("not ended")}, []))
    each_job(_jobs(1, 2), _raising({1: Skip("not ended")}, []))
