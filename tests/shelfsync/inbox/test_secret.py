"""Who is let in."""

from __future__ import annotations

import statistics
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from shelfsync.inbox.secret import Secrets

BASIC = "Basic dXNlcjpwYXNzd29yZA=="


@given(secret=st.text(min_size=1).filter(lambda text: text.strip()), guess=st.binary())
def test_only_the_secret_itself_is_let_in(secret, guess):
    right = secret.strip().encode("utf-8", "surrogatepass")
    try:
        secrets = Secrets(SecretStr(secret))
    except UnicodeEncodeError:
        return
    assert secrets.admit([right])
    assert secrets.admit([guess]) is (guess == right)


@pytest.mark.parametrize(
    "presented",
    [
        [],
        [b""],
        [b"basic dXNlcjpwYXNzd29yZA=="],
        [b"Basic dxnlcjpwyxnzd29yza=="],
        [b"dXNlcjpwYXNzd29yZA=="],
        [b"user:password"],
        [b"Bearer Basic dXNlcjpwYXNzd29yZA=="],
        [b"Basic dXNlcjpwYXNzd29yZA==, other"],
        [BASIC.encode(), BASIC.encode()],
        [BASIC.encode(), b"other"],
        [b"other", BASIC.encode()],
    ],
)
def test_a_basic_value_is_compared_as_it_stands(presented):
    secrets = Secrets(SecretStr(BASIC))
    assert secrets.admit([BASIC.encode()])
    assert not secrets.admit(presented)


@pytest.mark.parametrize("configured", [[], [None], [SecretStr("")], [SecretStr("  \n")], [None, SecretStr("")]])
def test_without_a_secret_nobody_is_let_in(configured):
    secrets = Secrets(*configured)
    assert not secrets
    assert not any(secrets.admit(presented) for presented in ([], [b""], [b" "], [b"anything"], [b"None"]))


def test_both_secrets_hold_while_one_is_being_changed():
    secrets = Secrets(SecretStr("new"), SecretStr("old"))
    assert secrets.admit([b"new"])
    assert secrets.admit([b"old"])
    assert not secrets.admit([b"newold"])
    assert Secrets(None, SecretStr("old")).admit([b"old"])


def test_a_line_end_in_a_secret_file_does_not_matter():
    assert Secrets(SecretStr("s3cret\n")).admit([b"s3cret"])


def test_a_secret_does_not_show():
    assert "s3cret" not in repr(vars(Secrets(SecretStr("s3cret"))))


def test_time_tells_nothing_of_how_much_was_guessed_right():
    """Medians of the two guesses, taken alternately; a comparison that stops at the first difference is several times off."""
    secret = "s" * 100_000
    secrets = Secrets(SecretStr(secret))
    wrong_first = b"x" + secret[1:].encode()
    wrong_last = secret[:-1].encode() + b"x"
    took = {wrong_first: [], wrong_last: []}
    for _ in range(400):
        for guess, times in took.items():
            began = time.perf_counter_ns()
            secrets.admit([guess])
            times.append(time.perf_counter_ns() - began)
    first, last = (statistics.median(times) for times in took.values())
    assert 0.7 < first / last < 1.4
