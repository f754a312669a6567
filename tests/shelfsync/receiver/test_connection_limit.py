"""Which connection gives way at the limit, whatever callers do."""

from __future__ import annotations

import itertools

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from shelfsync.receiver.connection_limit import ConnectionLimit

MOST, PER_ADDRESS = 6, 3


class Caller:
    """A connection and what it has done."""

    def __init__(self, limit: ConnectionLimit, host: str) -> None:
        self.limit, self.host = limit, host
        self.has_secret = self.is_idle = self.is_closed = False

    @property
    def is_at_work(self) -> bool:
        return self.has_secret and not self.is_idle

    def abort(self) -> None:
        assert not self.is_closed
        self.is_closed = True


class Limit(RuleBasedStateMachine):
    """Callers of three addresses open connections, send the secret, receive answers, send again and leave."""

    def __init__(self) -> None:
        super().__init__()
        self.limit = ConnectionLimit(MOST, PER_ADDRESS)
        self.held: list[Caller] = []

    @rule(host=st.sampled_from(["10.0.0.1", "10.0.0.2", "2001:db8::1"]))
    def connect(self, host: str) -> None:
        """If one gives way, it is a stranger, or, without a stranger, the caller that has been idle for longest."""
        caller = Caller(self.limit, host)
        same = [one for one in self.held if one.host == host]
        crowd = same if len(same) >= PER_ADDRESS else self.held if len(self.held) >= MOST else None
        admitted = self.limit.admit(caller, host)
        closed = [one for one in self.held if one.is_closed]
        self.held = [one for one in self.held if not one.is_closed]
        if crowd is None:
            assert (admitted, closed) == (True, [])
        else:
            assert admitted is any(not one.is_at_work for one in crowd)
            strangers = [one for one in crowd if not one.has_secret]
            assert closed == (strangers or sorted((one for one in crowd if one.is_idle), key=lambda one: one.since))[:1]
        if admitted:
            self.held.append(caller)

    @rule(data=st.data())
    def act(self, data: st.DataObject) -> None:
        if not self.held:
            return
        caller = data.draw(st.sampled_from(self.held))
        if not caller.has_secret:
            caller.has_secret = True
        elif caller.is_idle:
            caller.is_idle = False
            self.limit.at_work(caller)
        else:
            caller.is_idle, caller.since = True, next(_numbers)
            self.limit.answered(caller)

    @rule(data=st.data())
    def leave(self, data: st.DataObject) -> None:
        if self.held:
            caller = data.draw(st.sampled_from(self.held))
            self.held.remove(caller)
            self.limit.release(caller)
            self.limit.release(caller)

    @invariant()
    def no_more_than_allowed(self) -> None:
        assert len(self.held) <= MOST
        assert len(self.limit._held) == len(self.held)

    def teardown(self) -> None:
        for caller in self.held:
            self.limit.release(caller)
        assert not self.limit._count
        assert not self.limit._yielding_of


_numbers = itertools.count()
TestLimit = Limit.TestCase
TestLimit.settings = settings(max_examples=60, stateful_step_count=40)
