from __future__ import annotations

from types import SimpleNamespace

import pytest

from shelfsync.errors import ConfigurationError, DataError
from shelfsync.vendors.isolation import Done, Skip, StepReport, each_job, in_rounds


class Clock:
    def __init__(self):
        self.at_s = 0.0

    def monotonic_s(self):
        return self.at_s

    def sleep(self, seconds):
        self.at_s += seconds


@pytest.mark.parametrize(
    ("free_after", "wait_s", "done"), [(0, 0.0, ["b", "a"]), (3, 60.0, ["b", "a"]), (3, 2.0, ["b"])]
)
def test_a_taken_vendor_is_tried_again_after_the_others_until_the_wait_is_over(free_after, wait_s, done):
    report, tries = StepReport("deliver"), []

    def one(name):
        tries.append(name)
        if name == "a" and tries.count("a") <= free_after:
            report.taken.append(name)
        else:
            report.do(name)

    in_rounds(Clock(), ["a", "b"], report, one, wait_s=wait_s)
    assert sorted(report.done) == sorted(done)
    assert set(report.skipped) == {"a", "b"} - set(done)


def test_a_vendor_that_failed_is_not_called_again():
    report, tries = StepReport("deliver"), []

    def one(name):
        tries.append(name)
        report.fail(name, "broken")

    in_rounds(Clock(), ["a", "a", "b"], report, one, wait_s=0.0)
    assert (tries, set(report.failed)) == (["a", "b"], {"a", "b"})


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
