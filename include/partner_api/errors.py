"""The errors of a call to the platform, one class for each next action.

Every message is one line: which operation, what happened, what to do. A message never holds a secret, a link's signature or personal
data of a customer; `answers.py` removes them from `body_excerpt` too.
"""

from __future__ import annotations


class PartnerError(Exception):
    """Base class. The details are attributes, so that a caller need not parse the text.

    `operation`: the client's name of the call. `status`: HTTP status, None without an answer. `request_id`: the platform's, else the
    client's. `code`: the platform's own error code. `retry_after_s`: the least wait in seconds, if the platform named one.
    """

    remedy = "Look at the answer and at the platform's documentation."

    def __init__(
        self,
        message: str,
        *,
        operation: str | None = None,
        status: int | None = None,
        request_id: str | None = None,
        code: str | None = None,
        body_excerpt: str | None = None,
        retry_after_s: float | None = None,
        remedy: str | None = None,
    ) -> None:
        self.message = message
        self.operation = operation
        self.status = status
        self.request_id = request_id
        self.code = code
        self.body_excerpt = body_excerpt
        self.retry_after_s = retry_after_s
        if remedy is not None:
            self.remedy = remedy
        super().__init__(message)

    @property
    def fact(self) -> str:
        """What happened, without the remedy and without a full stop: for a message that has a better remedy."""
        facts = [f"status {self.status}"] if self.status is not None else []
        facts += [f"request {self.request_id}"] if self.request_id else []
        line = f"{self.operation}: {self.message}" if self.operation else self.message
        line += f" ({', '.join(facts)})" if facts else ""
        return line + (f": {self.body_excerpt!r}" if self.body_excerpt else "")

    def __str__(self) -> str:
        return f"{self.fact}. {self.remedy.rstrip('.')}."


class MisconfiguredError(PartnerError):
    """A setting is wrong: a retry without a change fails again."""

    remedy = "Correct the settings of the platform."


class CredentialsError(MisconfiguredError):
    """The platform rejects the credentials, or rejects them for this chain or vendor (interface.md 5, 7)."""

    remedy = "Check client id and secret (or the static token), and that they belong to this chain."


class NotEnabledError(MisconfiguredError):
    """The platform knows the call and does not offer it to this account."""

    remedy = "Ask the account manager to enable it for this chain and vendor."


class NotFoundError(PartnerError):
    """There is no such chain, vendor, job, order or path."""

    remedy = "Check chain and vendor, and the paths of the dialect."


class InvalidRequestError(PartnerError):
    """The platform rejects the content of the request (interface.md 7): the same request fails again."""

    remedy = "Correct the data. The platform rejects the whole request for one bad item: send it in two halves to find the item."


class ThrottledError(PartnerError):
    """Too many requests (interface.md 8); the platform did nothing. `retry_after_s`: the wait in seconds, if the platform named one."""

    remedy = "Wait, with every process that shares the allowance, then send it again."


class BlockedError(ThrottledError):
    """The edge in front of the platform blocks this whole address; the platform did nothing."""

    remedy = "Send nothing for a while; if it stays, ask the account manager whether this address is blocked."


class UnavailableError(PartnerError):
    """The platform is unreachable or cannot answer, and the call changed nothing."""

    remedy = "Try again later; nothing was changed."


class AmbiguousError(PartnerError):
    """The platform may have carried out the request; its answer is lost or unreadable."""

    remedy = "Find out by job, log, read-back or an identical resend; count it neither as done nor as not done."


class UnexpectedAnswerError(PartnerError):
    """The answer does not follow the interface, and the call changed nothing."""

    remedy = "Check base address and dialect; the excerpt shows what came."


class DownloadError(PartnerError):
    """The download of a log or export failed; the caller discards what is in the file so far."""


class LinkNotAllowedError(DownloadError):
    """The link leads to an address that is not allowed. The client sent nothing there. Find out where the link came from."""

    remedy = "If the host is the platform's, name it in the allowed download hosts; otherwise treat it as an attack."


class LinkExpiredError(DownloadError):
    """The storage host no longer serves the link."""

    remedy = "Ask the job for a new link, or read the assortment back."


class DownloadTooLargeError(DownloadError):
    """More bytes, or a greater expansion, than a log or export can have."""

    remedy = "Raise the download limits if the file is genuine."


class DownloadBrokenError(DownloadError):
    """The file came damaged, empty, shorter than announced, too slowly, or without a provable end."""

    remedy = "Discard the partial file and download it again."


class DownloadEmptyError(DownloadBrokenError):
    """The host answered with a whole file of no bytes. The platform has written nothing."""


class DownloadSlowError(DownloadBrokenError):
    """The host sent fewer bytes a second than the client waits for, or took longer than a file of this size may take."""

    remedy = "See why the host of the file is that slow; if the connection is, lower the least speed of a download."
