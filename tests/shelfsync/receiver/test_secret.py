"""The secrets of the receiver."""

from __future__ import annotations

import hmac
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from shelfsync.receiver.secret import Secrets, StoreSecrets

BASIC = "Basic dXNlcjpwYXNzd29yZA=="


@given(secret=st.text(min_size=1).filter(lambda text: text.strip()), guess=st.binary())
def test_only_the_secret_itself_is_accepted(secret, guess):
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
def test_a_basic_value_is_compared_verbatim(presented):
    secrets = Secrets(SecretStr(BASIC))
    assert secrets.admit([BASIC.encode()])
    assert not secrets.admit(presented)


@pytest.mark.parametrize("configured", [[], [None], [SecretStr("")], [SecretStr("  \n")], [None, SecretStr("")]])
def test_without_a_secret_no_call_is_accepted(configured):
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


def _calls(work):
    """The functions that it calls, in order, those of C too."""
    called = []
    sys.setprofile(lambda frame, event, about: called.append(about.__name__) if event == "c_call" else None)
    try:
        work()
    finally:
        sys.setprofile(None)
    return called[:-1]  # the last is setprofile itself


@pytest.mark.parametrize("guess", [b"x2345", b"1234x", b"12345", b"y2345", b"1", b""])
def test_a_guess_is_compared_with_every_secret_in_constant_time_however_right_it_is(guess):
    """The test compares the calls: a measured time would depend on the machine."""
    secrets = Secrets(SecretStr("12345"), SecretStr("y2345"))
    calls = _calls(lambda: secrets.admit([guess]))
    assert calls == _calls(lambda: secrets.admit([b"wrong"]))
    assert calls.count(hmac.compare_digest.__name__) == 2


@given(st.text(min_size=1), st.text(min_size=1))
def test_a_stores_secret_names_that_store_alone(one, other):
    secrets = StoreSecrets(SecretStr("a key of this chain"))
    mine = secrets.of(one).encode("ascii")
    assert secrets.vendor([mine]) == one
    bent = secrets.of(other).rpartition(".")[0].encode("ascii") + b"." + mine.rpartition(b".")[2]
    assert secrets.vendor([bent]) == (one if one == other else None)
    assert StoreSecrets(SecretStr("another key of it")).vendor([mine]) is None
    assert secrets.vendor([mine, mine]) is None
    assert StoreSecrets(None).vendor([mine]) is None
