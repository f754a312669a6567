"""Which exit code a command ends with, what each means, and what to do next."""

from __future__ import annotations

from enum import IntEnum
from typing import Self


class ExitCode(IntEnum):
    """How a command ends: the number for a script, what it means, and what to do next. `shelfsync --help` and docs/reference/cli.md show this table."""

    meaning: str
    remedy: str

    SUCCESS = 0, "everything was done", ""
    FAILURE = 1, "nothing was done, or it broke off", "Read the message, then run the same command again."
    USAGE = 2, "the command line is wrong", "Add --help to the command."
    CONFIGURATION = (
        3,
        "a setting is missing or wrong",
        "Correct the setting; `shelfsync config show` shows all of them.",
    )
    DATA = 4, "the data or the request cannot be used", "Correct what the message names."
    TRY_AGAIN = (
        5,
        "a system does not answer, or not in time",
        "Run the same command again later; if it repeats, see what the message names.",
    )
    SUPERSEDED = 6, "a newer run has superseded this one", "Do nothing: the newer run sends what is wanted."
    PAUSED = 7, "a person has paused sending", "Run `shelfsync resume` when sending may go on."
    PLAN_MOVED = 8, "the plan is no longer what would be sent", "Make a new plan: `shelfsync plan --out FILE`."
    PARTLY = (
        9,
        "a part was done: some failed (partly_failed) or were passed over (partly)",
        "Run `shelfsync runs show RUN`; it names the next command.",
    )
    HELD = (
        10,
        "done, and held changes wait for a person",
        "Run `shelfsync holds list`.",
    )
    INTERRUPTED = 130, "interrupted by Ctrl-C", "Run `shelfsync recover`."

    def __new__(cls, value: int, meaning: str, remedy: str) -> Self:
        code = int.__new__(cls, value)
        code._value_ = value
        code.meaning = meaning
        code.remedy = remedy
        return code

    @classmethod
    def of(cls, number: int) -> Self:
        """The code of this number; any other number is a failure."""
        return next((code for code in cls if code == number), cls.FAILURE)
