"""One tree of errors, cut by what has to happen next: fix the configuration, fix the data, try again, or stop.

Every message is one line: what happened, where, why, and what to do. None holds a secret of the settings, whoever wrote its text.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from shelfsync.chain_names_in_text import own_names
from shelfsync.chosen_chain import chain_in_use
from shelfsync.exit_codes import ExitCode
from shelfsync.secret_mask import mask

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def without_stop(text: object, characters_max: int = 1000) -> str:
    """Another program's message in one line, without its full stop: it stands inside a sentence of shelfsync."""
    return " ".join(mask(str(text)).split())[:characters_max].rstrip(".")


def in_one_line(error: BaseException) -> str:
    """The message of an error of shelfsync; of any other its kind too. A database and a terminal can hold it."""
    text = without_stop(error) if not isinstance(error, ShelfsyncError) else " ".join(str(error).split())
    text = "".join(letter if letter.isprintable() else "\ufffd" for letter in text)
    return text if isinstance(error, ShelfsyncError) else f"{type(error).__name__}: {text}"


def some_of(names: Iterable[str], most: int = 5) -> str:
    """The first of some names for a sentence, and a sign that there are more."""
    found = list(names)
    return ", ".join(found[:most]) + (", …" if len(found) > most else "")


ABSENT_PAGE = "docs/how-to/connecting-your-erp.md#a-product-is-absent-and-stays-on-sale"
"""Why a SKU that left the extract stays on sale, and what to do."""


RUNBOOKS = "docs/how-to/runbooks/"
"""Where the runbooks are, in the project."""


class Alarm(StrEnum):
    """What reports itself: an alarm or a stall. Its page is one screen: what to do, and when it is over. The report names the page."""

    NOT_TAKEN = "orders-not-taken"
    MISSED = "orders-missed"
    OVERDUE = "orders-overdue"
    NOT_SENT = "results-not-sent"
    UNREADABLE = "result-rejected"
    QUARANTINED = "poisoned-event"
    HISTORY = "order-history-behind"
    PASSED_OVER = "vendor-passed-over"
    VENDOR_FAILED = "vendor-failed"
    UNUSABLE_ROWS = "rows-without-a-vendor"
    CHANGES_MISSED = "changes-missed"
    HELD = "changes-held"
    PAUSED = "sending-paused"
    POLLED = "no-webhook"
    UNACCOUNTED = "unaccounted-skus"
    CALLS_REJECTED = "calls-rejected"

    @property
    def page(self) -> str:
        """Where its page is, in the project."""
        return f"{RUNBOOKS}{self.value}.md"

    def line(self, message: str) -> str:
        """The message with its page at the end."""
        return f"{message.rstrip('.')}. Runbook: {self.page}"


class ShelfsyncError(Exception):
    """An error with a message for the operator.

    The command line exits with `exit_code`, so that a script can distinguish the kinds. Its text names what is the own of the `chain` for
    which it was made.
    """

    exit_code: int = ExitCode.FAILURE

    def __init__(self, *args: object) -> None:
        super().__init__(*(mask(one) if isinstance(one, str) else one for one in args))
        self.chain = chain_in_use()

    def __str__(self) -> str:
        return own_names(super().__str__(), self.chain)

    def reword(self, word: Callable[[str], str]) -> None:
        """Puts another text in place of each of its own."""
        self.args = tuple(word(one) if isinstance(one, str) else one for one in self.args)

    @property
    def page(self) -> str:
        """Where the reference explains it: the place of the function that raised it, or that of its class if no function did."""
        place, trace = type(self).__name__.lower(), self.__traceback__
        while trace is not None:
            module = str(trace.tb_frame.f_globals.get("__name__"))
            if module.startswith("shelfsync."):
                place = f"{module.removeprefix('shelfsync.')}.{trace.tb_frame.f_code.co_name}"
            trace = trace.tb_next
        return f"docs/reference/errors.md#{place}"


class ConfigurationError(ShelfsyncError):
    """A setting is missing or wrong; trying again without changing it is pointless.

    `setting` is the name of the environment variable or the connection, exactly as a person would write it.
    """

    exit_code = ExitCode.CONFIGURATION

    def __init__(self, setting: str, problem: str, remedy: str) -> None:
        self.setting = setting
        self.problem = mask(" ".join(problem.splitlines())).rstrip(".")
        end = "" if self.problem.endswith(("?", "!")) else "."
        super().__init__(f"{setting}: {self.problem}{end} {remedy}")
        self.remedy = mask(remedy)

    def reword(self, word: Callable[[str], str]) -> None:
        super().reword(word)
        self.setting, self.problem, self.remedy = word(self.setting), word(self.problem), word(self.remedy)


class UnreachableError(ConfigurationError):
    """A service does not answer: it is away for now, or its address is wrong. A schedule tries again; a person reads the setting."""

    exit_code = ExitCode.TRY_AGAIN


class DataError(ShelfsyncError):
    """What the ERP or the platform gave cannot be used as it is; a person has to look at the data."""

    exit_code = ExitCode.DATA


class IncompleteExtractError(DataError):
    """The extract is not proven to be the whole of what the ERP holds: nothing may be concluded from what is absent."""


class BrokenOffError(IncompleteExtractError):
    """A reading of the ERP broke off: the connection was lost, or no answer came in time. Nothing is sent of it."""

    exit_code = ExitCode.TRY_AGAIN


class EmptyFileError(IncompleteExtractError):
    """A file of the ERP has its columns and no row."""


class NothingSyncedError(DataError):
    """No vendor has ever been in an extract, so there is nothing to do yet."""


class TryAgainError(ShelfsyncError):
    """It did not work this time and may the next; `after_s` is the least wait in seconds."""

    exit_code = ExitCode.TRY_AGAIN

    def __init__(self, message: str, *, after_s: float = 0.0) -> None:
        super().__init__(message)
        self.after_s = after_s


class MovedError(TryAgainError):
    """Other processes moved a state each time that this one had computed its next one."""


class StaleRunError(ShelfsyncError):
    """A newer run has superseded this one, so it must send nothing."""

    exit_code = ExitCode.SUPERSEDED


class StoppedError(ShelfsyncError):
    """A person has paused sending; nothing changes on the platform until a person lets it go on."""

    exit_code = ExitCode.PAUSED


class PlanMovedError(ShelfsyncError):
    """A plan is no longer what would be sent: ERP, baseline or configuration have moved since."""

    exit_code = ExitCode.PLAN_MOVED


class ReadOnlyError(ShelfsyncError):
    """Something tried to change the platform in a process that was opened to plan."""


class RunFailedError(ShelfsyncError):
    """A run that did its work for no vendor."""


class PartlyFailedError(ShelfsyncError):
    """Some vendors failed; the others succeeded, and their work is kept."""

    exit_code = ExitCode.PARTLY


class HeldError(ShelfsyncError):
    """Everything else was done. What a guard holds waits for a person: a hold is open, or it expired without a decision."""

    exit_code = ExitCode.HELD


class PassedOverError(ShelfsyncError):
    """Some vendors were passed over, because an earlier run is still at work with them; the next run sends what changed."""

    exit_code = ExitCode.PARTLY
