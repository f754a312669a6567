"""One tree of errors, cut by what has to happen next: fix the configuration, fix the data, try again, or stop.

Every message is one line: what happened, where, why, and what to do. Nothing secret ever goes into one.
"""

from __future__ import annotations


class ShelfsyncError(Exception):
    """Something that shelfsync itself has to say to a person.

    `exit_code` is what the command line ends with, so that a script can tell the kinds apart.
    """

    exit_code = 1


class ConfigurationError(ShelfsyncError):
    """A setting is missing or wrong; trying again without changing it is pointless.

    `setting` is the name of the environment variable or the connection, exactly as a person would write it.
    """

    exit_code = 3

    def __init__(self, setting: str, problem: str, remedy: str) -> None:
        super().__init__(f"{setting}: {problem}. {remedy}")
        self.setting = setting
        self.problem = problem
        self.remedy = remedy


class DataError(ShelfsyncError):
    """What the ERP or the platform gave cannot be used as it is; a person has to look at the data."""

    exit_code = 4


class IncompleteExtractError(DataError):
    """The extract is not proven to be the whole of what the ERP holds: nothing may be concluded from what is absent."""


class NothingSyncedError(DataError):
    """No vendor has ever been in an extract, so there is nothing to do yet."""


class TryAgainError(ShelfsyncError):
    """It did not work this time and may the next; `after_s` is the least wait in seconds."""

    exit_code = 5

    def __init__(self, message: str, *, after_s: float = 0.0) -> None:
        super().__init__(message)
        self.after_s = after_s


class StaleRunError(ShelfsyncError):
    """A newer run has already gone past this one: it must send nothing, and need not."""

    exit_code = 6


class StoppedError(ShelfsyncError):
    """A person has paused sending; nothing changes on the platform until a person lets it go on."""

    exit_code = 7


class PlanMovedError(ShelfsyncError):
    """A plan is no longer what would be sent: ERP, baseline or configuration have moved since."""

    exit_code = 8


class ReadOnlyError(ShelfsyncError):
    """Something tried to change the platform in a process that was opened to plan."""


class PartlyFailedError(ShelfsyncError):
    """Some vendors did not make it; the others did, and their work stands."""

    exit_code = 2


class PassedOverError(ShelfsyncError):
    """Some vendors were passed over, because an earlier run is still at work with them; the next run sends what changed."""

    exit_code = 9
