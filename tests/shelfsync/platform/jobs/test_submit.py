"""submit returns what happened to a request. Each value depends on the last answer, and on whether an earlier request may have left."""

from __future__ import annotations

import dataclasses
import itertools

import pytest

from partner_api.errors import (
    AmbiguousError,
    BlockedError,
    CredentialsError,
    InvalidRequestError,
    NotEnabledError,
    NotFoundError,
    ThrottledError,
    UnavailableError,
)
from partner_api.session import SystemClock
from shelfsync.errors import ConfigurationError, StoppedError, TryAgainError
from shelfsync.platform.jobs import job as job_row
from shelfsync.platform.jobs.submit import Accepted, GiveBack, GiveUp, Rejected, Request, Unconfirmed, submit
from shelfsync.platform.jobs.table import State

LOST = AmbiguousError("no answer came")
NOTHING_DONE = [
    (ThrottledError("too many", retry_after_s=7.0), TryAgainError),
    (BlockedError("the edge blocks"), TryAgainError),
    (UnavailableError("away"), UnavailableError),
    (TryAgainError("the limiter is down"), TryAgainError),
    (StoppedError("a person has paused"), StoppedError),
    (CredentialsError("no such client", status=401), ConfigurationError),
]
NOT_ACCEPTED = [
    (InvalidRequestError("bad row"), Rejected),
    (NotFoundError("no such vendor"), GiveUp),
    (NotEnabledError("not offered"), GiveUp),
]


class Hurried(SystemClock):
    """Does not wait between the repeats of a request."""

    def sleep(self, seconds: float) -> None:
        del seconds


class Alone:
    """Each 403 is about one vendor."""

    def __init__(self) -> None:
        self.accepted = 0

    def served(self) -> None:
        self.accepted += 1

    def alone(self, context, vendor, error) -> bool:
        del context, vendor, error
        return True


@pytest.fixture
def send(world, ledger):
    """Submits the request of a new job, which meets these answers in turn."""
    context = dataclasses.replace(world.app.context, clock=Hurried())

    def submitted(*answers, vendor="store-001", triage=None):
        run_id, generation = ledger.run()
        job_id = ledger.job(ledger.batch(run_id, generation)[0])
        left, sent = iter(answers), itertools.count()

        def request(again):
            assert again == bool(next(sent))
            if again:  # the row of a job begins with its first attempt
                with context.engine.begin() as connection:
                    job_row.attempt(connection, job_id)
            answer = next(left)
            if isinstance(answer, Exception):
                raise answer
            return answer

        try:
            return submit(context, Request(job_id, f"job {job_id}", vendor, request), triage)
        finally:
            assert list(left) == []
            with context.engine.connect() as connection:  # the attempt is committed, and nothing else is
                assert job_row.state_of(connection, job_id) == State.SUBMITTING

    return submitted


@pytest.mark.parametrize("lost", [0, 1, 2])
def test_an_answer_is_accepted_also_of_a_repeat(send, lost):
    answer, triage = object(), Alone()
    assert send(*[LOST] * lost, answer, triage=triage) == Accepted(answer)
    assert triage.accepted == 1


def test_a_request_that_is_never_answered_is_unconfirmed(send):
    assert send(LOST, LOST, LOST) == Unconfirmed(LOST)


@pytest.mark.parametrize(("error", "raised"), NOTHING_DONE)
def test_what_the_platform_did_not_take_is_given_back(send, error, raised):
    found = send(error)
    assert isinstance(found, GiveBack)
    assert found.why == str(error)
    assert type(found.error) is raised


def test_the_wait_that_the_platform_names_is_kept(send):
    assert send(ThrottledError("too many", retry_after_s=7.0)).error.after_s == 7.0


@pytest.mark.parametrize(("error", "raised"), NOTHING_DONE)
def test_nothing_is_given_back_once_a_request_may_have_left(send, error, raised):
    found = send(LOST, error)
    assert isinstance(found, Unconfirmed)
    assert type(found.error) is raised


@pytest.mark.parametrize(("error", "kind"), NOT_ACCEPTED)
def test_a_request_that_is_not_accepted_says_whether_an_earlier_one_left(send, error, kind):
    assert send(error) == kind(error, None)


@pytest.mark.parametrize(("error", "kind"), NOT_ACCEPTED)
def test_an_earlier_request_stays_unknown_when_its_repeat_is_not_accepted(send, error, kind):
    found = send(LOST, error)
    assert isinstance(found, kind)
    assert found.earlier == f"an earlier request was never answered, and then: {error}"


def test_a_vendor_that_alone_is_forbidden_is_given_up(send):
    forbidden = CredentialsError("not yours", status=403)
    assert send(forbidden, triage=Alone()) == GiveUp(forbidden, None)


def test_a_request_about_several_vendors_is_never_forbidden_to_one(send):
    found = send(CredentialsError("not yours", status=403), vendor=None, triage=Alone())
    assert isinstance(found, GiveBack)
    assert isinstance(found.error, ConfigurationError)


def test_a_vendor_that_is_not_found_is_told_with_what_to_do(send):
    found = send(NotFoundError("no such vendor"))
    assert "shelfsync forget store-001" in str(found.error)


def test_an_error_of_the_program_is_no_answer(send):
    with pytest.raises(ZeroDivisionError):
        send(ZeroDivisionError())
