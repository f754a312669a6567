"""The exits of a task's texts: log records, standard streams, and the error with which it ends.

Airflow masks a secret where it stands whole. A driver may cut it, or write a part of it. shelfsync's own masking hides each part, so it
stands before Airflow's, in the process of the task.
"""

from __future__ import annotations

import logging
import traceback
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from airflow.sdk.exceptions import AirflowException

from shelfsync.errors import ShelfsyncError, in_one_line
from shelfsync.secret_mask import mask, mask_streams

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

log = logging.getLogger(__name__)


def mask_exits() -> None:
    """Masks each log record of this process, whichever library makes it, each warning, and what is printed. Again: no effect."""
    make = logging.getLogRecordFactory()
    if not isinstance(make, _MaskedRecords):
        logging.setLogRecordFactory(_MaskedRecords(make))
    if not isinstance(warnings.showwarning, _MaskedWarnings):
        warnings.showwarning = _MaskedWarnings(warnings.showwarning)
    mask_streams()


@contextmanager
def masked_errors() -> Iterator[None]:
    """Puts an error without a secret in the place of one that has a part of it, in its text or in that of a cause. The log has its traceback.

    Errors of shelfsync and Airflow keep their kind, which says what happens next; they lose their causes alone.
    """
    try:
        yield
    except Exception as error:
        text = _traceback(error)
        if mask(text) == text:
            raise
        if isinstance(error, ShelfsyncError | AirflowException):
            raise error.with_traceback(None) from None
        log.error("%s", mask(text))  # noqa: TRY400  the traceback as it is would have the secret
        raise AirflowException(in_one_line(error)) from None


class _MaskedRecords:
    """Makes log records without secrets."""

    def __init__(self, make: Callable[..., logging.LogRecord]) -> None:
        self._make = make

    def __call__(self, *args: Any, **more: Any) -> logging.LogRecord:
        record = self._make(*args, **more)
        try:
            text = record.getMessage()
        except Exception:  # noqa: BLE001  a library's wrong arguments, which logging reports on the masked stream
            return record
        if record.exc_info and record.exc_info[1] is not None:
            cause = _traceback(record.exc_info[1])
            if mask(cause) != cause:
                record.exc_info = None
                record.msg, record.args = mask(f"{text}\n{cause}".rstrip()), ()
                return record
        if (shown := mask(text)) != text:
            record.msg, record.args = shown, ()
        return record


class _MaskedWarnings:
    """Shows warnings without secrets: Airflow writes them into the task's log, past Python's logging."""

    def __init__(self, show: Callable[..., None]) -> None:
        self._show = show

    def __call__(self, message: Warning | str, *where: Any, **more: Any) -> None:
        text = str(message)
        self._show(message if mask(text) == text else UserWarning(mask(text)), *where, **more)


def _traceback(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))
