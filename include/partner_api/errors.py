"""What can go wrong between us and the platform, cut by what has to happen next.

Every message is one line: which operation, what happened, what to do. A message never holds a secret, a link's signature or what
belongs to a customer; `body_excerpt` has been through the same sieve (`excerpts.py`).
"""

from __future__ import annotations


class PartnerError(Exception):
    """Base of all. The facts are attributes, so that nobody has to read them out of the text.

    `operation`: the client's name of the call; `status`: HTTP status or None when there was no answer; `request_id`: the platform's,
    else ours; `code`: the platform's own error code; `retry_after_s`: the least wait in seconds, where the platform named one.
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

    def __str__(self) -> str:
        facts = [f"status {self.status}"] if self.status is not None else []
        facts += [f"request {self.request_id}"] if self.request_id else []
        line = f"{self.operation}: {self.message}" if self.operation else self.message
        line += f" ({', '.join(facts)})" if facts else ""
        line += f": {self.body_excerpt!r}" if self.body_excerpt else ""
        return f"{line}. {self.remedy}"


class MisconfiguredError(PartnerError):
    """A setting is wrong: trying again without changing it is pointless."""

    remedy = "Correct the settings of the platform."


class CredentialsError(MisconfiguredError):
    """The platform does not accept who we are, or not for this chain or vendor (interface.md 5, 7)."""

    remedy = "Check client id and secret (or the static token), and that they belong to this chain."


class NotEnabledError(MisconfiguredError):
    """The platform knows the call and does not offer it to this account."""

    remedy = "Ask the account manager to enable it for this chain and vendor."


class NotFoundError(PartnerError):
    """There is no such chain, vendor, job, order or path."""

    remedy = "Check chain and vendor, and the paths of the dialect."


class InvalidRequestError(PartnerError):
    """The platform refuses what is in the request (interface.md 7): sending the same again is pointless."""

    remedy = "Correct the data; one bad item refuses the whole request, so halve it to find the item."


class ThrottledError(PartnerError):
    """Too many requests (interface.md 8); nothing was done. `retry_after_s` says when, if the platform did."""

    remedy = "Wait, with every process that shares the allowance, then send it again."


class BlockedError(ThrottledError):
    """The edge in front of the platform answers instead of it, for this whole address; nothing was done."""

    remedy = "Send nothing for a while; if it stays, ask the account manager whether this address is blocked."


class UnavailableError(PartnerError):
    """The platform could not be reached or could not answer, and nothing can have changed by it."""

    remedy = "Try again later; nothing was changed."


class AmbiguousError(PartnerError):
    """The platform may have received and done it, and its answer is lost or makes no sense."""

    remedy = "Find out by job, log, read-back or an identical resend; count it neither as done nor as not done."


class UnexpectedAnswerError(PartnerError):
    """The answer is not what the interface promises, and nothing depends on it."""

    remedy = "Check base address and dialect; the excerpt shows what came."


class DownloadError(PartnerError):
    """A log or export could not be fetched; what was written to the file so far must be thrown away."""


class DownloadRefusedError(DownloadError):
    """The link leads where we do not go. Nothing was sent there. Somebody should look at where the link came from."""

    remedy = "If the host is the platform's, name it in the allowed download hosts; otherwise treat it as an attack."


class LinkExpiredError(DownloadError):
    """The link is dead."""

    remedy = "Ask the job for a new link, or read the assortment back."


class DownloadTooLargeError(DownloadError):
    """More bytes, or a greater expansion, than a log or export can have."""

    remedy = "Raise the download limits if the file is genuine."


class DownloadBrokenError(DownloadError):
    """The file came damaged, empty, shorter than announced, too slowly, or without a provable end."""

    remedy = "Throw the partial file away and fetch it again."
